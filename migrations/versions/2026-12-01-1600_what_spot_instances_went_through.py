"""What spot instances went through"""

from datetime import datetime

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "spot_use",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("provider", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("instance_type", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("instance_us", sa.BigInteger(), nullable=False),
        sa.Column("interruptions", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_spot_use_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_spot_use")),
        sa.UniqueConstraint("run_id", name=op.f("uq_spot_use_run_id")),
    )
    with op.batch_alter_table("spot_use", schema=None) as batch_op:
        batch_op.create_index("ix_spot_use_team_type", ["team_id", "provider", "instance_type"], unique=False)
    _from_runs()


def _from_runs() -> None:
    """Runs that were there already count too."""
    connection = op.get_bind()
    rows = connection.execute(
        sa.text(
            "SELECT run.id, run.team_id, offer.provider, offer.instance_type, run.started_at, run.ended_at, "
            "run.instance_count, run.interruptions FROM run JOIN offer ON offer.id = run.offer_id "
            "WHERE run.billing = 'spot' AND run.deleted_at IS NULL AND run.ended_at IS NOT NULL"
        )
    ).all()
    use = sa.table(
        "spot_use",
        *map(sa.column, ("team_id", "run_id", "provider", "instance_type", "instance_us", "interruptions")),
    )
    found = [
        {
            "team_id": team_id,
            "run_id": run_id,
            "provider": provider,
            "instance_type": instance_type,
            "instance_us": _microseconds(started_at, ended_at) * count,
            "interruptions": interruptions,
        }
        for run_id, team_id, provider, instance_type, started_at, ended_at, count, interruptions in rows
    ]
    if found:
        op.bulk_insert(use, found)


def _microseconds(started_at: datetime | str, ended_at: datetime | str) -> int:
    # SQLite gives text where PostgreSQL gives instants.
    begin, end = (
        datetime.fromisoformat(value) if isinstance(value, str) else value for value in (started_at, ended_at)
    )
    return round((end - begin).total_seconds() * 1_000_000)


def downgrade() -> None:
    op.drop_table("spot_use")
