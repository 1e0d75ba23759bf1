"""Pages of hosted fine-tuning by the token: the table, and the forms for the team's own prices."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlmodel import Session

from app.accounts.access import Actor, Editor, Viewer
from app.catalog.hosted import prices
from app.catalog.hosted.access import HostedToChange, HostedToEdit, RestoredHosted
from app.catalog.hosted.form import read_hosted, values_of
from app.catalog.hosted.inputs import HostedChange
from app.catalog.hosted.packaged import hosted_provider_names
from app.catalog.hosted.table import row_of_hosted, sorted_hosted_rows
from app.catalog.known_models import list_models
from app.catalog.models import HostedPrice
from app.catalog.offer_list import locale_of
from app.db import ReadSession, WriteSession
from app.errors import InvalidInput, PreconditionFailed
from app.i18n import Message
from app.money import CURRENCIES
from app.versions import Precondition
from app.web.flash import flash
from app.web.forms import Form, FormValues, form_of_input
from app.web.render import render, see_other, wants_fragment

NEW_HOSTED = "new-hosted"

router = APIRouter()


@router.get("/catalog/hosted", name="hosted_page")
def hosted_page(request: Request, actor: Viewer, session: ReadSession) -> Response:
    """All prices, and the form for one of the team's own."""
    values = {"price_per_million_tokens.currency": actor.team.currency, "as_of": actor.today.isoformat()}
    return _page(request, actor, session, Form(values, id=NEW_HOSTED))


@router.post("/catalog/hosted", name="create_hosted_form")
def create_hosted_form(request: Request, actor: Editor, session: WriteSession, values: FormValues) -> Response:
    """Adds a price of the team's own; wrong fields are shown in the form."""
    try:
        price = prices.create_hosted_price(session, actor, read_hosted(values, actor.zone))
    except InvalidInput as error:
        return _page(request, actor, session, form_of_input(request, values, error, NEW_HOSTED), status=422)
    response = see_other(request, "hosted_page")
    flash(request, response, "success", Message("The price of %(name)s was added.", name=price.service))
    return response


@router.get("/catalog/hosted/{hosted_id}/edit", name="edit_hosted_form")
def edit_hosted_form(request: Request, price: HostedToEdit) -> Response:
    """The form for one of the team's own prices: in its row, or as a page of its own."""
    return _edit_form(request, price, Form(values_of(price), id=_form_id(price)))


@router.get("/catalog/hosted/{hosted_id}", name="hosted_row")
def hosted_row(request: Request, actor: Viewer, price: HostedToEdit) -> Response:
    """The row of one of the team's own prices, after its form was given up."""
    if not wants_fragment(request):
        return see_other(request, "hosted_page")
    return _row(request, actor, price)


@router.post("/catalog/hosted/{hosted_id}", name="change_hosted_form")
def change_hosted_form(
    request: Request, price: HostedToChange, actor: Editor, session: WriteSession, values: FormValues
) -> Response:
    """Changes one of the team's own prices."""
    try:
        change = HostedChange.model_validate(read_hosted(values, actor.zone).model_dump())
        precondition = Precondition.from_form(values.get("version", ""))
        prices.change_hosted_price(session, actor, price, change, precondition)
    except (InvalidInput, PreconditionFailed) as error:
        return _refused_edit(request, price, values, error)
    if wants_fragment(request):
        return _row(request, actor, price)
    response = see_other(request, "hosted_page")
    flash(request, response, "success", Message("The price of %(name)s was changed.", name=price.service))
    return response


@router.post("/catalog/hosted/{hosted_id}/delete", name="delete_hosted_form")
def delete_hosted_form(
    request: Request, price: HostedToChange, actor: Editor, session: WriteSession, values: FormValues
) -> Response:
    """Hides one of the team's own prices; it can be brought back."""
    try:
        precondition = Precondition.from_form(values.get("version", ""))
        prices.delete_hosted_price(session, actor, price, precondition)
    except PreconditionFailed as error:
        return _refused_edit(request, price, values, error)
    if wants_fragment(request):
        return render(request, "catalog/hosted_gone.html", price=price)
    response = see_other(request, "hosted_page")
    flash(request, response, "success", Message("The price of %(name)s was deleted.", name=price.service))
    return response


@router.post("/catalog/hosted/{hosted_id}/restore", name="restore_hosted_form")
def restore_hosted_form(request: Request, actor: Viewer, price: RestoredHosted) -> Response:
    """Brings back a price that was just deleted."""
    if wants_fragment(request):
        return _row(request, actor, price)
    return see_other(request, "hosted_page")


def _page(request: Request, actor: Actor, session: Session, form: Form, status: int = 200) -> Response:
    shown = prices.list_hosted(session, actor.team_id)
    rows = [row_of_hosted(hosted, actor.today, locale_of(request)) for hosted in shown]
    return render(
        request,
        "catalog/hosted.html",
        status=status,
        rows=sorted_hosted_rows(rows),
        form=form,
        **_form_context(request),
    )


def _form_context(request: Request) -> dict[str, Any]:
    """What the fields need beside their values."""
    locale = locale_of(request)
    return {
        "nav": "catalog",
        "tab": "hosted",
        "currencies": [(code, code) for code in sorted(CURRENCIES)],
        "model_options": [(model.id, model.name) for model in list_models()],
        "known_providers": [(provider, names[locale]) for provider, names in hosted_provider_names().items()],
    }


def _form_id(price: HostedPrice) -> str:
    return f"hosted-{price.id}"


def _edit_form(
    request: Request, price: HostedPrice, form: Form, status: int = 200, problem: Message | None = None
) -> Response:
    in_row = wants_fragment(request)
    template = "catalog/hosted_form_row.html" if in_row else "catalog/hosted_edit.html"
    context = _form_context(request) | {"in_row": in_row, "price": price, "form": form, "problem": problem}
    return render(request, template, status=status, **context)


def _refused_edit(
    request: Request, price: HostedPrice, values: Mapping[str, Any], error: InvalidInput | PreconditionFailed
) -> Response:
    if isinstance(error, InvalidInput):
        return _edit_form(request, price, form_of_input(request, values, error, _form_id(price)), error.status)
    # Somebody else was faster: their version is shown, to be changed from there.
    return _edit_form(request, price, Form(values_of(price), id=_form_id(price)), error.status, error.message)


def _row(request: Request, actor: Actor, price: HostedPrice) -> Response:
    row = row_of_hosted(prices.hosted_of(price), actor.today, locale_of(request))
    return render(request, "catalog/hosted_row.html", row=row)
