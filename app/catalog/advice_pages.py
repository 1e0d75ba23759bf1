"""The page of checked advice."""

from fastapi import APIRouter, Request, Response

from app.accounts.access import Viewer
from app.catalog.advice import list_advice
from app.i18n import BABEL_LOCALE
from app.web.language import language_of
from app.web.render import render

router = APIRouter()


@router.get("/catalog/advice", name="advice_page")
def advice_page(request: Request, _actor: Viewer) -> Response:
    """Each claim with its verdict, evidence and date."""
    locale = BABEL_LOCALE[language_of(request)]
    return render(request, "catalog/advice.html", nav="catalog", tab="advice", advice=list_advice(), locale=locale)
