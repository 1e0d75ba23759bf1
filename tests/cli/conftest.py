"""Runs commands in this process, as the console script does."""

import io
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import structlog

from app.cli import run
from app.db import Database
from tests.fixtures.clock import MovableClock


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command ended with."""

    status: int
    out: str
    err: str

    @property
    def answer(self) -> str:
        """The one line of a command that went well."""
        assert self.status == 0, self.err
        (line,) = self.out.splitlines()
        return line

    @property
    def complaint(self) -> str:
        """The one line of a command that was refused, without an answer."""
        assert self.out == ""
        (line,) = self.err.splitlines()
        return line


Command = Callable[..., Outcome]


@pytest.fixture
def _own_logs() -> Iterator[None]:
    """A command sets up logging for its whole process; here it must not stay so."""
    root = logging.getLogger()
    handlers, level, config = root.handlers, root.level, structlog.get_config()
    yield
    root.handlers, root.level = handlers, level
    structlog.configure(**config)


@pytest.fixture
def bare_command(
    _own_logs: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], clock: MovableClock
) -> Command:
    """``bare_command("estimate", "-", stdin="{}")``; no database is set."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TUNELEDGER_PASSWORD_HASH", "argon2-cheap")

    def call(*arguments: str, stdin: str = "") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        status = run(arguments, clock=clock)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


@pytest.fixture
def command(bare_command: Command, empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The same with an empty database, which the first command has to fill."""
    monkeypatch.setenv("TUNELEDGER_DATABASE_URL", empty_database_url)
    return bare_command


@pytest.fixture
def database_of(empty_database_url: str) -> Iterator[Database]:
    """The commands' database, to look into."""
    database = Database(empty_database_url)
    yield database
    database.close()
