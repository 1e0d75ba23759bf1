"""Pure modules compute: numbers in, numbers out. A module that says so in its docstring is held to it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.contracts.sources import ROOT, Source, calls, imported_modules, sources

ALWAYS_PURE = ("app.money", "app.time", "app.estimator")
# Standard modules that reach outside, or remember, or throw dice.
IMPURE_MODULES = {
    "asyncio", "glob", "http", "io", "logging", "multiprocessing", "os", "pathlib", "secrets", "select", "shutil",
    "signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip
IMPURE_CALLS = re.compile(
    r"(open|print|input|exec|eval|breakpoint|__import__)"
    r"|(.*\.)?(datetime\.now|datetime\.utcnow|datetime\.today|date\.today|utc_now|read_text|write_text)"
    # A generator with a seed is a number like any other: random.Random(seed).
    r"|random\.(?!Random$)\w+"
)
ASKS_FOR_THE_TIME = re.compile(r"(.*\.)?(datetime\.(now|utcnow|today)|date\.today|time\.time)")
# The clock that create_app() and the commands are given in production.
ALLOWED_CALLS = {("app/time.py", "datetime.now")}
ALLOWED_IMPORTS = {
    # Takes addresses apart and touches none.
    "urllib.parse",
    # Reads the JSON files that come with the package, once: the same in every process, so as good as a constant.
    "app.catalog.packaged",
}


def is_pure(source: Source) -> bool:
    """Named above, or "pure" in the first sentence of the docstring."""
    if any(source.module == name or source.module.startswith(name + ".") for name in ALWAYS_PURE):
        return True
    first_line = (ast.get_docstring(source.tree) or "").partition("\n")[0]
    return re.search(r"\bpure\b", first_line) is not None


PURE = [source for source in sources() if is_pure(source)]
PURE_NAMES = {source.module for source in PURE}


@pytest.mark.parametrize("source", PURE, ids=lambda source: source.path)
def test_a_pure_module_imports_only_the_standard_library_and_pure_modules(source: Source) -> None:
    assert list(_foreign_imports(source)) == []


def _foreign_imports(source: Source) -> Iterator[str]:
    for line, name in imported_modules(source):
        top = name.partition(".")[0]
        is_ours = name in PURE_NAMES or name in ALLOWED_IMPORTS
        is_harmless = top in sys.stdlib_module_names and top not in IMPURE_MODULES
        if not is_ours and not is_harmless:
            yield f"{source.path}:{line} imports {name}"


@pytest.mark.parametrize("source", PURE, ids=lambda source: source.path)
def test_a_pure_module_neither_reads_nor_writes_nor_asks_for_the_time(source: Source) -> None:
    found = [
        f"{source.path}:{call.lineno} calls {name}"
        for name, call in calls(source.tree)
        if IMPURE_CALLS.fullmatch(name) and (source.path, name) not in ALLOWED_CALLS
    ]
    assert found == []


def test_nothing_but_the_clock_knows_the_time() -> None:
    found = {
        (source.path, name)
        for source in sources()
        for name, _ in calls(source.tree)
        if ASKS_FOR_THE_TIME.fullmatch(name)
    }
    assert found == ALLOWED_CALLS


@pytest.mark.parametrize("source", PURE, ids=lambda source: source.path)
def test_a_pure_module_keeps_no_state(source: Source) -> None:
    changed = [node.lineno for node in ast.walk(source.tree) if isinstance(node, ast.Global | ast.Nonlocal)]
    assert changed == []


def test_the_estimator_works_without_any_installed_package() -> None:
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import app.estimator; print(app.estimator.__name__)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("app.estimator\n", "")
