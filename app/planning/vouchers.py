"""What a voucher of the team can pay of a plan."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sqlmodel import Session

from app.catalog.models import Voucher
from app.catalog.pricing import Pricing, price_run
from app.catalog.vouchers.service import list_vouchers
from app.catalog.vouchers.uses import is_valid_on
from app.money import Money
from app.planning.models import Plan
from app.time import microseconds_of_hours


@dataclass(frozen=True, slots=True)
class VoucherShare:
    """So much of a plan, and the voucher's last day; None where it has none."""

    money: Money
    until: date | None


def find_voucher_share(session: Session, plan: Plan) -> VoucherShare | None:
    """Of the vouchers for the plan's offer that are valid on the day it starts, the one that pays most of it; of
    equals the one that ends first.
    """
    cost = _cost(plan)
    if plan.offer is None or plan.currency is None or not cost:
        return None
    shares = [
        VoucherShare(Money(min(balance.remaining, cost), plan.currency), balance.voucher.valid_until)
        for balance in list_vouchers(session, plan.team_id)
        if balance.remaining > 0 and _fits(balance.voucher, plan, plan.offer["provider"])
    ]
    return max(shares, key=lambda share: share.money.amount, default=None)


def _fits(voucher: Voucher, plan: Plan, provider: str) -> bool:
    is_there = voucher.provider == "" or voucher.provider.lower() == provider.lower()
    return is_there and voucher.currency == plan.currency and is_valid_on(voucher, plan.starts_on)


def _cost(plan: Plan) -> Decimal | None:
    """The planned cost in the currency of the price, as the provider asks for it."""
    if plan.price_per_hour is None or plan.planned_hours is None:
        return None
    return price_run(Pricing(plan.price_per_hour), microseconds_of_hours(plan.planned_hours), 1)
