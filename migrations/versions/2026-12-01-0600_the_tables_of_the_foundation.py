"""The tables of the foundation"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "catalog_state",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("offers_digest", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_catalog_state")),
    )
    op.create_table(
        "idempotency_record",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("principal", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("key", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("fingerprint", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("headers", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("body", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_idempotency_record")),
        sa.UniqueConstraint("principal", "key", name=op.f("uq_idempotency_record_principal_key")),
    )
    op.create_table(
        "setup_link",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_sha256", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_setup_link")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_setup_link_token_sha256")),
    )
    op.create_table(
        "team",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("currency", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("time_zone", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("language", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team")),
        sa.UniqueConstraint("name", name=op.f("uq_team_name")),
    )
    op.create_table(
        "user",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("password_hash", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("language", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user")),
        sa.UniqueConstraint("name", name=op.f("uq_user_name")),
    )
    op.create_table(
        "api_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("token_sha256", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("role", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=True),
        sa.Column("revoked_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_api_token_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_api_token_token_sha256")),
    )
    with op.batch_alter_table("api_token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_api_token_team_id"), ["team_id"], unique=False)

    op.create_table(
        "browser_session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_sha256", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_browser_session_team_id_team")),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_browser_session_user_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_browser_session")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_browser_session_token_sha256")),
    )
    with op.batch_alter_table("browser_session", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_browser_session_team_id"), ["team_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_browser_session_user_id"), ["user_id"], unique=False)

    op.create_table(
        "membership",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("role", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_membership_team_id_team")),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_membership_user_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_membership")),
        sa.UniqueConstraint("team_id", "user_id", name=op.f("uq_membership_team_id_user_id")),
    )
    with op.batch_alter_table("membership", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_membership_team_id"), ["team_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_membership_user_id"), ["user_id"], unique=False)

    op.create_table(
        "offer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("packaged_id", sa.Integer(), nullable=True),
        sa.Column("provider", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("instance_type", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("gpu", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("gpu_label", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("gpu_count", sa.String(), nullable=False),
        sa.Column("region", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("billing", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("currency", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("price_per_hour", sa.BigInteger(), nullable=True),
        sa.Column("as_of", sa.Date(), nullable=True),
        sa.Column("source", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("note", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_offer_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_offer")),
        sa.UniqueConstraint("packaged_id", name=op.f("uq_offer_packaged_id")),
    )
    with op.batch_alter_table("offer", schema=None) as batch_op:
        batch_op.create_index("ix_offer_team_gpu", ["team_id", "gpu"], unique=False)

    op.create_table(
        "project",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("goal", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("currency", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("target", sa.BigInteger(), nullable=True),
        sa.Column("alert_thresholds", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_project_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project")),
    )
    with op.batch_alter_table("project", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_project_team_id"), ["team_id"], unique=False)
        batch_op.create_index(
            "uq_project_team_name_alive",
            ["team_id", "name"],
            unique=True,
            sqlite_where=sa.text("deleted_at IS NULL"),
            postgresql_where=sa.text("deleted_at IS NULL"),
        )

    op.create_table(
        "rate",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("from_currency", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("to_currency", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("rate", sa.String(), nullable=False),
        sa.Column("source", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_rate_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rate")),
        sa.UniqueConstraint(
            "team_id",
            "from_currency",
            "to_currency",
            "day",
            name=op.f("uq_rate_team_id_from_currency_to_currency_day"),
        ),
    )
    op.create_table(
        "audit_event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("actor_name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("token_id", sa.Integer(), nullable=True),
        sa.Column("action", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("subject_type", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_audit_event_team_id_team")),
        sa.ForeignKeyConstraint(
            ["token_id"], ["api_token.id"], name=op.f("fk_audit_event_token_id_api_token")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_audit_event_user_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_event")),
    )
    with op.batch_alter_table("audit_event", schema=None) as batch_op:
        batch_op.create_index(
            "ix_audit_event_subject", ["team_id", "subject_type", "subject_id"], unique=False
        )

    op.create_table(
        "budget_change",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("period", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("starts_on", sa.Date(), nullable=False),
        sa.Column("ends_on", sa.Date(), nullable=True),
        sa.Column("counts", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("block_when_spent", sa.Boolean(), nullable=False),
        sa.Column("reason", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("changed_by", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("effective_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_budget_change_project_id_project")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_budget_change_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_budget_change")),
    )
    with op.batch_alter_table("budget_change", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_budget_change_project_id"), ["project_id"], unique=False)

    op.create_table(
        "charge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("category", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("service", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("list_amount", sa.BigInteger(), nullable=False),
        sa.Column("currency", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("exchange_rate", sa.String(), nullable=True),
        sa.Column("exchange_rate_day", sa.Date(), nullable=True),
        sa.Column("exchange_rate_source", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("period_start", sa.DateTime(), nullable=False),
        sa.Column("period_end", sa.DateTime(), nullable=False),
        sa.Column("external_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("note", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("over_budget", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_charge_project_id_project")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_charge_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_charge")),
    )
    with op.batch_alter_table("charge", schema=None) as batch_op:
        batch_op.create_index("ix_charge_project_start", ["project_id", "period_start"], unique=False)

    op.create_table(
        "plan",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("estimator_version", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("offer_id", sa.Integer(), nullable=True),
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
        sa.Column("is_baseline", sa.Boolean(), nullable=False),
        sa.Column("approved_at", sa.DateTime(), nullable=True),
        sa.Column("approved_by", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("created_by", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["offer_id"], ["offer.id"], name=op.f("fk_plan_offer_id_offer")),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_plan_project_id_project")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_plan_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plan")),
    )
    with op.batch_alter_table("plan", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_plan_project_id"), ["project_id"], unique=False)
        batch_op.create_index(
            "uq_plan_baseline",
            ["project_id"],
            unique=True,
            sqlite_where=sa.text("is_baseline AND deleted_at IS NULL"),
            postgresql_where=sa.text("is_baseline AND deleted_at IS NULL"),
        )

    op.create_table(
        "reservation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("plan_id", sa.Integer(), nullable=False),
        sa.Column("planned_cost", sa.BigInteger(), nullable=False),
        sa.Column("planned_hours", sa.Float(), nullable=False),
        sa.Column("starts_on", sa.Date(), nullable=False),
        sa.Column("hours_per_week", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_reservation_project_id_project")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_reservation_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reservation")),
        sa.UniqueConstraint("plan_id", name=op.f("uq_reservation_plan_id")),
    )
    with op.batch_alter_table("reservation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_reservation_project_id"), ["project_id"], unique=False)

    op.create_table(
        "spend_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("source_type", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("plan_id", sa.Integer(), nullable=True),
        sa.Column("local_day", sa.Date(), nullable=False),
        sa.Column("list_amount", sa.BigInteger(), nullable=False),
        sa.Column("billed_amount", sa.BigInteger(), nullable=False),
        sa.Column("instance_us", sa.BigInteger(), nullable=False),
        sa.Column("gpu_us", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_spend_entry_project_id_project")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_spend_entry_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_spend_entry")),
        sa.UniqueConstraint(
            "source_type",
            "source_id",
            "local_day",
            name=op.f("uq_spend_entry_source_type_source_id_local_day"),
        ),
    )
    with op.batch_alter_table("spend_entry", schema=None) as batch_op:
        batch_op.create_index("ix_spend_entry_plan", ["plan_id"], unique=False)
        batch_op.create_index("ix_spend_entry_project_day", ["project_id", "local_day"], unique=False)

    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("external_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("plan_id", sa.Integer(), nullable=True),
        sa.Column("offer_id", sa.Integer(), nullable=True),
        sa.Column("instance", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("instance_count", sa.Integer(), nullable=False),
        sa.Column("gpu", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("gpus_per_instance", sa.String(), nullable=False),
        sa.Column("billing", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("price_per_hour", sa.BigInteger(), nullable=False),
        sa.Column("currency", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("exchange_rate", sa.String(), nullable=True),
        sa.Column("exchange_rate_day", sa.Date(), nullable=True),
        sa.Column("exchange_rate_source", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.Column("state", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("interruptions", sa.Integer(), nullable=False),
        sa.Column("lost_hours", sa.Float(), nullable=False),
        sa.Column("steps_started", sa.BigInteger(), nullable=True),
        sa.Column("steps_done", sa.BigInteger(), nullable=True),
        sa.Column("steps_total", sa.BigInteger(), nullable=True),
        sa.Column("peak_memory_bytes", sa.BigInteger(), nullable=True),
        sa.Column("tokens_per_second", sa.Float(), nullable=True),
        sa.Column("out_of_memory", sa.Boolean(), nullable=False),
        sa.Column("note", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("cost", sa.BigInteger(), nullable=False),
        sa.Column("over_budget", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["offer_id"], ["offer.id"], name=op.f("fk_run_offer_id_offer")),
        sa.ForeignKeyConstraint(["plan_id"], ["plan.id"], name=op.f("fk_run_plan_id_plan")),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_run_project_id_project")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_run_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
    )
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.create_index(
            "ix_run_instance_use",
            ["team_id", "instance", "started_at", "ended_at", "deleted_at"],
            unique=False,
        )
        batch_op.create_index("ix_run_project_started", ["project_id", "started_at"], unique=False)
        batch_op.create_index(
            "uq_run_external_id",
            ["project_id", "external_id"],
            unique=True,
            sqlite_where=sa.text("external_id IS NOT NULL"),
            postgresql_where=sa.text("external_id IS NOT NULL"),
        )


def downgrade() -> None:
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_run_external_id",
            sqlite_where=sa.text("external_id IS NOT NULL"),
            postgresql_where=sa.text("external_id IS NOT NULL"),
        )
        batch_op.drop_index("ix_run_instance_use")
        batch_op.drop_index("ix_run_project_started")

    op.drop_table("run")
    with op.batch_alter_table("spend_entry", schema=None) as batch_op:
        batch_op.drop_index("ix_spend_entry_project_day")
        batch_op.drop_index("ix_spend_entry_plan")

    op.drop_table("spend_entry")
    with op.batch_alter_table("reservation", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_reservation_project_id"))

    op.drop_table("reservation")
    with op.batch_alter_table("plan", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_plan_baseline",
            sqlite_where=sa.text("is_baseline AND deleted_at IS NULL"),
            postgresql_where=sa.text("is_baseline AND deleted_at IS NULL"),
        )
        batch_op.drop_index(batch_op.f("ix_plan_project_id"))

    op.drop_table("plan")
    with op.batch_alter_table("charge", schema=None) as batch_op:
        batch_op.drop_index("ix_charge_project_start")

    op.drop_table("charge")
    with op.batch_alter_table("budget_change", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_budget_change_project_id"))

    op.drop_table("budget_change")
    with op.batch_alter_table("audit_event", schema=None) as batch_op:
        batch_op.drop_index("ix_audit_event_subject")

    op.drop_table("audit_event")
    op.drop_table("rate")
    with op.batch_alter_table("project", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_project_team_name_alive",
            sqlite_where=sa.text("deleted_at IS NULL"),
            postgresql_where=sa.text("deleted_at IS NULL"),
        )
        batch_op.drop_index(batch_op.f("ix_project_team_id"))

    op.drop_table("project")
    with op.batch_alter_table("offer", schema=None) as batch_op:
        batch_op.drop_index("ix_offer_team_gpu")

    op.drop_table("offer")
    with op.batch_alter_table("membership", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_membership_user_id"))
        batch_op.drop_index(batch_op.f("ix_membership_team_id"))

    op.drop_table("membership")
    with op.batch_alter_table("browser_session", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_browser_session_user_id"))
        batch_op.drop_index(batch_op.f("ix_browser_session_team_id"))

    op.drop_table("browser_session")
    with op.batch_alter_table("api_token", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_api_token_team_id"))

    op.drop_table("api_token")
    op.drop_table("user")
    op.drop_table("team")
    op.drop_table("setup_link")
    op.drop_table("idempotency_record")
    op.drop_table("catalog_state")
