"""JSON that strangers wrote: whatever is wrong with it is one kind of error."""

from json import JSONDecodeError, JSONDecoder

from app.i18n import Message

# No figure of a row is ever used; as a float, one of a million digits costs nothing.
DECODER = JSONDecoder(parse_int=float)


class BadJson(Exception):
    """Not JSON: why (the words of Python's parser stay as they are), and at which character."""

    def __init__(self, reason: str | Message, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


def parse_json_at(text: str, position: int) -> tuple[object, int]:
    """The value that begins at ``position``, and where it ends."""
    try:
        return DECODER.raw_decode(text, position)
    except JSONDecodeError as error:
        raise BadJson(error.msg, error.pos) from None
    except RecursionError:
        raise BadJson(Message("It is nested too deeply."), position) from None


def parse_json(text: str) -> object:
    """The only value of ``text``."""
    stripped = text.strip()
    value, end = parse_json_at(stripped, 0)
    if end < len(stripped):
        raise BadJson("Extra data", end)
    return value
