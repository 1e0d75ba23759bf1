"""Alembic's entry: migrations run on the connection that app.db hands over."""

from typing import Any, Literal

from alembic import context
from sqlalchemy import Connection

import app.tables  # noqa: F401 - registers every table
from app.db import ExactDecimal, MicroUnits, UtcInstant, metadata


def _render_item(kind: str, value: Any, _autogen: Any) -> str | Literal[False]:
    """Migrations name plain column types, so that they stay true when our own types change."""
    if kind == "type" and isinstance(value, MicroUnits):
        return "sa.BigInteger()"
    if kind == "type" and isinstance(value, UtcInstant):
        return "sa.DateTime()"
    if kind == "type" and isinstance(value, ExactDecimal):
        return "sa.String()"
    return False


def _run(connection: Connection) -> None:
    context.configure(
        connection=connection, target_metadata=metadata, render_as_batch=True, render_item=_render_item
    )
    context.run_migrations()


_run(context.config.attributes["connection"])
