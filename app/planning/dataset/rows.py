"""A row of an upload: where it stands and what it holds, whatever the format of the file."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

from app.errors import InvalidInput
from app.i18n import Message


@dataclass(frozen=True, slots=True)
class Row:
    """``place``: the line in JSON Lines and CSV, the count in the others; ``problem``: why there is no value."""

    place: int
    value: object = None
    problem: Message | None = None


Rows: TypeAlias = Generator[Row, None, None]


def wrong_file(message: Message) -> InvalidInput:
    """The upload as a whole cannot be read."""
    return InvalidInput.at("file", message)
