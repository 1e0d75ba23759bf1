"""Pages of offers: the table, and the forms for the team's own."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlmodel import Session

from app.accounts.access import Actor, Editor, Viewer
from app.catalog import service
from app.catalog.access import OfferToChange, OwnOffer, RestoredOffer
from app.catalog.history import list_prices
from app.catalog.inputs import OfferChange
from app.catalog.models import Offer
from app.catalog.offer_form import read_offer, values_of
from app.catalog.offer_list import NEW_OFFER, TableQuery, TableView, form_context, locale_of, offers_page
from app.catalog.offer_table import row_of
from app.db import ReadSession, WriteSession
from app.errors import InvalidInput, PreconditionFailed
from app.i18n import Message
from app.versions import Precondition
from app.web.flash import flash
from app.web.forms import Form, FormValues, form_of_input
from app.web.render import render, see_other, wants_fragment

router = APIRouter()


@router.get("/catalog", name="catalog_page")
def catalog_page(request: Request, actor: Viewer, session: ReadSession, view: TableQuery) -> Response:
    """The offers, narrowed and sorted, and the form for one of the team's own."""
    return offers_page(request, actor, session, view)


@router.post("/catalog/offers", name="create_offer_form")
def create_offer_form(request: Request, actor: Editor, session: WriteSession, values: FormValues) -> Response:
    """Adds an offer of the team's own; wrong fields are shown in the form."""
    try:
        offer = service.create_offer(session, actor, read_offer(values, actor.zone))
    except InvalidInput as error:
        form = form_of_input(request, values, error, NEW_OFFER)
        return offers_page(request, actor, session, TableView(), form=form, status=422)
    response = see_other(request, "catalog_page")
    flash(request, response, "success", Message("The offer %(name)s was added.", name=offer.instance_type))
    return response


@router.get("/catalog/offers/{offer_id}/edit", name="edit_offer_form")
def edit_offer_form(request: Request, offer: OwnOffer) -> Response:
    """The form for one of the team's own offers: in its row, or as a page of its own."""
    return _edit_form(request, offer, Form(values_of(offer), id=_form_id(offer)))


@router.get("/catalog/offers/{offer_id}", name="offer_row")
def offer_row(request: Request, actor: Viewer, session: ReadSession, offer: OwnOffer) -> Response:
    """The row of one of the team's own offers, after its form was given up."""
    if not wants_fragment(request):
        return see_other(request, "catalog_page")
    return _row(request, actor, session, offer)


@router.post("/catalog/offers/{offer_id}", name="change_offer_form")
def change_offer_form(
    request: Request, offer: OfferToChange, actor: Editor, session: WriteSession, values: FormValues
) -> Response:
    """Changes one of the team's own offers."""
    try:
        change = OfferChange.model_validate(read_offer(values, actor.zone).model_dump())
        service.change_offer(session, actor, offer, change, Precondition.from_form(values.get("version", "")))
    except (InvalidInput, PreconditionFailed) as error:
        return _refused_edit(request, offer, values, error)
    if wants_fragment(request):
        return _row(request, actor, session, offer)
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
def restore_offer_form(
    request: Request, actor: Viewer, session: WriteSession, offer: RestoredOffer
) -> Response:
    """Brings back an offer that was just deleted."""
    if wants_fragment(request):
        return _row(request, actor, session, offer)
    return see_other(request, "catalog_page")


def _form_id(offer: Offer) -> str:
    return f"offer-{offer.id}"


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
        **form_context(request, form),
    )


def _refused_edit(
    request: Request, offer: Offer, values: Mapping[str, Any], error: InvalidInput | PreconditionFailed
) -> Response:
    if isinstance(error, InvalidInput):
        return _edit_form(request, offer, form_of_input(request, values, error, _form_id(offer)), error.status)
    # Somebody else was faster: their version is shown, to be changed from there.
    return _edit_form(request, offer, Form(values_of(offer), id=_form_id(offer)), error.status, error.message)


def _row(request: Request, actor: Actor, session: Session, offer: Offer) -> Response:
    prices = list_prices(session, actor.team_id, [offer]).get(offer.id or 0, ())
    return render(
        request, "catalog/offer_row.html", row=row_of(offer, actor.today, locale_of(request), prices)
    )
