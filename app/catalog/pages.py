"""Pages of the catalogue: offers with the team's own, GPUs, models, exchange rates."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BeforeValidator, ValidationError

from app.accounts.access import Actor, Editor, Viewer
from app.catalog import rates, service
from app.catalog.access import OfferToChange, OwnOffer
from app.catalog.gpus import list_gpus
from app.catalog.inputs import OfferChange, OfferInput, RateInput
from app.catalog.known_models import list_models
from app.catalog.models import Offer
from app.catalog.offer_table import (
    SORTS,
    OfferRow,
    Sort,
    choices_of,
    page_of_rows,
    provider_name,
    row_of,
    sorted_rows,
)
from app.catalog.packaged_offers import provider_names
from app.catalog.service import OfferFilter
from app.db import ReadSession, WriteSession
from app.errors import InvalidInput, PreconditionFailed
from app.fields import field_errors
from app.i18n import BABEL_LOCALE, Message
from app.money import CURRENCIES, format_unit_price
from app.versions import Precondition
from app.web.flash import flash
from app.web.forms import Form, FormValues, form_of_input, read_form
from app.web.language import language_of
from app.web.render import render, see_other, wants_fragment

router = APIRouter()

BILLINGS = ("on_demand", "spot", "monthly")


def _number_or_first(value: object) -> object:
    # A hand-written page number leads to the first page rather than to an error.
    return value if isinstance(value, str) and value.isdecimal() and len(value) < 10 else 1


def _sort_or_first(value: object) -> object:
    return value if value in SORTS else SORTS[0]


Word = Annotated[str, Query()]
SortWord = Annotated[Sort, BeforeValidator(_sort_or_first), Query()]
PageNumber = Annotated[int, BeforeValidator(_number_or_first), Query()]


@router.get("/catalog", name="catalog_page")
def catalog_page(
    request: Request,
    actor: Viewer,
    session: ReadSession,
    gpu: Word = "",
    provider: Word = "",
    region: Word = "",
    billing: Word = "",
    sort: SortWord = "price",
    page: PageNumber = 1,
) -> Response:
    """The offers, narrowed and sorted, and the form for one of the team's own."""
    narrowed = OfferFilter(gpu, provider, region, billing)
    offers = service.list_offers(session, actor.team_id, narrowed)
    seen = service.list_offers(session, actor.team_id)
    return _offers_page(request, actor, narrowed, offers, seen, sort, page)


@router.post("/catalog/offers", name="create_offer_form")
def create_offer_form(request: Request, actor: Editor, session: WriteSession, values: FormValues) -> Response:
    """Adds an offer of the team's own; wrong fields are shown in the form."""
    try:
        offer = service.create_offer(session, actor, read_form(OfferInput, values, actor.zone))
    except InvalidInput as error:
        seen = service.list_offers(session, actor.team_id)
        form = form_of_input(request, values, error)
        return _offers_page(request, actor, OfferFilter(), seen, seen, "price", 1, form=form, status=422)
    response = see_other(request, "catalog_page")
    flash(request, response, "success", Message("The offer %(name)s was added.", name=offer.instance_type))
    return response


@router.get("/catalog/offers/{offer_id}/edit", name="edit_offer_form")
def edit_offer_form(request: Request, offer: OwnOffer) -> Response:
    """The form for one of the team's own offers: in its row, or as a page of its own."""
    return _edit_form(request, offer, Form(_values_of(offer)))


@router.get("/catalog/offers/{offer_id}", name="offer_row")
def offer_row(request: Request, actor: Viewer, offer: OwnOffer) -> Response:
    """The row of one of the team's own offers, after its form was given up."""
    if not wants_fragment(request):
        return see_other(request, "catalog_page")
    return _row(request, actor, offer)


@router.post("/catalog/offers/{offer_id}", name="change_offer_form")
def change_offer_form(
    request: Request, offer: OfferToChange, actor: Editor, session: WriteSession, values: FormValues
) -> Response:
    """Changes one of the team's own offers."""
    try:
        change = OfferChange.model_validate(read_form(OfferInput, values, actor.zone).model_dump())
        service.change_offer(session, actor, offer, change, Precondition.from_form(values.get("version", "")))
    except (InvalidInput, PreconditionFailed) as error:
        return _refused_edit(request, offer, values, error)
    if wants_fragment(request):
        return _row(request, actor, offer)
    response = see_other(request, "catalog_page")
    flash(request, response, "success", Message("The offer %(name)s was changed.", name=offer.instance_type))
    return response


@router.post("/catalog/offers/{offer_id}/delete", name="delete_offer_form")
def delete_offer_form(
    request: Request, offer: OfferToChange, actor: Editor, session: WriteSession, values: FormValues
) -> Response:
    """Hides one of the team's own offers."""
    service.delete_offer(session, actor, offer, Precondition.from_form(values.get("version", "")))
    response = see_other(request, "catalog_page")
    flash(request, response, "success", Message("The offer %(name)s was deleted.", name=offer.instance_type))
    return response


@router.get("/catalog/gpus", name="catalog_gpus_page")
def catalog_gpus_page(request: Request, _actor: Viewer) -> Response:
    """The GPUs with their figures and sources."""
    return render(request, "catalog/gpus.html", nav="catalog", tab="gpus", gpus=list_gpus())


@router.get("/catalog/models", name="catalog_models_page")
def catalog_models_page(request: Request, _actor: Viewer) -> Response:
    """The models that can be planned by name."""
    return render(request, "catalog/models.html", nav="catalog", tab="models", models=list_models())


@router.get("/catalog/rates", name="catalog_rates_page")
def catalog_rates_page(request: Request, actor: Viewer, session: ReadSession) -> Response:
    """The team's exchange rates and the form for another."""
    form = Form({"to": actor.team.currency, "date": actor.today.isoformat()})
    return _rates_page(request, actor, session, form)


@router.post("/catalog/rates", name="save_rate_form")
def save_rate_form(request: Request, actor: Editor, session: WriteSession, values: FormValues) -> Response:
    """Stores a rate; wrong fields are shown in the form."""
    try:
        rate, _is_new = rates.save_rate(session, actor, _read_rate(values))
    except InvalidInput as error:
        return _rates_page(request, actor, session, form_of_input(request, values, error), status=422)
    response = see_other(request, "catalog_rates_page")
    pair = f"{rate.from_currency}/{rate.to_currency}"
    flash(request, response, "success", Message("The rate %(pair)s was saved.", pair=pair))
    return response


def _offers_page(
    request: Request,
    actor: Actor,
    narrowed: OfferFilter,
    offers: list[Offer],
    seen: list[Offer],
    sort: Sort,
    number: int,
    *,
    form: Form | None = None,
    status: int = 200,
) -> Response:
    locale = _locale(request)
    rows = sorted_rows((row_of(offer, actor.today, locale) for offer in offers), sort)
    empty = Form({"price_per_hour.currency": actor.team.currency, "as_of": actor.today.isoformat(), "gpu_count": "1"})
    return render(
        request,
        "catalog/offers.html",
        block="offers_table",
        status=status,
        tab="offers",
        narrowed=narrowed,
        sort=sort,
        table=page_of_rows(rows, number),
        choices=choices_of(seen, locale),
        **_form_context(request),
        form=form or empty,
    )


def _form_context(request: Request) -> dict[str, Any]:
    locale = _locale(request)
    return {
        "nav": "catalog",
        "gpus": list_gpus(),
        "billings": BILLINGS,
        "currencies": sorted(CURRENCIES),
        "known_providers": [(provider, provider_name(provider, locale)) for provider in provider_names()],
    }


def _edit_form(request: Request, offer: Offer, form: Form, status: int = 200, problem: str = "") -> Response:
    return render(
        request,
        "catalog/offer_edit.html",
        block="offer_form",
        status=status,
        tab="offers",
        offer=offer,
        form=form,
        problem=problem,
        **_form_context(request),
    )


def _refused_edit(
    request: Request, offer: Offer, values: Mapping[str, Any], error: InvalidInput | PreconditionFailed
) -> Response:
    if isinstance(error, InvalidInput):
        return _edit_form(request, offer, form_of_input(request, values, error), error.status)
    # Somebody else was faster: their version is shown, to be changed from there.
    return _edit_form(request, offer, Form(_values_of(offer)), error.status, error.message.text)


def _row(request: Request, actor: Actor, offer: Offer) -> Response:
    row: OfferRow = row_of(offer, actor.today, _locale(request))
    return render(request, "catalog/offer_row.html", block="offer_row", row=row)


def _rates_page(request: Request, actor: Actor, session: ReadSession, form: Form, status: int = 200) -> Response:
    return render(
        request,
        "catalog/rates.html",
        status=status,
        nav="catalog",
        tab="rates",
        rates=rates.list_rates(session, actor.team_id),
        currencies=sorted(CURRENCIES),
        form=form,
    )


def _read_rate(values: Mapping[str, str]) -> RateInput:
    try:
        return RateInput.model_validate({name: text.strip() for name, text in values.items() if text.strip()})
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


def _values_of(offer: Offer) -> dict[str, str]:
    price = offer.price_per_hour
    return {
        "version": str(offer.version),
        "provider": offer.provider,
        "instance_type": offer.instance_type,
        "gpu": offer.gpu,
        "gpu_count": f"{offer.gpu_count:f}",
        "region": offer.region,
        "billing": offer.billing,
        "price_per_hour.amount": "" if price is None else format_unit_price(price, offer.currency),
        "price_per_hour.currency": offer.currency,
        "as_of": offer.as_of.isoformat() if offer.as_of else "",
        "source": offer.source,
        "note": offer.note,
    }


def _locale(request: Request) -> str:
    return BABEL_LOCALE[language_of(request)]
