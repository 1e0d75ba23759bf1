"""CSV and TSV: a header that names the columns, and a sample a row."""

import csv
from collections.abc import Iterator

from app.errors import InvalidInput
from app.i18n import Message
from app.planning.dataset.limits import LimitedFile
from app.planning.dataset.rows import Row, Rows, wrong_file

DELIMITERS = ",\t;"


class _Lines:
    """The lines of the file as text; counts the bytes of the row that is being put together."""

    def __init__(self, file: LimitedFile, encoding: str) -> None:
        self._file = file
        self._encoding = encoding
        self.count = 0
        self.row_bytes = 0

    def __iter__(self) -> Iterator[str]:
        while line := self._file.read_line():
            self.count += 1
            self.row_bytes += len(line)
            # A quotation mark without its fellow would otherwise gather the whole file in one field.
            if self.row_bytes > self._file.limits.line_bytes:
                most = self._file.limits.line_bytes
                raise self.wrong(Message("A row is longer than %(bytes)d bytes.", bytes=most))
            yield self._text(line)

    @property
    def is_cut(self) -> bool:
        return self._file.is_cut

    def _text(self, line: bytes) -> str:
        try:
            return line.decode(self._encoding)
        except UnicodeDecodeError:
            message = Message("The line is not valid %(encoding)s.", encoding=self._encoding)
            raise self.wrong(message) from None

    def wrong(self, why: object) -> InvalidInput:
        line = max(1, self.count)
        return wrong_file(Message("The table cannot be read at line %(line)d: %(why)s", line=line, why=why))


def table(file: LimitedFile, encoding: str, delimiter: str) -> Rows:
    """The rows below the header, as dictionaries."""
    # The module's own limit, which is the process's, is too low for long samples; rows are limited above.
    csv.field_size_limit(max(csv.field_size_limit(), file.limits.line_bytes))
    lines = _Lines(file, encoding)
    try:
        yield from _rows(lines, csv.reader(lines, delimiter=delimiter))
    except csv.Error as error:
        raise lines.wrong(str(error)) from None


def _rows(lines: _Lines, cells: Iterator[list[str]]) -> Rows:
    header = next(cells, [])
    lines.row_bytes = 0
    place = lines.count + 1
    for values in cells:
        if lines.is_cut:
            # The limit stands within quotation marks: the reader takes the file's end for the row's.
            return
        if len(values) > len(header):
            yield Row(place, problem=Message("The row has more cells than the header has columns."))
        elif values:
            yield Row(place, dict(zip(header, values, strict=False)))
        lines.row_bytes = 0
        place = lines.count + 1


def delimiter_of(header: str) -> str:
    """The character that parts the columns: the one that the header has most of."""
    return max(DELIMITERS, key=header.count)
