"""LoRA's settings, whatever the trainer calls them."""

from app.i18n import Message
from app.planning.trainers.model_names import config_of
from app.planning.trainers.reading import Reading
from app.planning.trainers.words import PEFT_TARGETS

ALL_LINEAR = "all-linear"
LARGEST_RANK = 4096
NEARLY_ONE = 0.999999

_EVERY = (["all"], ["all-linear"], ["all_linear"], ["ALL"])


def read_rank(reading: Reading, key: str, default: int | None = None) -> None:
    """The rank of the adapters."""
    reading.put_or_default("lora.rank", reading.whole(key, high=LARGEST_RANK), default)


def read_dropout(reading: Reading, key: str, default: float | None = None) -> None:
    """The dropout before the adapters."""
    reading.put_or_default("lora.dropout", reading.number(key, high=NEARLY_ONE), default)


def read_targets(reading: Reading, key: str) -> bool:
    """Which layers are adapted; False where the file does not say."""
    words = reading.words(key)
    if not words:
        return False
    if words in _EVERY:
        reading.put("lora.target_modules", ALL_LINEAR)
    elif any(word.lower().startswith("all-") or word == "all" for word in words):
        reading.refuse(key)
    else:
        reading.put("lora.target_modules", words)
    return True


def take_peft_targets(reading: Reading) -> None:
    """What PEFT adapts by itself."""
    targets = PEFT_TARGETS.get(str(config_of(reading.model_id).get("model_type")))
    if targets is None:
        reading.notes.append(
            Message("The file names no layers to adapt; PEFT chooses them by the kind of model.")
        )
    else:
        reading.put_or_default("lora.target_modules", None, list(targets))


def other_than_tuning(stage: str) -> Message:
    """Preference training keeps more models than one, which is not counted here."""
    return Message("Only supervised fine-tuning is planned here, not %(stage)s.", stage=stage[:100])
