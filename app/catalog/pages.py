"""Pages of the catalogue: GPUs, models, exchange rates, and the offers of the modules beside it."""

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError
from sqlmodel import Session

from app.accounts.access import Actor, Editor, Viewer
from app.catalog import compare_pages, import_pages, offer_pages, rates
from app.catalog.gpus import list_gpus
from app.catalog.inputs import RateInput
from app.catalog.known_models import list_models
from app.catalog.parameters import parameter_counts
from app.db import ReadSession, WriteSession
from app.errors import InvalidInput
from app.fields import field_errors
from app.i18n import Message
from app.money import CURRENCIES
from app.web.flash import flash
from app.web.forms import Form, FormValues, form_of_input
from app.web.render import render, see_other

RATE = "rate"

router = APIRouter()
router.include_router(compare_pages.router)
# Before the offers: its path would read as an offer's.
router.include_router(import_pages.router)
router.include_router(offer_pages.router)


@router.get("/catalog/gpus", name="catalog_gpus_page")
def catalog_gpus_page(request: Request, _actor: Viewer) -> Response:
    """The GPUs with their figures and sources."""
    return render(request, "catalog/gpus.html", nav="catalog", tab="gpus", gpus=list_gpus())


@router.get("/catalog/models", name="catalog_models_page")
def catalog_models_page(request: Request, _actor: Viewer) -> Response:
    """The models that can be planned by name."""
    return render(
        request,
        "catalog/models.html",
        nav="catalog",
        tab="models",
        models=list_models(),
        parameters=parameter_counts(),
    )


@router.get("/catalog/rates", name="catalog_rates_page")
def catalog_rates_page(request: Request, actor: Viewer, session: ReadSession) -> Response:
    """The team's exchange rates and the form for another."""
    form = Form({"from": "USD", "to": actor.team.currency, "date": actor.today.isoformat()}, id=RATE)
    return _rates_page(request, actor, session, form)


@router.post("/catalog/rates", name="save_rate_form")
def save_rate_form(request: Request, actor: Editor, session: WriteSession, values: FormValues) -> Response:
    """Stores a rate; wrong fields are shown in the form."""
    try:
        rate, _is_new = rates.save_rate(session, actor, _read_rate(values))
    except InvalidInput as error:
        return _rates_page(request, actor, session, form_of_input(request, values, error, RATE), status=422)
    response = see_other(request, "catalog_rates_page")
    pair = f"{rate.from_currency}/{rate.to_currency}"
    flash(request, response, "success", Message("The rate %(pair)s was saved.", pair=pair))
    return response


def _rates_page(request: Request, actor: Actor, session: Session, form: Form, status: int = 200) -> Response:
    return render(
        request,
        "catalog/rates.html",
        status=status,
        nav="catalog",
        tab="rates",
        rates=rates.list_rates(session, actor.team_id),
        currencies=[(code, code) for code in sorted(CURRENCIES)],
        form=form,
    )


def _read_rate(values: Mapping[str, str]) -> RateInput:
    try:
        return RateInput.model_validate({name: text.strip() for name, text in values.items() if text.strip()})
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error
