"""Parameter types of the routes of vouchers."""

from typing import Annotated

from fastapi import Depends

from app.accounts.access import PathId, Viewer
from app.catalog.models import Voucher
from app.catalog.vouchers.service import get_voucher, get_voucher_to_change, restore_voucher
from app.db import ReadSession, WriteSession


def _seen(voucher_id: PathId, actor: Viewer, session: ReadSession) -> Voucher:
    return get_voucher(session, actor.team_id, voucher_id)


def _to_edit(voucher: Annotated[Voucher, Depends(_seen)], actor: Viewer) -> Voucher:
    actor.require("editor")
    return voucher


def _to_change(voucher_id: PathId, actor: Viewer, session: WriteSession) -> Voucher:
    return get_voucher_to_change(session, actor, voucher_id)


def _restored(voucher_id: PathId, actor: Viewer, session: WriteSession) -> Voucher:
    return restore_voucher(session, actor, voucher_id)


SeenVoucher = Annotated[Voucher, Depends(_seen)]
# For the form that is filled with it.
VoucherToEdit = Annotated[Voucher, Depends(_to_edit)]
# In the writing session and locked, so that what is changed is what was looked up.
VoucherToChange = Annotated[Voucher, Depends(_to_change)]
RestoredVoucher = Annotated[Voucher, Depends(_restored)]
