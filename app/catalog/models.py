"""Tables of offers, their earlier prices, vouchers, hosted fine-tuning by the token, and exchange rates."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Index, UniqueConstraint
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
    # The terms, which `terms.terms_of` brings together with the price.
    billing_minimum_minutes: int | None = None
    billing_granularity_minutes: int | None = None
    # [{"from_hours": 96, "percent": 50}]: from so many continuous hours on, so many percent of the price.
    tiers: list[dict[str, Any]] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    discount_percent: Decimal | None = Field(default=None, sa_type=ExactDecimal)
    discount_valid_from: date | None = None
    discount_valid_until: date | None = None
    free_trial_hours: Decimal | None = Field(default=None, sa_type=ExactDecimal)
    availability: str | None = None
    availability_on: date | None = None
    availability_note: str | None = None
    created_at: datetime = Field(sa_type=UtcInstant)
    deleted_at: datetime | None = Field(default=None, sa_type=UtcInstant)
    version: int = 1


class OfferPrice(SQLModel, table=True):
    """What one of a team's own offers cost from one change to the next; never changed or deleted."""

    __tablename__ = "offer_price"

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    offer_id: int = Field(foreign_key="offer.id", index=True)
    price_per_hour: Decimal = Field(sa_type=MicroUnits)
    currency: str
    as_of: date | None = None
    source: str = ""
    changed_at: datetime = Field(sa_type=UtcInstant)
    changed_by: str


class Voucher(SQLModel, table=True):
    """Money of a provider that a team may spend within some days; what is left of it, its uses say."""

    __tablename__ = "voucher"

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id", index=True)
    # Empty: at any provider.
    provider: str = ""
    amount: Decimal = Field(sa_type=MicroUnits)
    currency: str
    valid_from: date | None = None
    valid_until: date | None = None
    note: str = ""
    created_at: datetime = Field(sa_type=UtcInstant)
    deleted_at: datetime | None = Field(default=None, sa_type=UtcInstant)
    version: int = 1


class VoucherUse(SQLModel, table=True):
    """What a charge, a credit, has taken of a voucher, nothing while it is deleted; tracking writes it."""

    __tablename__ = "voucher_use"

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    voucher_id: int = Field(foreign_key="voucher.id", index=True)
    charge_id: int = Field(unique=True)
    amount: Decimal = Field(sa_type=MicroUnits)


class HostedPrice(SQLModel, table=True):
    """What a provider that trains for others takes for a million tokens; a team's own entry."""

    __tablename__ = "hosted_price"

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id", index=True)
    provider: str
    # What the provider calls it: a model, or a class of models.
    service: str
    # One model of the catalogue, or any of a size; both None: any model at all.
    model: str | None = None
    smallest_parameters: int | None = Field(default=None, sa_type=BigInteger)
    largest_parameters: int | None = Field(default=None, sa_type=BigInteger)
    # ``full`` or ``lora``; None: either.
    method: str | None = None
    price_per_million_tokens: Decimal = Field(sa_type=MicroUnits)
    currency: str
    # Charged even when the tokens come to less.
    minimum_charge: Decimal | None = Field(default=None, sa_type=MicroUnits)
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
