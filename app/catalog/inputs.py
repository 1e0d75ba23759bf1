"""What requests and forms of the catalogue hold."""

import re
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator
from pydantic_core import PydanticCustomError

from app.catalog.packaged_offers import Billing
from app.fields import CurrencyField, Day, Input, Label, LongText, Name, PriceInput

LARGEST_GPU_COUNT = 1024

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


GpuCount = Annotated[float, Field(gt=0, le=LARGEST_GPU_COUNT)]
# An exchange rate as decimal text; services refuse zero.
RateField = Annotated[
    Decimal, BeforeValidator(_rate), WithJsonSchema({"type": "string", "examples": ["7.10"]})
]


class OfferInput(Input):
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


class OfferChange(Input):
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
        # Only the date can be taken away; a default is not validated, so None here was sent.
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


OfferSort = Literal["provider", "gpu", "price", "gpu_price", "as_of"]
