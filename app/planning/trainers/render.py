"""A draft as YAML or as a shell script. Names are people's input: nothing is written without being quoted."""

import shlex
from collections.abc import Iterator
from typing import Any

import yaml

from app.i18n import Language, Message, translate
from app.planning.trainers.draft import Draft, Plan
from app.planning.trainers.trainer import Trainer

WIDEST = 10_000

_LINE_ENDS = frozenset("\x85\u2028\u2029")


def render(trainer: Trainer, plan: Plan, draft: Draft, language: Language) -> str:
    """The file's text, beginning with how to start it."""
    comments = [f"# {translate(message, language)}\n" for message in _head(trainer, plan, draft)]
    if trainer.filename.endswith(".sh"):
        return "#!/usr/bin/env bash\n" + "".join(comments) + _script(plan, draft, language)
    return "".join(comments) + "".join(_yaml(draft, language))


def _head(trainer: Trainer, plan: Plan, draft: Draft) -> Iterator[Message]:
    yield Message("GPUs: %(count)s. Start with: %(command)s", count=plan.gpus, command=trainer.command(plan))
    if plan.nodes > 1:
        yield Message(
            "Start it on each of %(count)s machines, with the machine's own number.", count=plan.nodes
        )
    fields = ", ".join(trainer.cannot_say)
    yield Message("%(trainer)s has no setting for: %(fields)s.", trainer=trainer.name, fields=fields)
    unsaid = [name for name in draft.unsaid if name not in trainer.cannot_say]
    if unsaid:
        yield Message(
            "Not as planned, because the trainer cannot do it: %(fields)s.", fields=", ".join(unsaid)
        )


def _yaml(draft: Draft, language: Language) -> Iterator[str]:
    for line in draft.lines:
        if isinstance(line, Message):
            yield f"# {translate(line, language)}\n"
        else:
            # PyYAML leaves these line ends in quotes, where they are read as blanks.
            readable = _LINE_ENDS.isdisjoint("".join(_texts(line[1])))
            yield yaml.safe_dump(dict([line]), sort_keys=False, allow_unicode=readable, width=WIDEST)


def _texts(value: Any) -> Iterator[str]:
    """The texts of a setting, which may be a list."""
    yield from (str(one) for one in (value if isinstance(value, list) else [value]))


def _script(plan: Plan, draft: Draft, language: Language) -> str:
    notes = [f"# {translate(line, language)}\n" for line in draft.lines if isinstance(line, Message)]
    settings = [_argument(*line) for line in draft.lines if not isinstance(line, Message)]
    launcher = f"NPROC_PER_NODE={plan.gpus_a_node} "
    if plan.nodes > 1:
        launcher = (
            f'NNODES={plan.nodes} NODE_RANK="${{NODE_RANK:-0}}" MASTER_ADDR="${{MASTER_ADDR}}" {launcher}'
        )
    return "".join(notes) + " \\\n    ".join([launcher + "\\\nswift sft", *settings]) + "\n"


def _argument(key: str, value: Any) -> str:
    words = value if isinstance(value, list) else [value]
    written = [shlex.quote(_word(word)) for word in words]
    # A value that looks like the next argument must stay with its own.
    joint = "=" if written and _word(words[0]).startswith("-") else " "
    return f"--{key}{joint}{' '.join(written)}"


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
