"""Tables of projects, budgets and the ledger."""

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import JSON, BigInteger, Column, Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from app.db import MicroUnits, UtcInstant

_ALIVE = text("deleted_at IS NULL")


class Project(SQLModel, table=True):
    """One fine-tuning goal with a budget."""

    __tablename__ = "project"
    __table_args__ = (
        # A deleted project's name is free again.
        Index(
            "uq_project_team_name_alive",
            "team_id",
            "name",
            unique=True,
            sqlite_where=_ALIVE,
            postgresql_where=_ALIVE,
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id", index=True)
    name: str
    goal: str = ""
    currency: str
    target: Decimal | None = Field(default=None, sa_type=MicroUnits)
    alert_thresholds: list[int] = Field(
        default_factory=lambda: [50, 80, 100], sa_column=Column(JSON, nullable=False)
    )
    created_at: datetime = Field(sa_type=UtcInstant)
    deleted_at: datetime | None = Field(default=None, sa_type=UtcInstant)
    version: int = 1


class BudgetChange(SQLModel, table=True):
    """A project's budget from an instant on; the newest one is in force."""

    __tablename__ = "budget_change"

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    project_id: int = Field(foreign_key="project.id", index=True)
    amount: Decimal = Field(sa_type=MicroUnits)
    period: str
    starts_on: date
    ends_on: date | None = None
    counts: str
    block_when_spent: bool
    reason: str = ""
    changed_by: str
    effective_at: datetime = Field(sa_type=UtcInstant)


class SpendEntry(SQLModel, table=True):
    """What one source (a run, a charge) spent on one local day, in the project's currency."""

    __tablename__ = "spend_entry"
    __table_args__ = (
        UniqueConstraint("source_type", "source_id", "local_day"),
        Index("ix_spend_entry_project_day", "project_id", "local_day"),
        Index("ix_spend_entry_plan", "plan_id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    project_id: int = Field(foreign_key="project.id")
    source_type: str
    source_id: int
    plan_id: int | None = None
    local_day: date
    list_amount: Decimal = Field(sa_type=MicroUnits)
    billed_amount: Decimal = Field(sa_type=MicroUnits)
    # Instance time and GPU time in whole microseconds, so that sums are exact.
    instance_us: int = Field(sa_type=BigInteger)
    gpu_us: int = Field(sa_type=BigInteger)


class Reservation(SQLModel, table=True):
    """What an approved plan sets aside of the budget, and how it is spread over days."""

    __tablename__ = "reservation"

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    project_id: int = Field(foreign_key="project.id", index=True)
    plan_id: int = Field(unique=True)
    planned_cost: Decimal = Field(sa_type=MicroUnits)
    planned_hours: float
    starts_on: date
    hours_per_week: float
