"""The product's own source files as syntax trees."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """One file of ``app/``."""

    path: str
    tree: ast.Module

    @property
    def module(self) -> str:
        """Its dotted name."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def folder_module(self) -> str:
        """What a relative import would start from."""
        return self.module if self.path.endswith("/__init__.py") else self.module.rpartition(".")[0]


@cache
def sources() -> tuple[Source, ...]:
    """Every Python file of ``app/``, in the order of their paths."""
    paths = sorted((ROOT / "app").rglob("*.py"))
    return tuple(Source(str(path.relative_to(ROOT)), parse(path)) for path in paths)


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Every call with its dotted name as written: ``datetime.now``, ``session.get``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = dotted_name(node.func)
            if name:
                yield name, node


def dotted_name(node: ast.AST) -> str:
    """``a.b.c`` of names and attributes; what hangs on a call or an index begins with a dot."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted_name(node.value)}.{node.attr}"
    return ""


def imported_modules(source: Source) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything that is imported, wherever it stands."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = source.folder_module + "." if node.level else ""
            yield node.lineno, start + (node.module or "")


def text_argument(call: ast.Call, position: int = 0) -> str | None:
    """A positional argument that is plain text; None when it is computed."""
    if len(call.args) <= position:
        return None
    argument = call.args[position]
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    return None
