"""JSON routes of vouchers."""

from fastapi import Request, Response
from sqlmodel import Session

from app.accounts.access import Actor, Editor, Viewer
from app.api.answers import ListAnswer, PreconditionHeader, created, with_etag
from app.api.pagination import PageParams
from app.api.routes import api_router
from app.catalog.models import Voucher
from app.catalog.vouchers import service
from app.catalog.vouchers.access import SeenVoucher, VoucherToChange
from app.catalog.vouchers.answers import VoucherAnswer
from app.catalog.vouchers.inputs import VoucherChange, VoucherInput
from app.db import ReadSession, WriteSession

router = api_router("catalog")


@router.get("/catalog/vouchers")
def read_vouchers(actor: Viewer, session: ReadSession, wanted: PageParams) -> ListAnswer[VoucherAnswer]:
    """The team's vouchers and what is left of each."""
    page = service.list_vouchers_page(session, actor.team_id, wanted)
    items = [VoucherAnswer.of(balance, actor.today) for balance in page.items]
    return ListAnswer(items=items, next_cursor=page.next_cursor)


@router.post("/catalog/vouchers", status_code=201)
def create_voucher(
    request: Request, response: Response, actor: Editor, session: WriteSession, data: VoucherInput
) -> VoucherAnswer:
    """Adds a voucher."""
    voucher = service.create_voucher(session, actor, data)
    created(response, request, "read_voucher", voucher_id=voucher.id)
    return _answer(response, actor, session, voucher)


@router.get("/catalog/vouchers/{voucher_id}")
def read_voucher(response: Response, actor: Viewer, session: ReadSession, voucher: SeenVoucher) -> VoucherAnswer:
    """One voucher."""
    return _answer(response, actor, session, voucher)


@router.patch("/catalog/vouchers/{voucher_id}")
def change_voucher(
    response: Response,
    voucher: VoucherToChange,
    actor: Editor,
    session: WriteSession,
    data: VoucherChange,
    precondition: PreconditionHeader,
) -> VoucherAnswer:
    """Changes a voucher; what credits have taken of it stays."""
    service.change_voucher(session, actor, voucher, data, precondition)
    return _answer(response, actor, session, voucher)


@router.delete("/catalog/vouchers/{voucher_id}", status_code=204)
def delete_voucher(
    voucher: VoucherToChange, actor: Editor, session: WriteSession, precondition: PreconditionHeader
) -> None:
    """Hides a voucher; credits that have taken of it stay as they are."""
    service.delete_voucher(session, actor, voucher, precondition)


def _answer(response: Response, actor: Actor, session: Session, voucher: Voucher) -> VoucherAnswer:
    with_etag(response, voucher.version)
    return VoucherAnswer.of(service.balance_of(session, voucher), actor.today)
