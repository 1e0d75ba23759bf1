"""What reading a trainer's file gives, and what writing one makes."""

from dataclasses import dataclass
from typing import Any

from app.i18n import Message


@dataclass(frozen=True, slots=True)
class TrainerRecipe:
    """What a trainer's file says.

    ``fields`` are those of an estimate's body, the trainer's own defaults among them; ``defaults`` names these again.
    ``workload`` may lack the samples, which a trainer's file seldom knows.
    """

    trainer: str
    fields: dict[str, Any]
    unknown: tuple[str, ...]
    ignored: tuple[str, ...]
    model_name: str | None
    notes: tuple[Message, ...]
    defaults: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class TrainerFile:
    """A file to start training with."""

    filename: str
    text: str
    media_type: str
