"""A JSON array, or an object with one array, read a sample at a time."""

import codecs
import re

from app.i18n import Message
from app.planning.dataset.json_text import BadJson, parse_json_at
from app.planning.dataset.limits import MEBIBYTE, LimitedFile
from app.planning.dataset.rows import Row, Rows, wrong_file

_NO_SPACE = re.compile(r"[^ \t\r\n]")


class _CutError(Exception):
    """The limit of the file stands in the middle of a sample."""


class _Text:
    """A JSON text of which only the part that is needed is kept."""

    def __init__(self, file: LimitedFile, encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._buffer = ""
        self._position = 0
        self._line = 1
        self._column = 1

    def peek(self) -> str:
        """The next character that is no space; nothing at the end."""
        while True:
            found = _NO_SPACE.search(self._buffer, self._position)
            if found:
                self._position = found.start()
                return found[0]
            self._position = len(self._buffer)
            if not self._read_more():
                return ""

    def take(self, character: str) -> None:
        """Passes over a character that must come next."""
        if self.peek() != character:
            raise self._end_or(
                BadJson(Message("“%(character)s” is expected.", character=character), self._position)
            )
        self._position += 1

    def value(self) -> object:
        """The next value, whole."""
        self.peek()
        while True:
            start = self._position
            try:
                value, end = parse_json_at(self._buffer, start)
            except BadJson as error:
                if not self._read_more():
                    raise self._end_or(BadJson(error.reason, error.position - start)) from None
            else:
                # A number at the end of the part that was read may go on.
                if end < len(self._buffer) or not self._read_more():
                    self._position += end - start
                    return value

    def _read_more(self) -> bool:
        self._forget()
        if len(self._buffer) > self._file.limits.line_bytes:
            return False
        # As much again as there is: a long sample is tried a few times, not a thousand.
        data = self._file.read(max(MEBIBYTE, len(self._buffer)))
        try:
            self._buffer += self._decoder.decode(data, final=not data and not self._file.is_cut)
        except UnicodeDecodeError as error:
            raise wrong_file(
                Message("The file is not valid %(encoding)s.", encoding=error.encoding)
            ) from None
        return bool(data)

    def _forget(self) -> None:
        used = self._buffer[: self._position]
        self._line, self._column = self._place(used)
        self._buffer = self._buffer[self._position :]
        self._position = 0

    def _place(self, before: str) -> tuple[int, int]:
        lines = before.count("\n")
        if lines:
            return self._line + lines, len(before) - before.rfind("\n")
        return self._line, self._column + len(before)

    def _end_or(self, error: BadJson) -> Exception:
        if self._file.is_cut:
            return _CutError()
        line, column = self._place(self._buffer[: error.position])
        why = error.reason
        return wrong_file(
            Message(
                "Not valid JSON at line %(line)d, column %(column)d: %(why)s",
                line=line,
                column=column,
                why=why,
            )
        )


def json_array(file: LimitedFile, encoding: str) -> Rows:
    """The members of the array; the limit may end it anywhere."""
    text = _Text(file, encoding)
    try:
        if text.peek() == "{":
            _enter_object(text)
        yield from _members(text)
    except _CutError:
        return


def _members(text: _Text) -> Rows:
    text.take("[")
    if text.peek() == "]":
        return
    place = 1
    yield Row(place, text.value())
    while text.peek() == ",":
        text.take(",")
        place += 1
        yield Row(place, text.value())
    text.take("]")


def _enter_object(text: _Text) -> None:
    """Goes to the first array that the object holds."""
    text.take("{")
    while text.peek() == '"':
        text.value()
        text.take(":")
        if text.peek() == "[":
            return
        text.value()
        if text.peek() == ",":
            text.take(",")
    raise wrong_file(Message("The JSON object holds no array of samples."))
