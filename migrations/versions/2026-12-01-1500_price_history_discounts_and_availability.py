"""Price history, discounts and availability"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TERMS = (
    ("billing_minimum_minutes", sa.Integer()),
    ("billing_granularity_minutes", sa.Integer()),
    ("tiers", sa.JSON()),
    ("discount_percent", sa.String()),
    ("discount_valid_from", sa.Date()),
    ("discount_valid_until", sa.Date()),
    ("free_trial_hours", sa.String()),
    ("availability", sqlmodel.sql.sqltypes.AutoString()),
    ("availability_on", sa.Date()),
    ("availability_note", sqlmodel.sql.sqltypes.AutoString()),
)

# The last time that the offer was written is when its price was certainly this one.
LAST_WRITTEN = (
    "FROM audit_event WHERE audit_event.team_id = offer.team_id AND audit_event.subject_type = 'offer' "
    "AND audit_event.subject_id = offer.id AND audit_event.action IN ('created', 'changed') "
    "ORDER BY audit_event.id DESC LIMIT 1"
)


def upgrade() -> None:
    op.create_table(
        "offer_price",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("offer_id", sa.Integer(), nullable=False),
        sa.Column("price_per_hour", sa.BigInteger(), nullable=False),
        sa.Column("currency", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("as_of", sa.Date(), nullable=True),
        sa.Column("source", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("changed_at", sa.DateTime(), nullable=False),
        sa.Column("changed_by", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.ForeignKeyConstraint(["offer_id"], ["offer.id"], name=op.f("fk_offer_price_offer_id_offer")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_offer_price_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_offer_price")),
    )
    with op.batch_alter_table("offer_price", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_offer_price_offer_id"), ["offer_id"], unique=False)
    # Not in a batch: rebuilding the table on SQLite would drop rows that plans and runs refer to.
    for name, kind in TERMS:
        op.add_column("offer", sa.Column(name, kind, nullable=True))
    # Offers that were there already begin their history with the price that they have.
    op.execute(
        "INSERT INTO offer_price (team_id, offer_id, price_per_hour, currency, as_of, source, changed_at, changed_by) "
        "SELECT team_id, id, price_per_hour, currency, as_of, source, "
        f"COALESCE((SELECT audit_event.at {LAST_WRITTEN}), created_at), "
        f"COALESCE((SELECT audit_event.actor_name {LAST_WRITTEN}), '') "
        "FROM offer WHERE team_id IS NOT NULL AND price_per_hour IS NOT NULL ORDER BY id"
    )


def downgrade() -> None:
    for name, _kind in reversed(TERMS):
        op.drop_column("offer", name)
    op.drop_table("offer_price")
