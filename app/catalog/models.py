"""Tables of offers and exchange rates."""

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from app.db import ExactDecimal, MicroUnits, UtcInstant


class Offer(SQLModel, table=True):
    """An instance type at a price in a region under one billing mode; without a team it is the packaged catalogue's."""

    __tablename__ = "offer"
    __table_args__ = (Index("ix_offer_team_gpu", "team_id", "gpu"),)

    id: int | None = Field(default=None, primary_key=True)
    team_id: int | None = Field(default=None, foreign_key="team.id")
    packaged_id: int | None = Field(default=None, unique=True)
    provider: str
    instance_type: str
    gpu: str
    gpu_label: str = ""
    # A slice of a card is a fraction.
    gpu_count: Decimal = Field(sa_type=ExactDecimal)
    region: str
    billing: str
    currency: str
    price_per_hour: Decimal | None = Field(default=None, sa_type=MicroUnits)
    as_of: date | None = None
    source: str = ""
    note: str = ""
    created_at: datetime = Field(sa_type=UtcInstant)
    deleted_at: datetime | None = Field(default=None, sa_type=UtcInstant)
    version: int = 1


class Rate(SQLModel, table=True):
    """A team's dated exchange rate: one unit of ``from_currency`` is ``rate`` units of ``to_currency``."""

    __tablename__ = "rate"
    __table_args__ = (UniqueConstraint("team_id", "from_currency", "to_currency", "day"),)

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    from_currency: str
    to_currency: str
    day: date
    rate: Decimal = Field(sa_type=ExactDecimal)
    source: str = ""
    created_at: datetime = Field(sa_type=UtcInstant)


class CatalogState(SQLModel, table=True):
    """The digest of the packaged offers that the database holds, so that a start with nothing new does nothing."""

    __tablename__ = "catalog_state"

    id: int = Field(default=1, primary_key=True)
    offers_digest: str
