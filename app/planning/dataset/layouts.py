"""Which columns of a data set hold what: the layouts that trainers read, pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """A layout with the names that its columns go by; the first that is there is taken."""

    name: str
    required: Mapping[str, tuple[str, ...]]
    optional: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of one data set: by role, the column that plays it."""

    name: str
    columns: dict[str, str]


# The more particular come first: a row with ``messages`` may well have a ``text`` besides.
SHAPES = (
    Shape("messages", {"messages": ("messages",)}, {"system": ("system",)}),
    Shape("sharegpt", {"conversations": ("conversations", "conversation")}, {"system": ("system",)}),
    Shape(
        "alpaca",
        {"instruction": ("instruction",), "output": ("output", "response")},
        {"input": ("input", "context"), "system": ("system",), "history": ("history",)},
    ),
    Shape(
        "prompt-completion",
        {"prompt": ("prompt", "question", "query"), "completion": ("completion", "answer", "response")},
        {"system": ("system",), "history": ("history",)},
    ),
    Shape("text", {"text": ("text", "content")}, {}),
)

KNOWN_COLUMNS = tuple(
    sorted(
        {
            name
            for shape in SHAPES
            for names in (*shape.required.values(), *shape.optional.values())
            for name in names
        }
    )
)


def find_layout(columns: Iterable[str]) -> Layout | None:
    """The layout that has all its columns here; None when none has."""
    actual = _by_plain_name(columns)
    for shape in SHAPES:
        required = _roles(shape.required, actual)
        if len(required) == len(shape.required):
            return Layout(shape.name, required | _roles(shape.optional, actual))
    return None


def widen(layout: Layout, columns: Iterable[str]) -> Layout:
    """The same layout with the optional columns that only a later row has."""
    shape = next(shape for shape in SHAPES if shape.name == layout.name)
    return Layout(layout.name, _roles(shape.optional, _by_plain_name(columns)) | layout.columns)


def _by_plain_name(columns: Iterable[str]) -> dict[str, str]:
    return {column.strip().lower(): column for column in columns}


def _roles(roles: Mapping[str, tuple[str, ...]], actual: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for role, names in roles.items():
        column = next((actual[name] for name in names if name in actual), None)
        if column is not None:
            found[role] = column
    return found
