"""How vouchers stand in JSON answers."""

from datetime import date

from pydantic import Field

from app.api.answers import Answer, MoneyAnswer
from app.catalog.vouchers.uses import Balance, VoucherState


class VoucherAnswer(Answer):
    """A voucher and what is left of it."""

    id: int
    provider: str = Field(description="Empty: at any provider.", examples=["alibaba"])
    amount: MoneyAnswer
    remaining: MoneyAnswer = Field(description="The amount less what credits have taken.")
    valid_from: date | None
    valid_until: date | None = Field(description="The last day on which it is valid.")
    state: VoucherState = Field(description="Today; `expires_soon` is within 14 days.")
    note: str

    @classmethod
    def of(cls, balance: Balance, today: date) -> "VoucherAnswer":
        """The voucher as it is seen on ``today``."""
        voucher = balance.voucher
        return cls(
            id=voucher.id or 0,
            provider=voucher.provider,
            amount=MoneyAnswer.of(voucher.amount, voucher.currency),
            remaining=MoneyAnswer.of(balance.remaining, voucher.currency),
            valid_from=voucher.valid_from,
            valid_until=voucher.valid_until,
            state=balance.state_on(today),
            note=voucher.note,
        )
