"""How much of an upload is read, and a file that is read no further."""

from dataclasses import dataclass
from typing import BinaryIO, Protocol

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What is beyond ``file_bytes``, ``lines`` or ``rows`` is left unread; a longer line or sample is not used.

    ``exact_characters``: a tokenizer is given no more samples after so many, which keep it busy for some ten seconds.
    ``memory_bytes``: what the process that reads Parquet may take.
    """

    file_bytes: int = 200 * MEBIBYTE
    # Twenty bytes a line of the largest file; a file of empty lines would take minutes.
    lines: int = 10_000_000
    rows: int = 200_000
    line_bytes: int = 16 * MEBIBYTE
    exact_characters: int = 20_000_000
    memory_bytes: int = 2048 * MEBIBYTE


class Readable(Protocol):
    """What of a binary file is used here: an upload has it, and so has a pipe."""

    def read(self, size: int, /) -> bytes: ...

    def readline(self, size: int, /) -> bytes: ...


class LimitedFile:
    """A file that ends at the limit; ``is_cut`` says whether there was more."""

    def __init__(self, file: Readable | BinaryIO, limits: Limits) -> None:
        self._file = file
        self._left = limits.file_bytes
        self._lines_left = limits.lines
        self.limits = limits
        self.is_cut = False

    def read(self, size: int) -> bytes:
        """The next bytes, none at the end."""
        data = self._file.read(min(size, self._left + 1))
        if len(data) > self._left:
            self.is_cut = True
            data = data[: self._left]
        self._left -= len(data)
        return data

    def read_line(self) -> bytes:
        """The next line with its end; the beginning of one that is too long; nothing at the end of the file.

        A line that the limit cuts in two is left out.
        """
        self._lines_left -= 1
        data = self._file.readline(min(self.limits.line_bytes, self._left) + 1)
        if len(data) > self._left or (data and self._lines_left < 0):
            self.is_cut = True
            return b""
        self._left -= len(data)
        return data

    def is_too_long(self, line: bytes) -> bool:
        """Whether ``read_line`` stopped before the line's end."""
        return len(line) > self.limits.line_bytes and not line.endswith(b"\n")

    def skip_line(self) -> None:
        """Passes over the rest of a line that is too long."""
        while (rest := self.read_line()) and not rest.endswith(b"\n"):
            pass
