"""A price list becomes offers of the team's own: new ones, changed ones, and rows that are refused with a reason."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from pydantic import ValidationError
from sqlmodel import Session

from app.accounts.access import Actor
from app.accounts.teams import lock_team
from app.catalog.inputs import OfferInput
from app.catalog.models import Offer
from app.catalog.price_list import LARGEST_BYTES, MOST_ROWS, Line, PriceListError, read_price_list
from app.catalog.service import checked_columns, differences, list_own_offers, store_change, store_offers
from app.errors import FieldError, InvalidInput
from app.fields import field_errors
from app.i18n import Message

Verdict = Literal["new", "changed", "known", "refused"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

# What tells one offer from another; the rest of a row is what may have changed.
KEY = ("provider", "instance_type", "gpu", "gpu_count", "region", "billing")
WRITTEN = ("price_per_hour", "currency", "as_of", "source", "note")
# Where the API says a field and the file has a column.
_COLUMN_OF = {"price_per_hour.amount": "price_per_hour", "price_per_hour.currency": "currency"}

_FILE_ERRORS = {
    "too_large": Message("The file is larger than %(bytes)s bytes.", bytes=LARGEST_BYTES),
    "too_many_rows": Message("A price list has at most %(rows)s rows.", rows=MOST_ROWS),
    "not_text": Message("This is not text in UTF-8 or GB18030."),
    "not_csv": Message("This cannot be read as CSV."),
    "columns_missing": Message("These columns are missing: %(name)s."),
    "column_twice": Message("The column %(name)s stands there twice."),
}


@dataclass(frozen=True, slots=True)
class ImportRow:
    """A row with its verdict. ``columns``: what is written, of an offer that is new or changed."""

    line: int
    verdict: Verdict
    reasons: Sequence[Message] = ()
    # What the file calls it, for those who look at the preview.
    provider: str = ""
    instance_type: str = ""
    offer: Offer | None = None
    columns: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class PriceListImport:
    """All rows in the order of the file."""

    rows: Sequence[ImportRow]
    unknown_columns: Sequence[str]

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many rows there are of each verdict."""
        found = Counter(row.verdict for row in self.rows)
        return {verdict: found[verdict] for verdict in VERDICTS}


def import_price_list(session: Session, actor: Actor, content: bytes, *, dry_run: bool) -> PriceListImport:
    """Judges every row and, unless it is a dry run, applies those that are new or changed.

    The packaged offers are never touched. Raises InvalidInput naming ``file`` for one that is no price list.
    """
    actor.require("editor")
    try:
        read = read_price_list(content)
    except PriceListError as error:
        raise InvalidInput.at("file", _file_message(error)) from error
    if not dry_run:
        # Of two imports at the same moment the second finds what the first has stored.
        lock_team(session, actor.team_id)
    own = list_own_offers(session, actor.team_id, to_change=not dry_run)
    rows = list(_judged(actor, read.lines, own))
    return PriceListImport(rows if dry_run else _applied(session, actor, rows), read.unknown_columns)


def _judged(actor: Actor, lines: Sequence[Line], own: Sequence[Offer]) -> Iterator[ImportRow]:
    # The oldest of several that are alike.
    known = {_key(offer.model_dump()): offer for offer in reversed(own)}
    seen: dict[tuple[Any, ...], int] = {}
    for line in lines:
        row = ImportRow(
            line.number,
            "refused",
            provider=line.cells.get("provider", ""),
            instance_type=line.cells.get("instance_type", ""),
        )
        try:
            columns = _columns(actor, line)
        except InvalidInput as error:
            yield replace(row, reasons=[_reason(one) for one in error.errors])
            continue
        key = _key(columns)
        if key in seen:
            yield replace(row, reasons=[Message("Line %(line)s holds the same offer.", line=seen[key])])
            continue
        seen[key] = line.number
        yield _compared(row, line, columns, known.get(key))


def _compared(row: ImportRow, line: Line, columns: Mapping[str, Any], offer: Offer | None) -> ImportRow:
    if offer is None:
        return replace(row, verdict="new", columns=columns)
    # A column that the file does not have changes nothing.
    sent = {name: columns[name] for name in WRITTEN if name in line.cells}
    changed = differences(offer, sent)
    if not changed:
        return replace(row, verdict="known", offer=offer)
    reason = Message("Changed: %(columns)s.", columns=", ".join(changed))
    return replace(row, verdict="changed", reasons=[reason], offer=offer, columns=changed)


def _applied(session: Session, actor: Actor, rows: Sequence[ImportRow]) -> list[ImportRow]:
    made = iter(store_offers(session, actor, [row.columns or {} for row in rows if row.verdict == "new"]))
    for row in rows:
        if row.verdict == "changed" and row.offer is not None and row.columns is not None:
            store_change(session, actor, row.offer, row.columns)
    session.flush()
    return [replace(row, offer=next(made)) if row.verdict == "new" else row for row in rows]


def _columns(actor: Actor, line: Line) -> dict[str, Any]:
    """The columns of the offer that a line describes. Raises InvalidInput."""
    if line.has_more_cells:
        raise InvalidInput.at("", Message("This row has more cells than the first line."))
    try:
        data = OfferInput.model_validate(_document(line.cells))
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error
    return checked_columns(actor, data)


def _document(cells: Mapping[str, str]) -> dict[str, Any]:
    """The row as the API would be sent it; an empty cell says nothing."""
    filled: dict[str, Any] = {name: text for name, text in cells.items() if text}
    price = {"amount": filled.pop("price_per_hour", None), "currency": filled.pop("currency", "").upper() or None}
    if "gpu_count" in filled:
        filled["gpu_count"] = _number(filled["gpu_count"])
    if "billing" in filled:
        filled["billing"] = filled["billing"].lower()
    return filled | {"price_per_hour": {name: value for name, value in price.items() if value is not None}}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _key(columns: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(columns[name] for name in KEY)


def _reason(error: FieldError) -> Message:
    if not error.field:
        return error.message
    return Message("%(key)s: %(what)s", key=_COLUMN_OF.get(error.field, error.field), what=error.message)


def _file_message(error: PriceListError) -> Message:
    what = _FILE_ERRORS[error.reason]
    params = {**what.params, "name": error.name} if error.name else what.params
    said = Message(what.text, **params)
    return said if error.line is None else Message("Line %(line)s: %(what)s", line=error.line, what=said)
