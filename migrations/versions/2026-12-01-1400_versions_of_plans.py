"""Versions of plans"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# What a version keeps of its plan.
STATE = (
    "name, request, result, estimator_version, offer, price_per_hour, currency, billing, exchange_rate, "
    "exchange_rate_day, exchange_rate_source, starts_on, hours_per_week, planned_hours, planned_cost"
)


def upgrade() -> None:
    op.create_table(
        "plan_version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("plan_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("reason", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("saved_at", sa.DateTime(), nullable=False),
        sa.Column("saved_by", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("estimator_version", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("offer", sa.JSON(), nullable=True),
        sa.Column("price_per_hour", sa.BigInteger(), nullable=True),
        sa.Column("currency", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("billing", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("exchange_rate", sa.String(), nullable=True),
        sa.Column("exchange_rate_day", sa.Date(), nullable=True),
        sa.Column("exchange_rate_source", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("starts_on", sa.Date(), nullable=False),
        sa.Column("hours_per_week", sa.Float(), nullable=False),
        sa.Column("planned_hours", sa.Float(), nullable=True),
        sa.Column("planned_cost", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["plan_id"], ["plan.id"], name=op.f("fk_plan_version_plan_id_plan")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_plan_version_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plan_version")),
        sa.UniqueConstraint("plan_id", "number", name=op.f("uq_plan_version_plan_id_number")),
    )
    with op.batch_alter_table("plan_version", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_plan_version_plan_id"), ["plan_id"], unique=False)
    # Plans that were there already begin their history with what they are.
    op.execute(
        f"INSERT INTO plan_version (team_id, plan_id, number, reason, saved_at, saved_by, {STATE}) "
        f"SELECT team_id, id, version, 'created', created_at, created_by, {STATE} FROM plan"
    )


def downgrade() -> None:
    op.drop_table("plan_version")
