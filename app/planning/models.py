"""Tables of plans and of their versions."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from app.db import ExactDecimal, MicroUnits, UtcInstant

_BASELINE = text("is_baseline AND deleted_at IS NULL")


class PlanState(SQLModel):
    """What was planned: inputs, result, offer, price and estimator version as they were."""

    name: str
    # The estimate's body as it was sent, and the answer as it was given.
    request: dict[str, Any] = Field(sa_type=JSON)
    result: dict[str, Any] = Field(sa_type=JSON)
    estimator_version: str
    # The offer as it was then: provider, instance type, GPU, region, source, as-of date.
    offer: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    price_per_hour: Decimal | None = Field(default=None, sa_type=MicroUnits)
    currency: str | None = None
    billing: str | None = None
    exchange_rate: Decimal | None = Field(default=None, sa_type=ExactDecimal)
    exchange_rate_day: date | None = None
    exchange_rate_source: str | None = None
    starts_on: date
    hours_per_week: float
    planned_hours: float | None = None
    # In the project's currency.
    planned_cost: Decimal | None = Field(default=None, sa_type=MicroUnits)


class Plan(PlanState, table=True):
    """A saved estimate with a schedule."""

    __tablename__ = "plan"
    __table_args__ = (
        Index(
            "uq_plan_baseline", "project_id", unique=True, sqlite_where=_BASELINE, postgresql_where=_BASELINE
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    project_id: int = Field(foreign_key="project.id", index=True)
    offer_id: int | None = Field(default=None, foreign_key="offer.id")
    is_baseline: bool = False
    approved_at: datetime | None = Field(default=None, sa_type=UtcInstant)
    approved_by: str | None = None
    created_at: datetime = Field(sa_type=UtcInstant)
    created_by: str
    deleted_at: datetime | None = Field(default=None, sa_type=UtcInstant)
    version: int = 1


class PlanVersion(PlanState, table=True):
    """A plan as it was saved at one time; the newest is the plan as it stands. ``number``: the plan's version then."""

    __tablename__ = "plan_version"
    __table_args__ = (UniqueConstraint("plan_id", "number"),)

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    plan_id: int = Field(foreign_key="plan.id", index=True)
    number: int
    reason: str
    saved_at: datetime = Field(sa_type=UtcInstant)
    saved_by: str
