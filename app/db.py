"""The database: engine, the two kinds of session, the column types, and migrations.

The request owns its transaction: services flush, never commit. A writing session commits when its block ends, which for
a request is before the first byte of the answer. Writing transactions begin IMMEDIATE on SQLite, so that a transaction
that reads and then writes can neither fail nor act on what it read too early.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from fastapi import Depends, Request
from sqlalchemy import BigInteger, DateTime, Engine, MetaData, String, create_engine, event, text
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.types import TypeDecorator
from sqlmodel import Session, SQLModel

from app.settings import PROJECT_ROOT, Settings

_MICROS = Decimal(1_000_000)

NAMING = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
metadata: MetaData = SQLModel.metadata
metadata.naming_convention = NAMING


class MicroUnits(TypeDecorator[Decimal]):
    """Money as a whole number of millionths: exact on both databases, summed and compared by them. Never average it."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Any) -> int | None:  # noqa: ARG002
        if value is None:
            return None
        micros = Decimal(value) * _MICROS
        if micros != micros.to_integral_value():
            raise ValueError(f"{value} is finer than a micro-unit")
        return int(micros)

    def process_result_value(self, value: Any, dialect: Any) -> Decimal | None:  # noqa: ARG002
        # PostgreSQL's sum(bigint) is numeric, so a Decimal can arrive here.
        return None if value is None else Decimal(int(value)) / _MICROS


class ExactDecimal(TypeDecorator[Decimal]):
    """A number that is neither money nor summed by the database (an exchange rate, a share of a card), kept as text."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Any) -> str | None:  # noqa: ARG002
        return None if value is None else f"{value:f}"

    def process_result_value(self, value: str | None, dialect: Any) -> Decimal | None:  # noqa: ARG002
        return None if value is None else Decimal(value)


class UtcInstant(TypeDecorator[datetime]):
    """An instant, stored as UTC without a zone, so that both databases order it alike; aware in Python."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("an instant needs a time zone")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.replace(tzinfo=UTC)


class Database:
    """One database: SQLite or PostgreSQL."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = _create_engine(url)
        self._writing = self.engine.execution_options(tuneledger_writes=True)
        self._reading = self.engine
        if not self.is_sqlite:
            # A page that reads several totals must see one state of the ledger.
            self._reading = self.engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )

    @property
    def is_sqlite(self) -> bool:
        """Whether this is a SQLite file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session that only reads, in one consistent state."""
        with Session(self._reading, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session that commits at the end of the block, or rolls back when it raises."""
        with Session(self._writing, expire_on_commit=False) as session:
            # Not session.begin(): a form with mistakes rolls back and goes on to show them.
            yield session
            session.commit()

    def migrate(self, revision: str = "head") -> None:
        """Brings the schema to a revision; an empty database is made first."""
        with self._writing.begin() as connection:
            if not self.is_sqlite:
                # Several processes may start at once: one migrates, the others wait and find nothing to do.
                connection.execute(text("SELECT pg_advisory_xact_lock(7425113)"))
            command.upgrade(_alembic_config(connection), revision)

    def downgrade(self, revision: str) -> None:
        """Takes the schema back to an earlier revision."""
        with self._writing.begin() as connection:
            command.downgrade(_alembic_config(connection), revision)

    def is_current(self) -> bool:
        """Whether the schema is at the newest revision."""
        with self.engine.connect() as connection:
            head = ScriptDirectory.from_config(_alembic_config(connection)).get_current_head()
            return MigrationContext.configure(connection).get_current_revision() == head

    def close(self) -> None:
        """Closes all connections."""
        self.engine.dispose()


def _alembic_config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_migrations_folder()))
    config.attributes["connection"] = connection
    return config


def _migrations_folder() -> Path:
    packaged = Path(__file__).parent / "_migrations"
    return packaged if packaged.is_dir() else PROJECT_ROOT / "migrations"


def _create_engine(url: str) -> Engine:
    if make_url(url).get_backend_name() == "sqlite":
        _make_folder(url)
        engine = create_engine(url, connect_args={"check_same_thread": False})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    return create_engine(url, pool_pre_ping=True, pool_size=20, max_overflow=20)


def _make_folder(url: str) -> None:
    file = make_url(url).database
    if file and file != ":memory:":
        Path(file).parent.mkdir(parents=True, exist_ok=True)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    # busy_timeout first: switching to WAL itself needs a lock.
    cursor.execute("PRAGMA busy_timeout = 15000")
    cursor.execute("PRAGMA journal_mode = WAL")
    # FULL: a commit that was acknowledged survives a power cut.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("tuneledger_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def open_database(settings: Settings) -> Database:
    """The database of the settings; nothing is read or made yet but the SQLite file's folder."""
    return Database(settings.resolved_database_url)


def _read_session(request: Request) -> Iterator[Session]:
    with request.app.state.database.read() as session:
        yield session


def _write_session(request: Request) -> Iterator[Session]:
    with request.app.state.database.write() as session:
        request.state.write_session = session
        yield session


# scope="function": the block ends, and so the commit is done, before the answer is sent.
ReadSession = Annotated[Session, Depends(_read_session, scope="function")]
WriteSession = Annotated[Session, Depends(_write_session, scope="function")]
