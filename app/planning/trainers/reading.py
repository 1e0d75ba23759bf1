"""Takes values out of a trainer's file, and keeps what they were used for."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.errors import InvalidInput
from app.i18n import Message
from app.planning.trainers.model_names import find_model_id
from app.planning.trainers.result import TrainerRecipe

LONGEST_SHOWN = 100

# Environment variables of a script that change neither memory nor time.
SILENT_VARIABLES = tuple(
    """
    ACCELERATE_LOG CUDA_DEVICE_ORDER FORCE_TORCHRUN HF_ HUGGING LOGLEVEL MASTER_ MODELSCOPE_ NCCL_
    NODE_RANK OMP_ PYTHON RANK SWANLAB_ TOKENIZERS_ TRANSFORMERS_ USE_HF USE_MODELSCOPE WANDB_
    """.split()
)

# Switches that would matter if they were on.
SWITCHES = frozenset(
    """
    fp16_full_eval bf16_full_eval freeze_vit freeze_llm group_by_length load_in_8bit lora_mlp_kernel lora_o_kernel
    lora_qkv_kernel padding_free pissa_init shift_attn streaming tf32 torch_compile use_badam use_dora use_galore
    use_unsloth use_unsloth_gc peft_use_dora peft_use_rslora relora flash_attn_fuse_qkv flash_attn_fuse_mlp gptq
    """.split()
)

_TEMPLATE = re.compile(r"\$\{|\$\(|\$[A-Za-z_]|\{\{|`")
_TRUE = frozenset(("true", "yes", "on", "1"))
_FALSE = frozenset(("false", "no", "off", "0", "none"))


@dataclass(slots=True)
class Reading:
    """One trainer's view of a file. Whoever asks for a key has understood it, unless it is put among the unknown."""

    values: Mapping[str, Any]
    script: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    defaults: list[tuple[str, Any]] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    model_name: str | None = None
    model_id: str | None = None

    def find(self, *keys: str) -> tuple[str, Any] | None:
        """The first of these keys that has a value."""
        self.used.update(keys)
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, str) and _TEMPLATE.search(value):
                self.refuse(key, Message("%(key)s is filled in elsewhere; its value is not known.", key=key))
            elif value is not None and value != "":
                return key, value
        return None

    def flag(self, *keys: str) -> bool | None:
        """True or false, in any of the ways that trainers accept."""
        found = self.find(*keys)
        if found is None:
            return None
        text = str(found[1]).lower()
        if text not in _TRUE | _FALSE:
            raise wrong(found[0], Message("This must be true or false."))
        return text in _TRUE

    def whole(self, *keys: str, low: int = 1, high: int) -> int | None:
        """A whole number within its bounds."""
        number = self.number(*keys, low=low, high=high)
        if number is not None and not number.is_integer():
            raise wrong(self._named(keys), Message("This must be a whole number."))
        return None if number is None else int(number)

    def number(self, *keys: str, low: float = 0, high: float) -> float | None:
        """A number within its bounds; text is read too: YAML leaves ``2e-4`` as text."""
        found = self.find(*keys)
        if found is None:
            return None
        key, number = found[0], _number(found[1])
        if number is None:
            raise wrong(key, Message("This must be a number."))
        if number < low:
            raise wrong(key, Message("This must be at least %(ge)s.", ge=low))
        if number > high:
            raise wrong(key, Message("This must be at most %(le)s.", le=high))
        return number

    def word(self, *keys: str) -> str | None:
        """A short text."""
        found = self.find(*keys)
        if found is None:
            return None
        if not isinstance(found[1], str | int | float):
            raise wrong(found[0], Message("This must be text."))
        return str(found[1]).strip()[:1000]

    def words(self, *keys: str) -> list[str] | None:
        """A list, or a text with commas or spaces between the words."""
        found = self.find(*keys)
        if found is None:
            return None
        key, value = found
        parts = value if isinstance(value, list) else str(value).strip("[] ").replace(",", " ").split()
        if not all(isinstance(part, str | int | float) for part in parts) or isinstance(value, bool):
            raise wrong(key, Message("This must be a list of words."))
        return [str(part).strip()[:LONGEST_SHOWN] for part in parts[:100] if str(part).strip()]

    def choose(self, words: Mapping[str, str], *keys: str) -> str | None:
        """Our word for the trainer's; one that we have none for is noted."""
        word = self.word(*keys)
        if word is None:
            return None
        ours = words.get(word.lower().removeprefix("torch."))
        if ours is None:
            self.refuse(self._named(keys))
        return ours

    def put(self, name: str, value: Any) -> None:
        """Sets a field, ``lora.rank`` inside of ``lora``; None sets nothing."""
        if value is None:
            return
        outer, dot, inner = name.partition(".")
        if dot:
            self.fields.setdefault(outer, {})[inner] = value
        else:
            self.fields[name] = value

    def put_or_default(self, name: str, value: Any, default: Any) -> None:
        """Sets a field, to what the trainer takes by itself where the file has nothing."""
        if value is None and default is not None:
            self.defaults.append((name, default))
        self.put(name, default if value is None else value)

    def refuse(self, key: str, note: Message | None = None) -> None:
        """A key that cannot be used, and why."""
        if key in self.unknown:
            return
        shown = str(self.values.get(key, ""))[:LONGEST_SHOWN]
        self.unknown.append(key)
        self.notes.append(note or Message("%(key)s: %(value)s cannot be planned here.", key=key, value=shown))

    def read_model(self, *keys: str) -> None:
        """The model, by the catalogue's id where the catalogue knows it."""
        self.model_name = self.word(*keys)
        if self.model_name is None:
            return
        self.model_id = find_model_id(self.model_name)
        self.put("model", self.model_id)
        if self.model_id is None:
            shown = self.model_name[:LONGEST_SHOWN]
            self.notes.append(Message("The catalogue does not know the model %(name)s.", name=shown))

    def _is_off(self, key: str) -> bool:
        return key in SWITCHES and str(self.values[key]).lower() in _FALSE

    def _named(self, keys: Sequence[str]) -> str:
        return next((key for key in keys if self.values.get(key) not in (None, "")), keys[0])

    def understood(self, ignored: frozenset[str]) -> int:
        """How many of the file's keys mean something to the trainer."""
        known = self.used - set(self.unknown)
        return sum(key in known or is_ignored(key, ignored) for key in self.values)

    def recipe(self, trainer: str, ignored: frozenset[str]) -> TrainerRecipe:
        """What was read, with what is left over."""
        left = [key for key in self.values if key not in self.used]
        without_effect = tuple(key for key in left if is_ignored(key, ignored) or self._is_off(key))
        unknown = dict.fromkeys([*self.unknown, *(key for key in left if key not in without_effect)])
        return TrainerRecipe(
            trainer=trainer,
            fields=self.fields,
            unknown=tuple(unknown),
            ignored=without_effect,
            model_name=self.model_name,
            notes=tuple(self.notes),
            defaults=tuple(self.defaults),
        )


def is_ignored(key: str, ignored: frozenset[str]) -> bool:
    """A part of a key that has no effect has none either."""
    return key in ignored or key.partition(".")[0] in ignored or key.startswith(SILENT_VARIABLES)


def wrong(key: str, message: Message) -> InvalidInput:
    """A value of the file that is not what it must be."""
    return InvalidInput.at(f"file.{key}", message)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
