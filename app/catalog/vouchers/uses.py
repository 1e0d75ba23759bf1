"""What has been taken of vouchers and what is left; tracking writes it when a credit is logged, changed or deleted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

from sqlmodel import Session, col, func, select

from app.catalog.models import Voucher, VoucherUse
from app.money import ZERO

VoucherState = Literal["not_yet_valid", "valid", "expires_soon", "expired", "used_up"]

SOON = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Balance:
    """A voucher and what its uses have taken."""

    voucher: Voucher
    used: Decimal

    @property
    def remaining(self) -> Decimal:
        """What is left to take."""
        return self.voucher.amount - self.used

    @property
    def percent_left(self) -> float:
        """What is left of a hundred, for the bar."""
        return float(round(100 * self.remaining / self.voucher.amount, 2))

    def state_on(self, day: date) -> VoucherState:
        """How it stands on a day; one that is used up stays so."""
        voucher = self.voucher
        if self.remaining <= 0:
            return "used_up"
        if voucher.valid_from is not None and day < voucher.valid_from:
            return "not_yet_valid"
        if voucher.valid_until is None:
            return "valid"
        if day > voucher.valid_until:
            return "expired"
        return "expires_soon" if voucher.valid_until - day <= SOON else "valid"


def is_valid_on(voucher: Voucher, day: date) -> bool:
    """Whether the day lies within its validity, the first and the last day included."""
    begins, ends = voucher.valid_from, voucher.valid_until
    return (begins is None or begins <= day) and (ends is None or day <= ends)


def balances_of(session: Session, team_id: int, vouchers: Sequence[Voucher]) -> list[Balance]:
    """Vouchers of the team with what was taken of each; one query however many they are."""
    ids = [voucher.id or 0 for voucher in vouchers]
    used = _used_amounts(session, team_id, ids) if ids else {}
    return [Balance(voucher, used.get(voucher.id or 0, ZERO)) for voucher in vouchers]


def find_use(session: Session, team_id: int, charge_id: int) -> VoucherUse | None:
    """What the charge has taken of which voucher."""
    statement = select(VoucherUse).where(col(VoucherUse.team_id) == team_id, col(VoucherUse.charge_id) == charge_id)
    return session.exec(statement).first()


def vouchers_used(session: Session, team_id: int, charge_ids: Iterable[int]) -> dict[int, Voucher]:
    """The voucher of each of the charges that names one, in one query; deleted vouchers among them."""
    statement = (
        select(VoucherUse.charge_id, Voucher)
        .join(Voucher, col(Voucher.id) == col(VoucherUse.voucher_id))
        .where(col(VoucherUse.team_id) == team_id, col(VoucherUse.charge_id).in_(charge_ids))
    )
    return dict(session.exec(statement).all())


def record_use(session: Session, team_id: int, charge_id: int, voucher_id: int, amount: Decimal) -> None:
    """In place of what the charge had taken; a deleted charge takes zero, which keeps in mind what it named.

    The caller has checked that so much is left while it holds the voucher's row.
    """
    use = find_use(session, team_id, charge_id)
    if use is None:
        use = VoucherUse(team_id=team_id, charge_id=charge_id, voucher_id=voucher_id, amount=amount)
    use.voucher_id = voucher_id
    use.amount = amount
    session.add(use)
    session.flush()


def forget_use(session: Session, team_id: int, charge_id: int) -> None:
    """Of a charge that names no voucher."""
    use = find_use(session, team_id, charge_id)
    if use is not None:
        session.delete(use)
        session.flush()


def _used_amounts(session: Session, team_id: int, voucher_ids: Sequence[int]) -> Mapping[int, Decimal]:
    statement = (
        select(VoucherUse.voucher_id, func.sum(VoucherUse.amount))
        .where(col(VoucherUse.team_id) == team_id, col(VoucherUse.voucher_id).in_(voucher_ids))
        .group_by(col(VoucherUse.voucher_id))
    )
    return dict(session.exec(statement).all())
