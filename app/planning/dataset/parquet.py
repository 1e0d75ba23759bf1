"""Parquet, read by a process of its own; see ``parquet_rows.py`` for why."""

import sys
from collections.abc import Iterable
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import NamedTemporaryFile
from typing import IO

from app.i18n import Message
from app.planning.dataset.json_lines import json_lines
from app.planning.dataset.limits import MEBIBYTE, LimitedFile
from app.planning.dataset.rows import Rows, wrong_file

READER = Path(__file__).with_name("parquet_rows.py")
MAGIC = b"PAR1"


class ParquetRows:
    """The rows; ``is_cut`` once what they hold went beyond the limit."""

    def __init__(self, file: LimitedFile, columns: Iterable[str]) -> None:
        self._file = file
        self._columns = tuple(columns)
        self.is_cut = False

    def rows(self) -> Rows:
        """Counted from one."""
        with NamedTemporaryFile(suffix=".parquet") as copy:
            _copy(self._file, copy)
            yield from self._rows_of(copy.name)

    def _rows_of(self, path: str) -> Rows:
        command = [
            sys.executable,
            "-I",
            str(READER),
            path,
            str(self._file.limits.memory_bytes),
            *self._columns,
        ]
        with Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL) as process:  # noqa: S603 - our own program
            assert process.stdout is not None  # noqa: S101 - it is a pipe, as asked for
            lines = LimitedFile(process.stdout, self._file.limits)
            place = 0
            try:
                for row in json_lines(lines, "utf-8"):
                    place = row.place
                    yield row
                self.is_cut = lines.is_cut
            finally:
                if self.is_cut or sys.exception() is not None:
                    process.kill()
            status = process.wait()
        if status and not self.is_cut:
            raise wrong_file(Message("The Parquet file cannot be read after row %(row)d.", row=place))


def _copy(file: LimitedFile, copy: IO[bytes]) -> None:
    """What describes a Parquet file stands at its end: it is read whole or not at all."""
    while data := file.read(MEBIBYTE):
        copy.write(data)
    if file.is_cut:
        raise wrong_file(
            Message("The Parquet file is larger than %(bytes)d bytes.", bytes=file.limits.file_bytes)
        )
    copy.flush()
