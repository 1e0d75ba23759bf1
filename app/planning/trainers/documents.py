"""A trainer's file as a flat mapping: ``fsdp_config.offload_params`` is a key, a list stays a value."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from app.errors import InvalidInput
from app.i18n import Message
from app.planning.trainers.shell import PROGRAMS, Command, ShellError, training_command

LARGEST_BYTES = 1024 * 1024
MOST_NODES = 10_000
DEEPEST = 32
# The scalar parsers of YAML take quadratic time for numbers in base 60.
LONGEST_PLAIN = 1_000
LONGEST_KEY = 200

LAUNCHER_VARIABLES = frozenset(("CUDA_VISIBLE_DEVICES", "NNODES", "NPROC_PER_NODE"))

# What PyYAML raises for tags and values that do not go together, beside its own errors.
_BROKEN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
# The same safe loader, many times faster where libyaml is there.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Document:
    """A file's keys and values; ``command``: what it starts, where it is a script."""

    values: Mapping[str, Any]
    command: Command | None = None


def read_document(text: str, filename: str = "") -> Document:
    """Raises InvalidInput naming ``file``."""
    if len(text) > LARGEST_BYTES or len(text.encode("utf-8", "surrogatepass")) > LARGEST_BYTES:
        raise _refused(Message("The file is larger than 1 MiB."))
    text = _UNPRINTABLE.sub("\ufffd", text.removeprefix("\ufeff"))
    command = _command(text, filename)
    if command is not None:
        return Document(dict(_flat(_set_for(command, text) | command.arguments)), command)
    content = _json(text) if text.lstrip().startswith("{") else _yaml(text)
    if not isinstance(content, dict):
        raise _refused(Message("The file must hold keys with values."))
    return Document(dict(_flat(content)))


def _set_for(command: Command, text: str) -> dict[str, str]:
    """Variables of the trainer; those that the script itself repeats were only its own shorthand."""
    return {
        name: value
        for name, value in command.environment.items()
        if name in LAUNCHER_VARIABLES
        or (name.isupper() and f"${name}" not in text and f"${{{name}" not in text)
    }


def _refused(message: Message) -> InvalidInput:
    return InvalidInput.at("file", message)


def _command(text: str, filename: str) -> Command | None:
    """The command of a script; what is called a script must have one."""
    is_script = filename.lower().endswith((".sh", ".bash"))
    if not is_script and not any(program in text for program in PROGRAMS):
        return None
    try:
        command = training_command(text)
    except ShellError as error:
        if not is_script and not text.startswith("#!"):
            return None
        raise _refused(Message("A quote is never closed: line %(line)s.", line=error.line)) from error
    if command is None and is_script:
        raise _refused(Message("The script starts none of the trainers."))
    return command


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once_each)
    except json.JSONDecodeError as error:
        raise _misplaced(Message("This is not valid JSON"), error.lineno, error.colno) from error
    except (RecursionError, ValueError) as error:
        raise _refused(Message("The file is nested too deeply or repeats itself too often.")) from error


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a key that stands there twice nobody knows which was meant."""
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _refused(Message("The key %(name)s stands there twice.", name=_key(twice)))
    return content


def _misplaced(what: Message, line: int, column: int) -> InvalidInput:
    return _refused(
        Message("%(what)s: line %(line)s, column %(column)s.", what=what, line=line, column=column)
    )


def _yaml(text: str) -> Any:
    broken = Message("This is not valid YAML")
    try:
        _refuse_bombs(text)
        return _load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise _misplaced(broken, line, column) from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        raise _misplaced(broken, before.count("\n") + 1, len(before) - before.rfind("\n")) from error
    except _BROKEN as error:
        raise _refused(Message("A value of the file is not what its tag says.")) from error


def _load(text: str) -> Any:
    loader = _LOADER(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_repeated_keys(node)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _refuse_repeated_keys(top: yaml.Node) -> None:
    left, seen = [top], {id(top)}
    while left:
        node = left.pop()
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        keys: set[tuple[str, str]] = set()
        for key, _ in pairs:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if (key.tag, key.value) in keys:
                name, line = _key(key.value), key.start_mark.line + 1
                raise _refused(Message("The key %(name)s stands there twice: line %(line)s.", name=name, line=line))
            keys.add((key.tag, key.value))
        inner = [part for pair in pairs for part in pair] or (node.value if isinstance(node, yaml.SequenceNode) else [])
        for part in inner:
            # What an alias stands for is looked at once.
            if id(part) not in seen:
                seen.add(id(part))
                left.append(part)


def _refuse_bombs(text: str) -> None:
    """Counts what aliases stand for without making it."""
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            total += sizes.get(event.anchor or "", MOST_NODES)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            sizes |= {} if anchor is None else {anchor: total - before}
        elif isinstance(event, yaml.ScalarEvent):
            total += 1 + MOST_NODES * (event.implicit[0] and len(event.value) > LONGEST_PLAIN)
            sizes |= {} if event.anchor is None else {event.anchor: 1}
        if total > MOST_NODES or len(open_nodes) > DEEPEST:
            raise _refused(Message("The file is nested too deeply or repeats itself too often."))


def _flat(content: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Keys without a value are left out: trainers take their default for them."""
    left: list[tuple[str, int, Any]] = [
        (_key(key), 1, value) for key, value in reversed(list(content.items()))
    ]
    seen = 0
    while left:
        path, depth, value = left.pop()
        seen += 1
        if seen > MOST_NODES or depth > DEEPEST:
            raise _refused(Message("The file is nested too deeply or repeats itself too often."))
        if isinstance(value, dict):
            inner = reversed(value.items())
            left += [(f"{path}.{_key(key)}"[:LONGEST_KEY], depth + 1, one) for key, one in inner]
        elif value is not None:
            yield path, _clean(value)


def _key(key: Any) -> str:
    return _UNPRINTABLE.sub("\ufffd", str(key))[:LONGEST_KEY]


def _clean(value: Any) -> Any:
    return _UNPRINTABLE.sub("\ufffd", value) if isinstance(value, str) else value
