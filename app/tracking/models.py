"""Tables of runs and charges."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Index, text
from sqlmodel import Field, SQLModel

from app.db import ExactDecimal, MicroUnits, UtcInstant

_NAMED = text("external_id IS NOT NULL")


class Run(SQLModel, table=True):
    """One stretch of training on an instance, at the price it was logged at."""

    __tablename__ = "run"
    __table_args__ = (
        # A deleted run keeps its external id: putting it again revives it.
        Index(
            "uq_run_external_id",
            "project_id",
            "external_id",
            unique=True,
            sqlite_where=_NAMED,
            postgresql_where=_NAMED,
        ),
        Index("ix_run_project_started", "project_id", "started_at"),
        # Holds all that overlaps are found by.
        Index("ix_run_instance_use", "team_id", "instance", "started_at", "ended_at", "deleted_at"),
    )

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    project_id: int = Field(foreign_key="project.id")
    name: str
    external_id: str | None = None
    plan_id: int | None = Field(default=None, foreign_key="plan.id")
    offer_id: int | None = Field(default=None, foreign_key="offer.id")
    instance: str = ""
    instance_count: int = 1
    gpu: str | None = None
    # A slice of a card is a fraction.
    gpus_per_instance: Decimal = Field(default=Decimal(1), sa_type=ExactDecimal)
    billing: str
    price_per_hour: Decimal = Field(sa_type=MicroUnits)
    currency: str
    # What the offer said beside its price when the run was logged (``catalog.terms``); None where it said nothing.
    price_terms: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    exchange_rate: Decimal | None = Field(default=None, sa_type=ExactDecimal)
    exchange_rate_day: date | None = None
    exchange_rate_source: str | None = None
    started_at: datetime = Field(sa_type=UtcInstant)
    ended_at: datetime | None = Field(default=None, sa_type=UtcInstant)
    state: str
    interruptions: int = 0
    lost_hours: float = 0.0
    steps_started: int | None = Field(default=None, sa_type=BigInteger)
    steps_done: int | None = Field(default=None, sa_type=BigInteger)
    steps_total: int | None = Field(default=None, sa_type=BigInteger)
    peak_memory_bytes: int | None = Field(default=None, sa_type=BigInteger)
    tokens_per_second: float | None = None
    out_of_memory: bool = False
    note: str = ""
    # In the run's own currency: price_run() of its hours.
    cost: Decimal = Field(sa_type=MicroUnits)
    over_budget: bool = False
    created_at: datetime = Field(sa_type=UtcInstant)
    deleted_at: datetime | None = Field(default=None, sa_type=UtcInstant)
    version: int = 1


class Charge(SQLModel, table=True):
    """An amount of money that is not instance time: storage, network, credits, taxes."""

    __tablename__ = "charge"
    __table_args__ = (Index("ix_charge_project_start", "project_id", "period_start"),)

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    project_id: int = Field(foreign_key="project.id")
    category: str
    service: str
    amount: Decimal = Field(sa_type=MicroUnits)
    list_amount: Decimal = Field(sa_type=MicroUnits)
    currency: str
    exchange_rate: Decimal | None = Field(default=None, sa_type=ExactDecimal)
    exchange_rate_day: date | None = None
    exchange_rate_source: str | None = None
    period_start: datetime = Field(sa_type=UtcInstant)
    period_end: datetime = Field(sa_type=UtcInstant)
    external_id: str | None = None
    note: str = ""
    over_budget: bool = False
    created_at: datetime = Field(sa_type=UtcInstant)
    deleted_at: datetime | None = Field(default=None, sa_type=UtcInstant)
    version: int = 1
