"""What requests and forms of hosted prices hold."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from app.catalog.hosted.packaged import HostedMethod
from app.fields import CurrencyField, Day, Input, Label, LongText, Name, PriceField, PriceInput

LARGEST_PARAMETERS = 10**15
# Of a million tokens, in any currency; beyond it a typing mistake.
LARGEST_PRICE = 1_000_000

Parameters = Annotated[int, Field(ge=1, le=LARGEST_PARAMETERS)]


class TokenPriceInput(Input):
    """What a million tokens cost."""

    amount: Annotated[PriceField, Field(le=Decimal(LARGEST_PRICE))]
    currency: CurrencyField


class HostedTerms(Input):
    """What a price may leave unsaid; without a model and a size it is one of any model."""

    model: Name | None = Field(default=None, description="A model of the catalogue.", examples=["llama-7b"])
    smallest_parameters: Parameters | None = None
    largest_parameters: Parameters | None = Field(default=None, description="The largest that still belongs to it.")
    method: HostedMethod | None = Field(default=None, description="Null: the price is that of either.")
    minimum_charge: PriceInput | None = Field(default=None, description="In the currency of the price.")
    as_of: Day | None = None


class HostedInput(HostedTerms):
    """A team's own price of hosted fine-tuning."""

    provider: Name
    service: Name
    price_per_million_tokens: TokenPriceInput
    source: Label = ""
    note: LongText = ""


class HostedChange(HostedTerms):
    """Fields of a hosted price to change; those left out stay."""

    provider: Name | None = None
    service: Name | None = None
    price_per_million_tokens: TokenPriceInput | None = None
    source: Label | None = None
    note: LongText | None = None

    @field_validator("provider", "service", "price_per_million_tokens", "source", "note", mode="before")
    @classmethod
    def _not_null(cls, value: object) -> object:
        # Only the terms can be taken away; a default is not validated, so None here was sent.
        if value is None:
            raise PydanticCustomError("missing", "This field is required.")
        return value
