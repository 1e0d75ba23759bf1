"""One trainer: how its files are told apart, read and written."""

from collections.abc import Callable
from dataclasses import dataclass

from app.planning.trainers.draft import Draft, Plan
from app.planning.trainers.reading import Reading


@dataclass(frozen=True, slots=True)
class Trainer:
    """``marks``: keys that a file of it has and not every other; ``cannot_say``: fields that no setting is for."""

    id: str
    name: str
    filename: str
    media_type: str
    marks: frozenset[str]
    ignored: frozenset[str]
    cannot_say: tuple[str, ...]
    read: Callable[[Reading], None]
    draft: Callable[[Plan], Draft]
    command: Callable[[Plan], str]
