"""Reads a price list in CSV: which cells stand on which line; pure.

The first line names the columns, in any order. Text is UTF-8, with or without a byte order mark, or GB18030, in which
spreadsheets in China save. What cannot be read as a table at all is refused with its line; whether a row makes an
offer is decided elsewhere.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.text import decode_text

LARGEST_BYTES = 2 * 1024 * 1024
MOST_ROWS = 5_000

REQUIRED = ("provider", "instance_type", "gpu", "price_per_hour", "currency")
COLUMNS = (*REQUIRED, "gpu_count", "region", "billing", "as_of", "source", "note")

_DELIMITERS = (",", ";", "\t")

# Our own exports put an apostrophe before a text that a spreadsheet would take for a formula.
_APOSTROPHE = re.compile(r"'(?= *[=+\-@\t\r\n])")
# Only these end a line; str.splitlines would cut a cell at a form feed.
_LINE_ENDS = re.compile(r"(?<=\n)")
# A spreadsheet writes the 1st of December 2026 as 2026/12/1.
_LOOSE_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")


class PriceListError(ValueError):
    """What is wrong with the file: ``reason`` in one word, the line where it is one, and a name where one helps."""

    def __init__(self, reason: str, line: int | None = None, name: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.name = name


@dataclass(frozen=True, slots=True)
class Line:
    """One row: the cells of the columns that are known. ``has_more_cells``: than there are columns."""

    number: int
    cells: Mapping[str, str]
    has_more_cells: bool


@dataclass(frozen=True, slots=True)
class PriceList:
    """The rows of a file."""

    lines: Sequence[Line]
    unknown_columns: Sequence[str]


def read_price_list(content: bytes) -> PriceList:
    """Raises PriceListError for a file that is too large or no such table."""
    if len(content) > LARGEST_BYTES:
        raise PriceListError("too_large")
    rows = _rows(_text(content))
    header_line, header = next(rows, (1, []))
    names = [cell.strip().lower() for cell in header]
    _check_header(names, header_line)
    lines: list[Line] = []
    for number, row in rows:
        if len(lines) == MOST_ROWS:
            raise PriceListError("too_many_rows", number)
        lines.append(_line(number, names, row))
    return PriceList(lines, [name for name in names if name and name not in COLUMNS])


def _text(content: bytes) -> str:
    try:
        return decode_text(content).replace("\r\n", "\n").replace("\r", "\n")
    except ValueError as error:
        raise PriceListError("not_text") from error


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with the line on which it begins."""
    reader = csv.reader(_LINE_ENDS.split(text), strict=True, delimiter=_delimiter(text))
    begins = 1
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise PriceListError("not_csv", begins) from error
        if row is None:
            return
        if any(cell.strip() for cell in row):
            yield begins, row
        begins = reader.line_num + 1


def _delimiter(text: str) -> str:
    """What parts the names of the columns: spreadsheets write semicolons where the comma is for decimals."""
    header = text.lstrip("\n").partition("\n")[0]
    return max(_DELIMITERS, key=header.count)


def _check_header(names: Sequence[str], line: int) -> None:
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise PriceListError("columns_missing", line, ", ".join(missing))
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if twice:
        raise PriceListError("column_twice", line, twice[0])


def _line(number: int, names: Sequence[str], row: Sequence[str]) -> Line:
    cells = {name: _cell(name, cell) for name, cell in zip(names, row, strict=False) if name in COLUMNS}
    return Line(number, cells, any(cell.strip() for cell in row[len(names) :]))


def _cell(name: str, cell: str) -> str:
    text = _APOSTROPHE.sub("", cell, count=1).strip() if cell.startswith("'") else cell.strip()
    day = _LOOSE_DAY.fullmatch(text) if name == "as_of" else None
    return f"{day[1]}-{int(day[2]):02}-{int(day[3]):02}" if day else text
