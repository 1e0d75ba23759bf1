"""The fixtures that every folder shares live in tests/fixtures/, a file per subject."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

pytest_plugins = [
    "tests.fixtures.clock",
    "tests.fixtures.databases",
    "tests.fixtures.applications",
    "tests.fixtures.people",
    "tests.fixtures.clients",
    "tests.fixtures.chromium",
]

# What a developer has set for the product must not change what the tests see.
OWN_VARIABLES = {"TUNELEDGER_TEST_CHROMIUM"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database",
        choices=["sqlite", "postgresql", "both"],
        default="both",
        help="the database that tests with storage run on (for a quick look; CI runs both)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs every test that stores something once on SQLite and once on PostgreSQL."""
    if "database_kind" in metafunc.fixturenames:
        metafunc.parametrize("database_kind", _database_kinds(metafunc))


def _database_kinds(metafunc: pytest.Metafunc) -> list[str]:
    if metafunc.definition.get_closest_marker("one_database"):
        return ["sqlite"]
    chosen: str = metafunc.config.getoption("--database")
    return ["sqlite", "postgresql"] if chosen == "both" else [chosen]


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            if name.startswith("TUNELEDGER_") and name not in OWN_VARIABLES:
                patch.delenv(name)
        yield


@pytest.fixture(scope="session", autouse=True)
def _plain_traces() -> None:
    """As the product has them: the library's own colour the variables of every frame, which takes seconds."""
    structlog.configure(
        processors=[structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    )


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top of the checkout."""
    return Path(__file__).parent.parent
