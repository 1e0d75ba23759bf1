"""The arguments out of a shell script that starts a training; pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# A variable that repeats others doubles with each line; no script needs more than this in all.
MOST_EXPANDED = 100_000

PROGRAMS = frozenset(
    "accelerate axolotl deepspeed llamafactory-cli lmf megatron python python3 swift torchrun trl".split()
)
PREFIXES = frozenset("env exec export nohup sudo time".split())

_PART = re.compile(
    r"""
    (?P<joined>\\\r?\n)
  | '(?P<single>[^']*)'
  | "(?P<double>(?:[^"\\]|\\.)*)"
  | \\(?P<escaped>.)
  | (?P<blank>[ \t\r]+|(?<!\S)(?:\d*|&)[<>]{1,2}&?[ \t]*[^\s;|&]*)
  | (?P<result>\$\([^()]*\)|`[^`]*`)
  | (?P<end>[\n;&|()]+)
  | (?P<hash>\#)
  | (?P<plain>(?:[^\s'"\\;&|()\#`$]|\$(?!\())+)
    """,
    re.VERBOSE | re.DOTALL,
)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*))")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_OPTION = re.compile(r"-[A-Za-z]")


class ShellError(Exception):
    """A quote that is never closed."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}")
        self.line = line


@dataclass(slots=True)
class Command:
    """One command of a script; ``environment``: the variables set before it, anywhere in the script."""

    words: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def program(self) -> str:
        """Its name, without the folder."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    @property
    def positional(self) -> tuple[str, ...]:
        """Words that belong to no ``--name``."""
        return self._parsed()[0]

    @property
    def arguments(self) -> dict[str, Any]:
        """Each ``--name`` with its value, True where it has none, a list where it has several."""
        return self._parsed()[1]

    def _parsed(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        loose: list[str] = []
        named: dict[str, list[str]] = {}
        current = loose
        for word in self.words:
            if word.startswith("--") and len(word) > 2:
                name, equals, value = word[2:].partition("=")
                current = named[name.replace("-", "_")] = [value] if equals else []
            elif _OPTION.match(word) or word.endswith(".py"):
                loose.append(word)
                current = loose
            else:
                current.append(word)
        return tuple(loose), {name: _value(values) for name, values in named.items()}


def _value(values: list[str]) -> Any:
    if not values:
        return True
    return values[0] if len(values) == 1 else values


def training_command(text: str) -> Command | None:
    """The command that says the most of those that may start a training; None when there is none."""
    found: Command | None = None
    for command in _commands(text):
        if command.program in PROGRAMS and len(command.words) > (len(found.words) if found else 0):
            found = Command(command.words, dict(command.environment))
    return found


def _commands(text: str) -> Iterator[Command]:
    environment: dict[str, str] = {}
    command = Command(environment=environment)
    for word in _words(text, environment):
        if word is None:
            if command.words:
                yield command
            command = Command(environment=environment)
        elif not command.words and (assignment := _ASSIGNMENT.fullmatch(word)):
            environment[assignment[1]] = assignment[2]
        elif command.words or word not in PREFIXES:
            command.words.append(word)


def _words(text: str, environment: dict[str, str]) -> Iterator[str | None]:
    """Words, and None where a command ends; variables are replaced by what was assigned to them before."""
    parts: list[str] = []
    left = MOST_EXPANDED
    for kind, part in _parts(text):
        if kind not in ("blank", "end", "joined"):
            expanded = _expanded(part, environment) if kind in ("double", "plain") else part
            left -= len(expanded) - len(part)
            parts.append(expanded if left >= 0 else part)
            continue
        if parts:
            yield "".join(parts)
        parts = []
        if kind == "end":
            yield None
    if parts:
        yield "".join(parts)
    yield None


def _parts(text: str) -> Iterator[tuple[str, str]]:
    position, inside = 0, False
    while position < len(text):
        match = _PART.match(text, position)
        if match is None or match.lastgroup is None:
            raise ShellError(text.count("\n", 0, position) + 1)
        kind, position = match.lastgroup, match.end()
        if kind == "hash" and not inside:
            position = _end_of_line(text, position)
            continue
        inside = kind not in ("blank", "end", "joined")
        part = match[kind]
        yield kind, re.sub(r'\\(["\\$`])', r"\1", part) if kind == "double" else part


def _end_of_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _expanded(part: str, environment: dict[str, str]) -> str:
    """A variable that the script does not set stays as it is written."""
    return _VARIABLE.sub(lambda match: environment.get(match[1] or match[2], match[0]), part)
