"""Terms of runs, vouchers and hosted prices"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "voucher",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("provider", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("currency", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("valid_from", sa.Date(), nullable=True),
        sa.Column("valid_until", sa.Date(), nullable=True),
        sa.Column("note", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_voucher_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_voucher")),
    )
    op.create_index(op.f("ix_voucher_team_id"), "voucher", ["team_id"], unique=False)
    op.create_table(
        "voucher_use",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("voucher_id", sa.Integer(), nullable=False),
        sa.Column("charge_id", sa.Integer(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_voucher_use_team_id_team")),
        sa.ForeignKeyConstraint(["voucher_id"], ["voucher.id"], name=op.f("fk_voucher_use_voucher_id_voucher")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_voucher_use")),
        sa.UniqueConstraint("charge_id", name=op.f("uq_voucher_use_charge_id")),
    )
    op.create_index(op.f("ix_voucher_use_voucher_id"), "voucher_use", ["voucher_id"], unique=False)
    op.create_table(
        "hosted_price",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("provider", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("service", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("model", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("smallest_parameters", sa.BigInteger(), nullable=True),
        sa.Column("largest_parameters", sa.BigInteger(), nullable=True),
        sa.Column("method", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("price_per_million_tokens", sa.BigInteger(), nullable=False),
        sa.Column("currency", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("minimum_charge", sa.BigInteger(), nullable=True),
        sa.Column("as_of", sa.Date(), nullable=True),
        sa.Column("source", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("note", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_hosted_price_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hosted_price")),
    )
    op.create_index(op.f("ix_hosted_price_team_id"), "hosted_price", ["team_id"], unique=False)
    # Not in a batch: rebuilding the table on SQLite would drop rows that others refer to.
    op.add_column("run", sa.Column("price_terms", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("run", "price_terms")
    op.drop_table("hosted_price")
    op.drop_table("voucher_use")
    op.drop_table("voucher")
