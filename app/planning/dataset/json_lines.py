"""JSON Lines: a sample a line; one that is no JSON does not spoil the others."""

from app.i18n import Message
from app.planning.dataset.json_text import BadJson, parse_json
from app.planning.dataset.limits import LimitedFile
from app.planning.dataset.rows import Row, Rows


def json_lines(file: LimitedFile, encoding: str) -> Rows:
    """The rows of a file with a JSON value in every line; empty lines are passed over."""
    place = 0
    while line := file.read_line():
        place += 1
        if file.is_too_long(line):
            file.skip_line()
            yield Row(
                place,
                problem=Message("The line is longer than %(bytes)d bytes.", bytes=file.limits.line_bytes),
            )
        elif line.strip():
            yield _row(place, line, encoding)


def _row(place: int, line: bytes, encoding: str) -> Row:
    try:
        return Row(place, parse_json(line.decode(encoding)))
    except UnicodeDecodeError:
        return Row(place, problem=Message("The line is not valid %(encoding)s.", encoding=encoding))
    except BadJson as error:
        problem = Message(
            "Not valid JSON at column %(column)d: %(why)s", column=error.position + 1, why=error.reason
        )
        return Row(place, problem=problem)
