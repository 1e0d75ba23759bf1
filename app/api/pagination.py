"""Lists of the JSON API: at most ``limit`` items in the order of their ids, and a cursor for the next ones."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Protocol, TypeVar

from fastapi import Depends, Query
from sqlmodel import Session
from sqlmodel.sql.expression import SelectOfScalar

from app.errors import InvalidInput
from app.fields import LARGEST_ID
from app.i18n import Message

DEFAULT_LIMIT = 50
LARGEST_LIMIT = 500


class HasId(Protocol):
    """A row with an id."""

    id: int | None


T = TypeVar("T")
Row = TypeVar("Row", bound=HasId)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How many items, after which id."""

    limit: int
    after: int


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list, and the cursor of the next ones."""

    items: Sequence[T]
    next_cursor: str | None


def _page_request(
    limit: Annotated[int, Query(ge=1, le=LARGEST_LIMIT)] = DEFAULT_LIMIT,
    cursor: Annotated[str | None, Query()] = None,
) -> PageRequest:
    return PageRequest(limit, 0 if cursor is None else decode_cursor(cursor))


PageParams = Annotated[PageRequest, Depends(_page_request)]


def encode_cursor(position: int) -> str:
    """A position as URL-safe text."""
    return base64.urlsafe_b64encode(str(position).encode()).decode().rstrip("=")


def decode_cursor(text: str) -> int:
    """Raises InvalidInput naming ``cursor`` for a text that ``encode_cursor`` did not make."""
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        position = base64.b64decode(padded, altchars=b"-_", validate=True).decode("ascii")
        if not position.isdecimal() or int(position) > LARGEST_ID or encode_cursor(int(position)) != text:
            raise ValueError(text)
    except (ValueError, binascii.Error) as error:
        raise InvalidInput.at("cursor", Message("Use the next_cursor of an earlier answer.")) from error
    return int(position)


def page_of_query(
    session: Session, statement: SelectOfScalar[Row], id_column: Any, wanted: PageRequest
) -> Page[Row]:
    """The page of a scoped select, by ascending id."""
    rows = session.exec(
        statement.where(id_column > wanted.after).order_by(id_column).limit(wanted.limit + 1)
    ).all()
    items = rows[: wanted.limit]
    more = len(rows) > wanted.limit
    return Page(items, encode_cursor(items[-1].id or 0) if more else None)


def page_of_sequence(items: Sequence[T], wanted: PageRequest) -> Page[T]:
    """The page of a list that is in memory; the cursor is a position in it."""
    end = wanted.after + wanted.limit
    return Page(items[wanted.after : end], encode_cursor(end) if end < len(items) else None)
