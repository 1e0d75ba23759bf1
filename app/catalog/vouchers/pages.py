"""Pages of vouchers: the table, and the forms for adding and changing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlmodel import Session

from app.accounts.access import Actor, Editor, Viewer
from app.catalog.models import Voucher
from app.catalog.names import provider_name
from app.catalog.offer_list import locale_of
from app.catalog.packaged_offers import provider_names
from app.catalog.vouchers import service
from app.catalog.vouchers.access import RestoredVoucher, SeenVoucher, VoucherToChange, VoucherToEdit
from app.catalog.vouchers.inputs import VoucherChange, VoucherInput
from app.catalog.vouchers.uses import Balance, VoucherState
from app.db import ReadSession, WriteSession
from app.errors import InvalidInput, PreconditionFailed
from app.i18n import Message
from app.money import CURRENCIES, format_unit_price
from app.versions import Precondition
from app.web.flash import flash
from app.web.forms import Form, FormValues, form_of_input, read_form
from app.web.render import render, see_other, wants_fragment

NEW = "new-voucher"

# What can be spent stands first, what is over last.
_ORDER: tuple[VoucherState, ...] = ("expires_soon", "valid", "not_yet_valid", "used_up", "expired")

router = APIRouter()


@dataclass(frozen=True, slots=True)
class VoucherRow:
    """A voucher as a line of the table shows it."""

    balance: Balance
    state: VoucherState
    provider_name: str


@router.get("/catalog/vouchers", name="vouchers_page")
def vouchers_page(request: Request, actor: Viewer, session: ReadSession) -> Response:
    """The team's vouchers and the form for another."""
    return _page(request, actor, session, Form({"amount.currency": actor.team.currency}, id=NEW))


@router.post("/catalog/vouchers", name="create_voucher_form")
def create_voucher_form(request: Request, actor: Editor, session: WriteSession, values: FormValues) -> Response:
    """Adds a voucher; wrong fields are shown in the form."""
    try:
        service.create_voucher(session, actor, read_form(VoucherInput, values, actor.zone))
    except InvalidInput as error:
        return _page(request, actor, session, form_of_input(request, values, error, NEW), status=422)
    return _done(request, Message("The voucher was added."))


@router.get("/catalog/vouchers/{voucher_id}/edit", name="edit_voucher_form")
def edit_voucher_form(request: Request, voucher: VoucherToEdit) -> Response:
    """The form of a voucher: in its row, or as a page of its own."""
    return _edit_form(request, voucher, _form_of(voucher))


@router.get("/catalog/vouchers/{voucher_id}", name="voucher_row")
def voucher_row(request: Request, actor: Viewer, session: ReadSession, voucher: SeenVoucher) -> Response:
    """The row of a voucher, after its form was given up."""
    if not wants_fragment(request):
        return see_other(request, "vouchers_page")
    return _row(request, actor, session, voucher)


@router.post("/catalog/vouchers/{voucher_id}", name="change_voucher_form")
def change_voucher_form(
    request: Request, voucher: VoucherToChange, actor: Editor, session: WriteSession, values: FormValues
) -> Response:
    """Changes a voucher."""
    try:
        change = VoucherChange.model_validate(read_form(VoucherInput, values, actor.zone).model_dump())
        service.change_voucher(session, actor, voucher, change, Precondition.from_form(values.get("version", "")))
    except (InvalidInput, PreconditionFailed) as error:
        return _refused_edit(request, voucher, values, error)
    if wants_fragment(request):
        return _row(request, actor, session, voucher)
    return _done(request, Message("The voucher was changed."))


@router.post("/catalog/vouchers/{voucher_id}/delete", name="delete_voucher_form")
def delete_voucher_form(
    request: Request, voucher: VoucherToChange, actor: Editor, session: WriteSession, values: FormValues
) -> Response:
    """Hides a voucher; it can be brought back."""
    try:
        service.delete_voucher(session, actor, voucher, Precondition.from_form(values.get("version", "")))
    except PreconditionFailed as error:
        return _refused_edit(request, voucher, values, error)
    if wants_fragment(request):
        return render(request, "catalog/voucher_gone.html", voucher=voucher)
    return _done(request, Message("The voucher was deleted."))


@router.post("/catalog/vouchers/{voucher_id}/restore", name="restore_voucher_form")
def restore_voucher_form(
    request: Request, actor: Viewer, session: WriteSession, voucher: RestoredVoucher
) -> Response:
    """Brings back a voucher that was just deleted."""
    if wants_fragment(request):
        return _row(request, actor, session, voucher)
    return see_other(request, "vouchers_page")


def values_of(voucher: Voucher) -> dict[str, str]:
    """The form's values of a voucher as it is."""
    return {
        "version": str(voucher.version),
        "provider": voucher.provider,
        "amount.amount": format_unit_price(voucher.amount, voucher.currency),
        "amount.currency": voucher.currency,
        "valid_from": "" if voucher.valid_from is None else voucher.valid_from.isoformat(),
        "valid_until": "" if voucher.valid_until is None else voucher.valid_until.isoformat(),
        "note": voucher.note,
    }


def _form_of(voucher: Voucher) -> Form:
    return Form(values_of(voucher), id=f"voucher-{voucher.id}")


def _done(request: Request, message: Message) -> Response:
    response = see_other(request, "vouchers_page")
    flash(request, response, "success", message)
    return response


def _page(request: Request, actor: Actor, session: Session, form: Form, status: int = 200) -> Response:
    rows = [_row_of(request, actor, balance) for balance in service.list_vouchers(session, actor.team_id)]
    rows.sort(key=lambda row: _ORDER.index(row.state))
    return _render(request, "catalog/vouchers.html", status=status, rows=rows, form=form)


def _row(request: Request, actor: Actor, session: Session, voucher: Voucher) -> Response:
    row = _row_of(request, actor, service.balance_of(session, voucher))
    return render(request, "catalog/voucher_row.html", row=row)


def _row_of(request: Request, actor: Actor, balance: Balance) -> VoucherRow:
    name = provider_name(balance.voucher.provider, locale_of(request))
    return VoucherRow(balance, balance.state_on(actor.today), name)


def _edit_form(
    request: Request, voucher: Voucher, form: Form, status: int = 200, problem: Message | None = None
) -> Response:
    in_row = wants_fragment(request)
    template = "catalog/voucher_form_row.html" if in_row else "catalog/voucher_edit.html"
    return _render(request, template, status=status, in_row=in_row, voucher=voucher, form=form, problem=problem)


def _refused_edit(
    request: Request, voucher: Voucher, values: Mapping[str, str], error: InvalidInput | PreconditionFailed
) -> Response:
    if isinstance(error, InvalidInput):
        form = form_of_input(request, values, error, f"voucher-{voucher.id}")
        return _edit_form(request, voucher, form, error.status)
    # Somebody else was faster: their version is shown, to be changed from there.
    return _edit_form(request, voucher, _form_of(voucher), error.status, error.message)


def _render(request: Request, template: str, status: int, **context: Any) -> Response:
    locale = locale_of(request)
    return render(
        request,
        template,
        status=status,
        nav="catalog",
        tab="vouchers",
        currencies=[(code, code) for code in sorted(CURRENCIES)],
        known_providers=[(provider, provider_name(provider, locale)) for provider in provider_names()],
        **context,
    )
