"""No query sees another team's rows.

A function that selects, changes or deletes rows of a table that belongs to a team must, in itself or through a function
that it calls for it, compare one of these:

- ``team_id``, with the team of whoever asks,
- the id of a row that it was handed as a parameter (``project: Project``): such a row was found by a scoped query,
- the digest of a secret (``token_sha256``), which names its team,
- ``user_id``: a person's own sessions and memberships, in whichever teams those are.

An id alone is never enough: ``project_id: int`` may have come from anywhere.
"""

import ast
from collections.abc import Iterator
from functools import cache

import pytest
from sqlmodel import SQLModel

import app.tables  # noqa: F401 - registers every table
from app.db import metadata
from tests.contracts.sources import Function, Source, dotted_name, sources

STATEMENTS = {"select", "update", "delete", "insert", "exists"}
SCOPING_COLUMNS = {"team_id", "token_sha256", "user_id"}
# What stands above the teams, each with its reason.
EXEMPT = {
    ("app/accounts/teams.py", "find_team"): "the command line names a team before it is anybody's",
    ("app/accounts/teams.py", "list_teams"): "the command line takes the only team there is",
    ("app/accounts/sessions.py", "start_session"): "clears away expired sessions of everybody",
}
# Pages and routes ask services; they never speak to the database themselves.
QUERY_FREE = {"pages.py", "api.py", "inputs.py", "answers.py", "main.py"}


@cache
def team_owned() -> frozenset[str]:
    """The classes whose tables have a team_id, and Team itself."""
    classes = {mapper.class_.__name__: mapper.local_table for mapper in SQLModel._sa_registry.mappers}
    owned = {name for name, table in classes.items() if "team_id" in table.columns}
    return frozenset(owned | {"Team"})


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def queried_classes(node: ast.AST) -> set[str]:
    """The team-owned classes that a function queries."""
    found: set[str] = set()
    for call in (part for part in ast.walk(node) if isinstance(part, ast.Call)):
        name = dotted_name(call.func)
        if name.rpartition(".")[2] in STATEMENTS or name.endswith("session.get"):
            found |= {part.id for part in ast.walk(call) if isinstance(part, ast.Name)} & team_owned()
    return found


def row_parameters(function: Function) -> set[str]:
    """Parameters that are rows of a team or of a person, or collections of them."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return {
        argument.arg
        for argument in arguments
        if argument.annotation and set(_names(argument.annotation)) & (team_owned() | {"User"})
    }


def _names(node: ast.AST) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def compares_scope(function: Function) -> bool:
    """Whether a comparison in the function is about the team, or about a row it was handed."""
    rows = row_parameters(function)
    return any(_mentions_scope(node, rows) for node in ast.walk(function) if _is_comparison(node))


def _is_comparison(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return True
    return isinstance(node, ast.Call) and dotted_name(node.func).rpartition(".")[2] in ("in_", "is_", "filter_by")


def _mentions_scope(node: ast.AST, rows: set[str]) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr in SCOPING_COLUMNS:
            return True
        if isinstance(part, ast.Name) and part.id == "team_id":
            return True
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in rows:
            return True
        if isinstance(part, ast.comprehension) and set(_names(part.iter)) & rows:
            return True
    return False


@cache
def scoping_functions() -> frozenset[str]:
    """Names of functions of ``app/`` that scope what they return, themselves or by calling one that does."""
    everything = [function for source in sources() for function in functions(source.tree)]
    scoped = {function.name for function in everything if compares_scope(function)}
    while more := {f.name for f in everything if f.name not in scoped and _called(f) & scoped}:
        scoped |= more
    return frozenset(scoped)


def _called(function: Function) -> set[str]:
    called = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return {name.id for name in called if isinstance(name, ast.Name)}


def is_scoped(function: Function) -> bool:
    return compares_scope(function) or bool(_called(function) & _private_scopes(function))


def _private_scopes(function: Function) -> frozenset[str]:
    return scoping_functions() - {function.name}


def unscoped(source: Source) -> Iterator[str]:
    for function in functions(source.tree):
        classes = queried_classes(function)
        if classes and not is_scoped(function) and (source.path, function.name) not in EXEMPT:
            yield f"{source.path}:{function.lineno} {function.name}() queries {', '.join(sorted(classes))}"


def test_the_tables_that_belong_to_a_team_are_known() -> None:
    assert {"Project", "Plan", "Run", "Charge", "SpendEntry", "Reservation", "ApiToken"} <= team_owned()
    without_team = {table.name for table in metadata.sorted_tables if "team_id" not in table.columns}
    # A person may be in several teams; the others hold nothing of anybody's work.
    assert without_team == {"team", "user", "setup_link", "idempotency_record", "catalog_state"}


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.path)
def test_every_query_is_scoped_to_a_team(source: Source) -> None:
    assert list(unscoped(source)) == []


@pytest.mark.parametrize(
    "source", [one for one in sources() if one.path.rpartition("/")[2] in QUERY_FREE], ids=lambda source: source.path
)
def test_pages_and_routes_leave_queries_to_services(source: Source) -> None:
    built = [
        f"{source.path}:{node.lineno}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in STATEMENTS
    ]
    assert built == []


def test_every_exemption_is_still_needed() -> None:
    found = {
        (source.path, function.name)
        for source in sources()
        for function in functions(source.tree)
        if queried_classes(function) and not is_scoped(function)
    }
    assert set(EXEMPT) <= found


def _function(text: str) -> Function:
    return next(functions(ast.parse(text)))


def test_the_check_itself_finds_a_query_by_id_alone() -> None:
    function = _function("def find(session, run_id: int): return session.exec(select(Run).where(Run.id == run_id))")
    assert queried_classes(function) == {"Run"}
    assert not is_scoped(function)


def test_the_check_itself_accepts_a_row_that_was_handed_over() -> None:
    text = "def find(session, project: Project): return session.exec(select(Run).where(Run.project_id == project.id))"
    assert is_scoped(_function(text))
