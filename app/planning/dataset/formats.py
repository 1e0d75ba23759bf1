"""What kind of file an upload is: told by its first bytes, then by its name."""

import codecs
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO

from app.i18n import Message
from app.planning.dataset import parquet
from app.planning.dataset.json_array import json_array
from app.planning.dataset.json_lines import json_lines
from app.planning.dataset.json_text import BadJson, parse_json, parse_json_at
from app.planning.dataset.layouts import KNOWN_COLUMNS, find_layout
from app.planning.dataset.limits import MEBIBYTE, LimitedFile, Limits
from app.planning.dataset.rows import Rows, wrong_file
from app.planning.dataset.tables import DELIMITERS, delimiter_of, table

HEAD_BYTES = MEBIBYTE
ENCODINGS = ("utf-8-sig", "gb18030")
LINES_NAMES = {".jsonl", ".ndjson", ".jsonlines"}
TABLE_NAMES = {".csv", ".tsv", ".tab"}
OTHERS = {
    b"\x1f\x8b": Message("The file is compressed (gzip). Unpack it first."),
    b"PK\x03\x04": Message(
        "The file is a ZIP archive or an Excel workbook. Send the data set itself, or save as CSV."
    ),
    b"(\xb5/\xfd": Message("The file is compressed (Zstandard). Unpack it first."),
    b"\xff\xfe": Message("The file is UTF-16. Save it as UTF-8."),
    b"\xfe\xff": Message("The file is UTF-16. Save it as UTF-8."),
    b"ARROW1": Message("The file is Arrow IPC. Save it as Parquet or JSON Lines."),
}


@dataclass(frozen=True, slots=True)
class Source:
    """The rows of an upload; ``is_cut`` is answered when they are read."""

    format: str
    rows: Rows
    is_cut: Callable[[], bool]


def open_source(file: BinaryIO, filename: str, columns: Iterable[str], limits: Limits) -> Source:
    """Recognises the format; ``columns`` are those to be read where a format allows to choose."""
    file.seek(0)
    head = file.read(HEAD_BYTES)
    file.seek(0)
    limited = LimitedFile(file, limits)
    if head.startswith(parquet.MAGIC):
        reader = parquet.ParquetRows(limited, columns)
        return Source("parquet", reader.rows(), lambda: reader.is_cut)
    return _text_source(limited, _checked(head), PurePath(filename).suffix.lower())


def _checked(head: bytes) -> bytes:
    for magic, message in OTHERS.items():
        if head.startswith(magic):
            raise wrong_file(message)
    if not head.strip():
        raise wrong_file(Message("The file is empty."))
    if b"\x00" in head:
        raise wrong_file(Message("The file is neither text nor Parquet."))
    return head


def _text_source(file: LimitedFile, head: bytes, suffix: str) -> Source:
    encoding, text = _decoded(head)
    kind = _format_of(text.lstrip(), suffix)
    if encoding == "utf-8-sig" and head.startswith(codecs.BOM_UTF8):
        file.read(len(codecs.BOM_UTF8))
    encoding = encoding.removesuffix("-sig")
    if kind == "jsonl":
        rows = json_lines(file, encoding)
    elif kind == "json":
        rows = json_array(file, encoding)
    else:
        rows = table(file, encoding, "\t" if suffix == ".tsv" else delimiter_of(_first_line(text)))
    return Source(kind, rows, lambda: file.is_cut)


def _decoded(head: bytes) -> tuple[str, str]:
    for encoding in ENCODINGS:
        # The last character may be cut in two.
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            return encoding, decoder.decode(head, final=len(head) < HEAD_BYTES)
        except UnicodeDecodeError:
            continue
    raise wrong_file(Message("The text is neither UTF-8 nor GB18030."))


def _format_of(text: str, suffix: str) -> str:
    if text.startswith("["):
        return "json"
    if text.startswith("{"):
        return "jsonl" if _is_sample_a_line(text) or suffix in LINES_NAMES else "json"
    if suffix in LINES_NAMES:
        return "jsonl"
    if suffix == ".json":
        return "json"
    if suffix in TABLE_NAMES or _is_header(_first_line(text)):
        return "csv"
    raise wrong_file(Message("The format is not known. Send JSON Lines, JSON, CSV or Parquet."))


def _is_header(line: str) -> bool:
    return line.strip().strip('"').lower() in KNOWN_COLUMNS or any(mark in line for mark in DELIMITERS)


def _is_sample_a_line(text: str) -> bool:
    """Whether the first line is a JSON object by itself; one alone may as well be an object around an array."""
    first, end, rest = text.partition("\n")
    if rest.lstrip().startswith("{"):
        return True
    try:
        # Of a line longer than the part that was read, the first name must do.
        value = parse_json(first) if end or len(text) < HEAD_BYTES // 4 else {_first_name(first): None}
    except BadJson:
        return False
    return not _wraps_samples(value)


def _first_name(line: str) -> object:
    return parse_json_at(line, len(line) - len(line[1:].lstrip()))[0]


def _wraps_samples(value: object) -> bool:
    if not isinstance(value, dict) or find_layout(value) is not None:
        return False
    return any(isinstance(member, list) for member in value.values())


def _first_line(text: str) -> str:
    return text.lstrip().partition("\n")[0]
