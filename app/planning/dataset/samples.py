"""From a row to its turns: the texts that a trainer would put into its chat template."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from app.i18n import Message
from app.planning.dataset.json_text import BadJson, parse_json
from app.planning.dataset.layouts import Layout

Record: TypeAlias = Mapping[str, Any]


class UnusableError(Exception):
    """A row of which nothing can be learned, and why."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason.text)
        self.reason = reason


def turns_of(record: Record, layout: Layout) -> list[str]:
    """The texts of one sample in their order, at least one of which says something."""
    values = {role: (column, record.get(column)) for role, column in layout.columns.items()}
    turns = READERS[layout.name](values)
    if not any(turn.strip() for turn in turns):
        raise UnusableError(Message("It holds no text."))
    return turns


Values: TypeAlias = Mapping[str, tuple[str, Any]]


def _alpaca(values: Values) -> list[str]:
    question = _required(values, "instruction")
    given = _optional(values, "input")
    answer = _required(values, "output")
    return [*_before(values), f"{question}\n{given}" if given else question, answer]


def _pair(values: Values) -> list[str]:
    return [*_before(values), _required(values, "prompt"), _required(values, "completion")]


def _text(values: Values) -> list[str]:
    return [_required(values, "text")]


def _messages(values: Values) -> list[str]:
    return [*_system(values), *_conversation(*values["messages"])]


def _sharegpt(values: Values) -> list[str]:
    return [*_system(values), *_conversation(*values["conversations"])]


READERS: Mapping[str, Callable[[Values], list[str]]] = {
    "alpaca": _alpaca,
    "prompt-completion": _pair,
    "text": _text,
    "messages": _messages,
    "sharegpt": _sharegpt,
}


def _required(values: Values, role: str) -> str:
    column, value = values[role]
    if value is None:
        raise UnusableError(Message("“%(column)s” is missing.", column=column))
    return _checked(column, value)


def _optional(values: Values, role: str) -> str:
    column, value = values.get(role, ("", None))
    return "" if value is None else _checked(column, value)


def _checked(column: str, value: object) -> str:
    if not isinstance(value, str):
        raise UnusableError(Message("“%(column)s” is not text.", column=column))
    return value


def _system(values: Values) -> list[str]:
    system = _optional(values, "system")
    return [system] if system else []


def _before(values: Values) -> list[str]:
    """The system prompt, and the earlier turns as pairs of a question and an answer."""
    column, history = values.get("history", ("", None))
    turns = _system(values)
    for pair in _listed(column, history) if history else []:
        if not isinstance(pair, list) or not all(isinstance(turn, str) for turn in pair):
            raise UnusableError(Message("“%(column)s” is no list of pairs of texts.", column=column))
        turns += pair
    return turns


def _listed(column: str, value: object) -> list[Any]:
    """A list, which a table holds as JSON text."""
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except BadJson:
            value = None
    if not isinstance(value, list):
        raise UnusableError(Message("“%(column)s” is no list.", column=column))
    return value


def _conversation(column: str, value: object) -> list[str]:
    if value is None:
        raise UnusableError(Message("“%(column)s” is missing.", column=column))
    return [_said(column, number, turn) for number, turn in enumerate(_listed(column, value), 1)]


def _said(column: str, number: int, turn: object) -> str:
    text = _content(turn) if isinstance(turn, dict) else None
    if text is None:
        raise UnusableError(
            Message("Turn %(number)d of “%(column)s” has no text.", number=number, column=column)
        )
    return text


def _content(turn: dict[str, Any]) -> str | None:
    """What a turn says; a call of a tool says its JSON."""
    content = turn.get("content", turn.get("value"))
    calls = turn.get("tool_calls")
    if isinstance(content, list):
        content = _parts(content)
    if calls and (content is None or content == ""):
        return _as_json(calls)
    return content if isinstance(content, str) else None


def _as_json(value: object) -> str | None:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        # What could just be read may be too deep to be written.
        return None


def _parts(parts: list[Any]) -> str | None:
    """The text of a content in parts; none where a part is a picture or a sound, whose tokens are not counted here."""
    found = [part.get("text") if isinstance(part, dict) else part for part in parts]
    texts = [text for text in found if isinstance(text, str)]
    return "".join(texts) if len(texts) == len(found) else None
