"""A team's vouchers: who may add, change and delete them, and which one a charge may take from."""

from collections.abc import Mapping
from typing import Any

from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.api.pagination import Page, PageRequest, page_of_query
from app.catalog.models import Voucher
from app.catalog.vouchers.inputs import VoucherChange, VoucherInput
from app.catalog.vouchers.uses import Balance, balances_of
from app.errors import FieldError, InvalidInput, NotFound
from app.i18n import Message
from app.money import format_unit_price
from app.versions import Precondition


def _all_vouchers(team_id: int) -> SelectOfScalar[Voucher]:
    return select(Voucher).where(col(Voucher.team_id) == team_id)


def _live_vouchers(team_id: int) -> SelectOfScalar[Voucher]:
    """The team's vouchers without the deleted ones."""
    return _all_vouchers(team_id).where(col(Voucher.deleted_at).is_(None))


def list_vouchers_page(session: Session, team_id: int, page: PageRequest) -> Page[Balance]:
    """A page of the team's vouchers, by id."""
    found = page_of_query(session, _live_vouchers(team_id), col(Voucher.id), page)
    return Page(balances_of(session, team_id, found.items), found.next_cursor)


def list_vouchers(session: Session, team_id: int) -> list[Balance]:
    """The team's vouchers: those that end first stand first, those without an end last."""
    order = (col(Voucher.valid_until).is_(None), col(Voucher.valid_until), col(Voucher.id))
    return balances_of(session, team_id, session.exec(_live_vouchers(team_id).order_by(*order)).all())


def get_voucher(session: Session, team_id: int, voucher_id: int) -> Voucher:
    """One of the team's vouchers. Raises NotFound, for another team's alike."""
    return _found(session.exec(_live_vouchers(team_id).where(col(Voucher.id) == voucher_id)).first())


def get_voucher_to_change(session: Session, actor: Actor, voucher_id: int) -> Voucher:
    """One of the team's vouchers, locked for a change. Raises NotFound, then Forbidden for the role."""
    statement = _live_vouchers(actor.team_id).where(col(Voucher.id) == voucher_id)
    voucher = _found(session.exec(statement.with_for_update()).first())
    actor.require("editor")
    return voucher


def lock_voucher(session: Session, team_id: int, voucher_id: int) -> Balance | None:
    """The team's voucher, deleted or not, held until the transaction ends, so that what is taken of it is taken one
    after the other; None where the team has none of this id.
    """
    statement = _all_vouchers(team_id).where(col(Voucher.id) == voucher_id).with_for_update()
    # As it stands now, not as this session may have seen it before.
    voucher = session.exec(statement.execution_options(populate_existing=True)).first()
    return None if voucher is None else balance_of(session, voucher)


def balance_of(session: Session, voucher: Voucher) -> Balance:
    """The voucher with what has been taken of it."""
    (balance,) = balances_of(session, voucher.team_id, [voucher])
    return balance


def create_voucher(session: Session, actor: Actor, data: VoucherInput) -> Voucher:
    """Adds a voucher. Raises InvalidInput."""
    actor.require("editor")
    columns = _columns(data, exclude_unset=False)
    _check(columns)
    voucher = Voucher(team_id=actor.team_id, created_at=actor.clock(), **columns)
    session.add(voucher)
    session.flush()
    known = {name: value for name, value in columns.items() if value not in (None, "")}
    record_event(session, actor, "created", "voucher", _id(voucher), **_plain(known))
    return voucher


def change_voucher(
    session: Session, actor: Actor, voucher: Voucher, change: VoucherChange, precondition: Precondition
) -> Voucher:
    """Changes what was sent; what was taken of it stays. Raises InvalidInput, then what the precondition raises."""
    sent = _columns(change, exclude_unset=True)
    _check(voucher.model_dump() | sent)
    _check_uses(balance_of(session, voucher), sent)
    precondition.check(voucher.version)
    changed = {name: value for name, value in sent.items() if getattr(voucher, name) != value}
    if not changed:
        return voucher
    before = {name: getattr(voucher, name) for name in changed}
    for name, value in changed.items():
        setattr(voucher, name, value)
    voucher.version += 1
    session.flush()
    record_event(session, actor, "changed", "voucher", _id(voucher), before=_plain(before), after=_plain(changed))
    return voucher


def delete_voucher(session: Session, actor: Actor, voucher: Voucher, precondition: Precondition) -> None:
    """Hides a voucher; charges that have taken of it stay as they are."""
    precondition.check(voucher.version)
    voucher.deleted_at = actor.clock()
    voucher.version += 1
    session.flush()
    record_event(session, actor, "deleted", "voucher", _id(voucher))


def restore_voucher(session: Session, actor: Actor, voucher_id: int) -> Voucher:
    """Brings back a voucher that was deleted. Raises NotFound, then Forbidden."""
    statement = _all_vouchers(actor.team_id).where(
        col(Voucher.id) == voucher_id, col(Voucher.deleted_at).is_not(None)
    )
    voucher = _found(session.exec(statement.with_for_update()).first())
    actor.require("editor")
    voucher.deleted_at = None
    voucher.version += 1
    session.flush()
    record_event(session, actor, "restored", "voucher", _id(voucher))
    return voucher


def _found(voucher: Voucher | None) -> Voucher:
    if voucher is None:
        raise NotFound
    return voucher


def _id(voucher: Voucher) -> int:
    if voucher.id is None:
        raise ValueError("the voucher is not stored yet")
    return voucher.id


def _columns(data: VoucherInput, *, exclude_unset: bool) -> dict[str, Any]:
    """The columns of the fields that were sent: an amount is two of them."""
    columns = data.model_dump(exclude_unset=exclude_unset, exclude={"amount"})
    if data.amount is not None:
        columns |= {"amount": data.amount.amount, "currency": data.amount.currency}
    return columns


def _check(values: Mapping[str, Any]) -> None:
    """What holds for a voucher as it will be."""
    errors = []
    if values["amount"] <= 0:
        errors.append(FieldError("amount.amount", Message("The amount must be greater than zero.")))
    begins, ends = values["valid_from"], values["valid_until"]
    if begins and ends and ends < begins:
        errors.append(FieldError("valid_until", Message("The end lies before the beginning.")))
    if errors:
        raise InvalidInput(*errors)


def _check_uses(balance: Balance, sent: Mapping[str, Any]) -> None:
    """What was taken must still be covered by what was sent."""
    voucher = balance.voucher
    if not balance.used:
        return
    used = f"{voucher.currency} {format_unit_price(balance.used, voucher.currency)}"
    if sent.get("currency", voucher.currency) != voucher.currency:
        message = Message("%(used)s of it is used already, so its currency stays.", used=used)
        raise InvalidInput.at("amount.currency", message)
    if sent.get("amount", voucher.amount) < balance.used:
        raise InvalidInput.at("amount.amount", Message("%(used)s of it is used already.", used=used))


def _plain(values: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: None if value is None else str(value) for name, value in values.items()}
