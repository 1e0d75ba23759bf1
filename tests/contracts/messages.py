"""Which sentences the product says, and which of them are translated."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from jinja2.ext import babel_extract

from tests.contracts.sources import ROOT, calls, sources, text_argument

# Calls whose first argument is a sentence for people.
SPEAKERS = {"Message", "Sentence", "say", "_", "gettext"}
TEMPLATE_FUNCTIONS = ("_", "gettext", "ngettext")
TEMPLATE_OPTIONS = {"extensions": "jinja2.ext.do", "silent": "false", "trimmed": "false"}


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence and where it stands."""

    text: str
    place: str


@cache
def said() -> tuple[Said, ...]:
    """Every sentence of templates and Python files that is there in plain text."""
    return (*_said_by_python(), *_said_by_templates())


def _said_by_python() -> Iterator[Said]:
    for source in sources():
        for name, call in calls(source.tree):
            text = text_argument(call)
            if name.rpartition(".")[2] in SPEAKERS and text:
                yield Said(text, f"{source.path}:{call.lineno}")


def _said_by_templates() -> Iterator[Said]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for line, text in _template_texts(path):
            yield Said(text, f"{path.relative_to(ROOT)}:{line}")


def _template_texts(path: Path) -> Iterator[tuple[int, str]]:
    file = BytesIO(path.read_bytes())
    for line, _function, texts, _comments in babel_extract(file, TEMPLATE_FUNCTIONS, (), TEMPLATE_OPTIONS):
        # ngettext has a singular and a plural; the singular is the key.
        text = texts if isinstance(texts, str) else next((part for part in texts or () if part), None)
        if text:
            yield line, text


@cache
def constants() -> frozenset[str]:
    """Every text of the Python files: a sentence may stand in a table and be translated where the table is read."""
    return frozenset(
        node.value
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@dataclass(frozen=True, slots=True)
class Translation:
    """An entry of a catalogue."""

    text: str
    translated: str
    fuzzy: bool
    place: str


@cache
def chinese() -> tuple[Translation, ...]:
    """Every entry of every Chinese catalogue."""
    return tuple(_entries())


def _entries() -> Iterator[Translation]:
    for path in sorted((ROOT / "app" / "locale" / "zh_CN").glob("*.po")):
        for message in _catalog(path):
            if message.id:
                place = f"{path.name}:{message.lineno}"
                yield Translation(_first(message.id), _first(message.string), message.fuzzy, place)


def _first(forms: str | Sequence[str] | None) -> str:
    """The singular; Chinese has no other form."""
    return forms if isinstance(forms, str) else next(iter(forms or ()), "")


def _catalog(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale="zh_CN", abort_invalid=True)
