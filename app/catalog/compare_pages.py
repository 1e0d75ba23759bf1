"""The page that sets up to six offers side by side."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlmodel import Session

from app.accounts.access import Actor, Viewer
from app.catalog.offer_list import locale_of
from app.catalog.offer_table import OfferRow, row_of
from app.catalog.service import get_offer
from app.db import ReadSession
from app.errors import NotFound
from app.fields import LARGEST_ID
from app.web.render import render

router = APIRouter()

MOST_OFFERS = 6


@router.get("/catalog/compare", name="compare_offers_page")
def compare_offers_page(
    request: Request, actor: Viewer, session: ReadSession, ids: Annotated[Sequence[str], Query()] = ()
) -> Response:
    """The offers of the address, ``ids=1,2`` or ``ids=1&ids=2``; those beyond six are left out and the page says so."""
    wanted = _ids(ids)
    rows = [_row(session, actor, offer_id, locale_of(request)) for offer_id in wanted[:MOST_OFFERS]]
    return render(
        request,
        "catalog/compare.html",
        nav="catalog",
        tab="offers",
        rows=rows,
        most_offers=MOST_OFFERS,
        left_out=len(wanted) - len(rows),
    )


def _ids(texts: Sequence[str]) -> list[int]:
    """Each once, in the order of the address. Raises NotFound for what is no id."""
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if any(not (part.isascii() and part.isdecimal() and 1 <= int(part[:20]) <= LARGEST_ID) for part in parts):
        raise NotFound
    return list(dict.fromkeys(int(part) for part in parts))


def _row(session: Session, actor: Actor, offer_id: int, locale: str) -> OfferRow:
    return row_of(get_offer(session, actor.team_id, offer_id), actor.today, locale)
