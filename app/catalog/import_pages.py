"""The page of a price list: its preview, and bringing it in."""

import base64
import binascii
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from starlette.datastructures import UploadFile

from app.accounts.access import Editor
from app.catalog.imports import PriceListImport, import_price_list
from app.catalog.offer_list import IMPORT, TableView, offers_page
from app.catalog.price_list import LARGEST_BYTES
from app.db import WriteSession
from app.errors import InvalidInput
from app.i18n import Message
from app.web.flash import flash
from app.web.forms import form_of_input
from app.web.render import render, see_other

router = APIRouter()

# More rows are counted, not shown.
ROWS_SHOWN = 200
_ORDER = ("refused", "changed", "new", "known")


@dataclass(frozen=True, slots=True)
class _Sent:
    """The file, or what the preview carried of it; None where there is none."""

    content: bytes | None
    is_preview: bool


async def _sent(request: Request) -> _Sent:
    async with request.form() as form:
        file, carried = form.get("file"), form.get("content")
        content = None
        if isinstance(file, UploadFile) and file.filename:
            content = await file.read(LARGEST_BYTES + 1)
        elif isinstance(carried, str):
            content = _decoded(carried)
        return _Sent(content, form.get("dry_run") == "true")


def _decoded(carried: str) -> bytes | None:
    try:
        return base64.b64decode(carried, validate=True)
    except (ValueError, binascii.Error):
        return None


@router.post("/catalog/offers/import", name="import_offers_form")
def import_offers_form(
    request: Request, actor: Editor, session: WriteSession, sent: Annotated[_Sent, Depends(_sent)]
) -> Response:
    """Shows what a file would bring; from there the same file is brought in."""
    try:
        if sent.content is None:
            raise InvalidInput.at("file", Message("Choose a file."))
        made = import_price_list(session, actor, sent.content, dry_run=sent.is_preview)
    except InvalidInput as error:
        form = form_of_input(request, {}, error, IMPORT)
        return offers_page(request, actor, session, TableView(), import_form=form, status=422)
    if sent.is_preview:
        return _preview(request, made, sent.content)
    response = see_other(request, "catalog_page")
    sentence = Message("%(new)s new, %(changed)s changed, %(known)s known, %(refused)s refused.", **made.counts)
    flash(request, response, "success", sentence)
    return response


def _preview(request: Request, made: PriceListImport, content: bytes) -> Response:
    # What needs a look comes first.
    rows = sorted(made.rows, key=lambda row: _ORDER.index(row.verdict))
    return render(
        request,
        "catalog/import.html",
        nav="catalog",
        tab="offers",
        counts=made.counts,
        rows=rows[:ROWS_SHOWN],
        hidden_rows=max(0, len(rows) - ROWS_SHOWN),
        unknown_columns=made.unknown_columns,
        content=base64.b64encode(content).decode(),
    )
