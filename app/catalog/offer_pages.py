"""Pages of offers: the table, and the forms for the team's own."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from pydantic import BeforeValidator

from app.accounts.access import Actor, Editor, Viewer
from app.catalog import service
from app.catalog.access import OfferToChange, OwnOffer, RestoredOffer
from app.catalog.gpus import list_gpus
from app.catalog.inputs import OfferChange, OfferInput
from app.catalog.models import Offer
from app.catalog.offer_table import (
    SORTS,
    Sort,
    TablePage,
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
from app.i18n import BABEL_LOCALE, Message
from app.money import CURRENCIES, format_unit_price
from app.versions import Precondition
from app.web.flash import flash
from app.web.forms import Form, FormValues, form_of_input, read_form
from app.web.language import language_of
from app.web.render import render, see_other, wants_fragment

router = APIRouter()

NEW_OFFER = "new-offer"


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
        form = form_of_input(request, values, error, NEW_OFFER)
        return _offers_page(request, actor, OfferFilter(), seen, seen, "price", 1, form=form, status=422)
    response = see_other(request, "catalog_page")
    flash(request, response, "success", Message("The offer %(name)s was added.", name=offer.instance_type))
    return response


@router.get("/catalog/offers/{offer_id}/edit", name="edit_offer_form")
def edit_offer_form(request: Request, offer: OwnOffer) -> Response:
    """The form for one of the team's own offers: in its row, or as a page of its own."""
    return _edit_form(request, offer, Form(_values_of(offer), id=_form_id(offer)))


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
    """Hides one of the team's own offers; it can be brought back."""
    try:
        service.delete_offer(session, actor, offer, Precondition.from_form(values.get("version", "")))
    except PreconditionFailed as error:
        return _refused_edit(request, offer, values, error)
    if wants_fragment(request):
        return render(request, "catalog/offer_gone.html", offer=offer)
    response = see_other(request, "catalog_page")
    flash(request, response, "success", Message("The offer %(name)s was deleted.", name=offer.instance_type))
    return response


@router.post("/catalog/offers/{offer_id}/restore", name="restore_offer_form")
def restore_offer_form(request: Request, actor: Viewer, offer: RestoredOffer) -> Response:
    """Brings back an offer that was just deleted."""
    return _row(request, actor, offer) if wants_fragment(request) else see_other(request, "catalog_page")


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
    table = page_of_rows(rows, number)
    filters = Form({**asdict(narrowed), "sort": sort}, id="filter")
    return render(
        request,
        "catalog/offers.html",
        block="offers_table",
        status=status,
        tab="offers",
        filters=filters,
        table=table,
        page_links=_page_links(request, narrowed, sort, table),
        choices=choices_of(seen, locale),
        **_form_context(request),
        form=form or _empty_form(actor),
    )


def _empty_form(actor: Actor) -> Form:
    values = {"gpu": "a10", "gpu_count": "1", "price_per_hour.currency": actor.team.currency}
    return Form(values | {"as_of": actor.today.isoformat()}, id=NEW_OFFER)


def _form_id(offer: Offer) -> str:
    return f"offer-{offer.id}"


def _form_context(request: Request) -> dict[str, Any]:
    locale = _locale(request)
    return {
        "nav": "catalog",
        "gpu_options": [(gpu.id, gpu.name) for gpu in list_gpus()],
        "currencies": [(code, code) for code in sorted(CURRENCIES)],
        "known_providers": [(provider, provider_name(provider, locale)) for provider in provider_names()],
    }


def _edit_form(
    request: Request, offer: Offer, form: Form, status: int = 200, problem: Message | None = None
) -> Response:
    in_row = wants_fragment(request)
    template = "catalog/offer_form_row.html" if in_row else "catalog/offer_edit.html"
    return render(
        request,
        template,
        status=status,
        tab="offers",
        in_row=in_row,
        offer=offer,
        form=form,
        problem=problem,
        **_form_context(request),
    )


def _refused_edit(
    request: Request, offer: Offer, values: Mapping[str, Any], error: InvalidInput | PreconditionFailed
) -> Response:
    if isinstance(error, InvalidInput):
        return _edit_form(request, offer, form_of_input(request, values, error, _form_id(offer)), error.status)
    # Somebody else was faster: their version is shown, to be changed from there.
    return _edit_form(request, offer, Form(_values_of(offer), id=_form_id(offer)), error.status, error.message)


def _row(request: Request, actor: Actor, offer: Offer) -> Response:
    return render(request, "catalog/offer_row.html", row=row_of(offer, actor.today, _locale(request)))


def _page_links(request: Request, narrowed: OfferFilter, sort: Sort, table: TablePage) -> dict[str, str]:
    """Where the table's earlier and later pages are."""
    words = {name: word for name, word in asdict(narrowed).items() if word} | {"sort": sort}
    path = request.app.url_path_for("catalog_page")
    numbers = {"previous": table.number - 1, "next": table.number + 1}
    return {name: f"{path}?{urlencode(words | {'page': number})}" for name, number in numbers.items()}


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
