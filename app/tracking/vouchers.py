"""What a credit takes of a voucher. The catalogue keeps it and counts what is left; the rules stand here."""

from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal

from sqlmodel import Session

from app.accounts.access import Actor
from app.catalog.models import Voucher, VoucherUse
from app.catalog.vouchers.service import list_vouchers, lock_voucher
from app.catalog.vouchers.uses import (
    Balance,
    balances_of,
    find_use,
    forget_use,
    is_valid_on,
    record_use,
    vouchers_used,
)
from app.errors import FieldError, InvalidInput
from app.i18n import Message
from app.money import ZERO, format_unit_price
from app.projects.models import Project
from app.time import local_day
from app.tracking.inputs import ChargeInput
from app.tracking.models import Charge


def voucher_id_of(session: Session, charge: Charge) -> int | None:
    """The voucher that a charge names; a deleted one still knows it."""
    use = _use_of(session, charge)
    return None if use is None else use.voucher_id


def vouchers_of(session: Session, project: Project, charges: Iterable[Charge]) -> dict[int, Voucher]:
    """The vouchers that charges of the project name, by the charge's id, in one query."""
    return vouchers_used(session, project.team_id, [charge.id or 0 for charge in charges])


def vouchers_to_choose(session: Session, actor: Actor, charge: Charge | None = None) -> list[Balance]:
    """What the form of a charge offers: vouchers with something left, and whatever the charge has already."""
    own = {} if charge is None else vouchers_used(session, actor.team_id, [charge.id or 0])
    own_ids = {voucher.id for voucher in own.values()}
    offered = [
        balance
        for balance in list_vouchers(session, actor.team_id)
        if balance.remaining > 0 and balance.voucher.id not in own_ids
    ]
    return [*balances_of(session, actor.team_id, list(own.values())), *offered]


def check_voucher(session: Session, actor: Actor, wanted: ChargeInput, charge: Charge | None = None) -> None:
    """Holds the voucher that ``wanted`` names until the transaction ends; ``charge`` is what is changed to it.

    A charge keeps what it has taken, whatever became of the voucher since, as long as nothing of it is changed. Raises
    InvalidInput where the voucher cannot pay.
    """
    if wanted.voucher_id is None:
        return
    if wanted.category != "credit":
        raise InvalidInput.at("voucher_id", Message("Only a credit is paid from a voucher."))
    use = None if charge is None else _use_of(session, charge)
    if charge is not None and use is not None and _is_same(use, charge, wanted, actor):
        return
    balance = lock_voucher(session, actor.team_id, wanted.voucher_id)
    had = use if use is not None and use.voucher_id == wanted.voucher_id else None
    if balance is None or (balance.voucher.deleted_at is not None and had is None):
        raise InvalidInput.at("voucher_id", Message("There is no such voucher."))
    left = balance.remaining + (ZERO if had is None else had.amount)
    errors = list(_faults(balance, left, wanted, local_day(wanted.period_start, actor.zone)))
    if errors:
        raise InvalidInput(*errors)


def keep_voucher_use(session: Session, charge: Charge, voucher_id: int | None) -> None:
    """What the charge takes of the voucher, after ``check_voucher``: nothing once it is deleted."""
    if voucher_id is None:
        forget_use(session, charge.team_id, charge.id or 0)
        return
    amount = -charge.amount if charge.deleted_at is None else ZERO
    record_use(session, charge.team_id, charge.id or 0, voucher_id, amount)


def _use_of(session: Session, charge: Charge) -> VoucherUse | None:
    return find_use(session, charge.team_id, charge.id or 0)


def _is_same(use: VoucherUse, charge: Charge, wanted: ChargeInput, actor: Actor) -> bool:
    days = [local_day(instant, actor.zone) for instant in (charge.period_start, wanted.period_start)]
    had = (use.voucher_id, use.amount, charge.currency, days[0])
    return had == (wanted.voucher_id, -wanted.amount.amount, wanted.amount.currency, days[1])


def _faults(balance: Balance, left: Decimal, wanted: ChargeInput, day: date) -> Iterator[FieldError]:
    voucher = balance.voucher
    if not is_valid_on(voucher, day):
        yield FieldError("voucher_id", Message("This voucher is not valid on %(day)s.", day=day))
    if wanted.amount.currency != voucher.currency:
        yield FieldError("voucher_id", Message("This voucher is in %(currency)s.", currency=voucher.currency))
    elif -wanted.amount.amount > left:
        shown = f"{voucher.currency} {format_unit_price(left, voucher.currency)}"
        yield FieldError("amount.amount", Message("This voucher has only %(left)s left.", left=shown))
