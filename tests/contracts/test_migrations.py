"""The migrations lead to exactly the tables that the code has, on both databases, and back."""

from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect

import app.tables  # noqa: F401 - registers every table
from app.db import Database, metadata


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[Database]:
    database = Database(empty_database_url)
    yield database
    database.close()


def test_the_migrations_lead_to_the_tables_of_the_code(empty: Database) -> None:
    empty.migrate()
    with empty.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_the_first_migration_can_be_taken_back(empty: Database) -> None:
    empty.migrate()
    empty.downgrade("base")
    assert inspect(empty.engine).get_table_names() == ["alembic_version"]
    empty.migrate()
    assert empty.is_current()


def test_migrating_twice_changes_nothing(empty: Database) -> None:
    empty.migrate()
    empty.migrate()
    assert empty.is_current()
