"""What requests and forms of vouchers hold."""

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from app.fields import Day, Input, Label, LongText, PriceInput


class VoucherInput(Input):
    """Money of a provider that the team may spend within some days; without days it is always valid."""

    provider: Label = Field(default="", description="Empty: at any provider.", examples=["alibaba"])
    amount: PriceInput
    valid_from: Day | None = None
    valid_until: Day | None = Field(default=None, description="The last day on which it is valid.")
    note: LongText = ""


class VoucherChange(VoucherInput):
    """Fields of a voucher to change; those left out stay."""

    provider: Label | None = None  # type: ignore[assignment]
    amount: PriceInput | None = None  # type: ignore[assignment]
    note: LongText | None = None  # type: ignore[assignment]

    @field_validator("provider", "amount", "note", mode="before")
    @classmethod
    def _not_null(cls, value: object) -> object:
        # Only the days can be taken away; a default is not validated, so None here was sent.
        if value is None:
            raise PydanticCustomError("missing", "This field is required.")
        return value
