"""What requests and forms of the catalogue hold."""

import re
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator
from pydantic_core import PydanticCustomError

from app.catalog.packaged_offers import Billing
from app.fields import CurrencyField, Day, Input, Label, LongText, Name, PriceInput

LARGEST_GPU_COUNT = 1024
LARGEST_MINUTES = 366 * 24 * 60
LARGEST_HOURS = 100_000
MOST_TIERS = 12

Availability = Literal["available", "scarce", "none"]

# One unit of a large currency is many of a small one, and the other way round.
_RATE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,12})?")


def _rate(value: object) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("amount_not_text", "This value is not valid.")
    if not _RATE.fullmatch(value):
        raise PydanticCustomError("amount_not_decimal", "This value is not valid.")
    return Decimal(value)


GpuCount = Annotated[float, Field(ge=0.01, le=LARGEST_GPU_COUNT)]
# An exchange rate as decimal text; services refuse zero.
RateField = Annotated[
    Decimal, BeforeValidator(_rate), WithJsonSchema({"type": "string", "examples": ["7.10"]})
]


Minutes = Annotated[int, Field(ge=1, le=LARGEST_MINUTES)]
Hours = Annotated[float, Field(ge=0.01, le=LARGEST_HOURS)]
Percent = Annotated[float, Field(ge=0, le=100)]


class TierInput(Input):
    """From so many continuous hours on, an hour costs so many percent of the price."""

    from_hours: Hours = Field(examples=[96])
    percent: Percent = Field(examples=[50])


class OfferTerms(Input):
    """What an offer says beside its price; null where it says nothing."""

    billing_minimum_minutes: Minutes | None = Field(default=None, description="Billed even when less was used.")
    billing_granularity_minutes: Minutes | None = Field(default=None, description="Billed in whole multiples of it.")
    tiers: Annotated[list[TierInput], Field(max_length=MOST_TIERS)] | None = None
    discount_percent: Annotated[float, Field(gt=0, lt=100)] | None = None
    discount_valid_from: Day | None = None
    discount_valid_until: Day | None = Field(default=None, description="The last day of the discount.")
    free_trial_hours: Hours | None = None
    availability: Availability | None = None
    availability_on: Day | None = Field(default=None, description="The day on which it was seen.")
    availability_note: Label | None = None


class OfferInput(OfferTerms):
    """A team's own offer; the price is that of the whole instance."""

    provider: Name
    instance_type: Name
    gpu: Name
    gpu_count: GpuCount = 1
    region: Label = ""
    billing: Billing = "on_demand"
    price_per_hour: PriceInput
    as_of: Day | None = None
    source: Label = ""
    note: LongText = ""


class OfferChange(OfferTerms):
    """Fields of an offer to change; those left out stay."""

    provider: Name | None = None
    instance_type: Name | None = None
    gpu: Name | None = None
    gpu_count: GpuCount | None = None
    region: Label | None = None
    billing: Billing | None = None
    price_per_hour: PriceInput | None = None
    as_of: Day | None = None
    source: Label | None = None
    note: LongText | None = None

    @field_validator(
        "provider", "instance_type", "gpu", "gpu_count", "region", "billing", "price_per_hour", "source", "note",
        mode="before",
    )
    @classmethod
    def _not_null(cls, value: object) -> object:
        # Only the date and the terms can be taken away; a default is not validated, so None here was sent.
        if value is None:
            raise PydanticCustomError("missing", "This field is required.")
        return value


class RateInput(Input):
    """One unit of ``from`` is ``rate`` units of ``to`` on ``date``."""

    from_currency: CurrencyField = Field(alias="from")
    to_currency: CurrencyField = Field(alias="to")
    day: Day = Field(alias="date")
    rate: RateField
    source: Label = ""
