"""Pages of charges: the table, and the forms in its place or as pages of their own."""

from fastapi import APIRouter, Request, Response

from app.db import ReadSession
from app.errors import Conflict, InvalidInput, PreconditionFailed
from app.i18n import Message
from app.projects.access import ProjectToRead
from app.tracking.access import ChargeOfForm, ChargeToEdit, ChargeToRead, ChargeToRestore
from app.tracking.charge_form import read_charge, read_charge_changes, values_of_charge
from app.tracking.charges import delete_charge, log_charge, restore_charge, update_charge
from app.tracking.form_desk import FormDesk, PageNumber, Refusal, ShowingDesk, TakingDesk
from app.tracking.models import Charge
from app.tracking.sections import charges_section, one_charge
from app.tracking.vouchers import voucher_id_of, vouchers_to_choose
from app.versions import Precondition
from app.web.forms import Form, FormValues
from app.web.render import render, see_other, wants_fragment

router = APIRouter()

NEW = "charge-new"
PAGE = "tracking/charge_page.html"


@router.get("/projects/{project_id}/charges", name="charges_page")
def charges_page(
    request: Request, project: ProjectToRead, session: ReadSession, page: PageNumber = 1
) -> Response:
    """A page of the project's charges; htmx gets the table's section alone."""
    template = "tracking/charges_section.html" if wants_fragment(request) else "tracking/charges.html"
    section = charges_section(session, project, page)
    return render(request, template, nav="projects", project=project, **section)


@router.get("/projects/{project_id}/charges/new", name="new_charge_form")
def new_charge_form(desk: ShowingDesk) -> Response:
    """The form of a new charge."""
    values = {"category": "usage", "service": "storage", "amount.currency": desk.project.currency}
    return _show_new(desk, Form(values, id=NEW))


@router.post("/projects/{project_id}/charges", name="log_charge_form")
def log_charge_form(desk: TakingDesk, values: FormValues) -> Response:
    """Logs a charge; wrong fields are shown in the form."""
    try:
        with desk.session.begin_nested():
            log_charge(desk.session, desk.actor, desk.project, read_charge(values, desk.actor.zone))
    except (InvalidInput, Conflict) as error:
        return _show_new(desk, desk.as_sent(values, error, NEW), error)
    return desk.done(Message("The charge was logged."))


@router.get("/projects/{project_id}/charges/{charge_id}", name="charge_row")
def one_charge_row(
    request: Request, charge: ChargeToRead, project: ProjectToRead, session: ReadSession
) -> Response:
    """The line of a charge, after its form was given up."""
    if not wants_fragment(request):
        return see_other(request, "project_page", project_id=project.id)
    return render(request, "tracking/charge_row.html", project=project, row=one_charge(session, project, charge))


@router.get("/projects/{project_id}/charges/{charge_id}/edit", name="edit_charge_form")
def edit_charge_form(charge: ChargeOfForm, desk: ShowingDesk) -> Response:
    """The form of a charge: in its line, or as a page of its own."""
    return _show(desk, charge, _form_of(charge, desk))


@router.post("/projects/{project_id}/charges/{charge_id}", name="update_charge_form")
def update_charge_form(charge: ChargeToEdit, desk: TakingDesk, values: FormValues) -> Response:
    """Changes what the form says otherwise than it showed."""
    version = Precondition.from_form(values.get("version", ""))
    try:
        with desk.session.begin_nested():
            shown_voucher = voucher_id_of(desk.session, charge)
            patch = read_charge_changes(values, charge, shown_voucher, desk.actor.zone)
            update_charge(desk.session, desk.actor, desk.project, charge, patch, version)
    except (InvalidInput, Conflict) as error:
        return _show(desk, charge, desk.as_sent(values, error, f"charge-{charge.id}"), error)
    except PreconditionFailed as error:
        # Somebody else was faster: their version is shown, to be changed from there.
        return _show(desk, charge, _form_of(charge, desk), error)
    return desk.done(Message("The charge was changed."))


@router.post("/projects/{project_id}/charges/{charge_id}/delete", name="delete_charge_form")
def delete_charge_form(charge: ChargeToEdit, desk: TakingDesk, values: FormValues) -> Response:
    """Takes the charge and its spend away; it can be brought back."""
    version = Precondition.from_form(values.get("version", ""))
    try:
        with desk.session.begin_nested():
            delete_charge(desk.session, desk.actor, desk.project, charge, version)
    except (Conflict, PreconditionFailed) as error:
        return _show(desk, charge, _form_of(charge, desk), error)
    return desk.done(Message("The charge was deleted."), deleted_charge=charge.id)


@router.post("/projects/{project_id}/charges/{charge_id}/restore", name="restore_charge_form")
def restore_charge_form(charge: ChargeToRestore, desk: TakingDesk) -> Response:
    """Brings back a charge that was deleted."""
    restore_charge(desk.session, desk.actor, desk.project, charge)
    return desk.done(Message("The charge is back."))


def _show_new(desk: FormDesk, form: Form, refusal: Refusal | None = None) -> Response:
    vouchers = vouchers_to_choose(desk.session, desk.actor)
    return desk.show(form, "tracking/charge_new.html", PAGE, refusal, charge=None, vouchers=vouchers)


def _show(desk: FormDesk, charge: Charge, form: Form, refusal: Refusal | None = None) -> Response:
    vouchers = vouchers_to_choose(desk.session, desk.actor, charge)
    return desk.show(form, "tracking/charge_form_row.html", PAGE, refusal, charge=charge, vouchers=vouchers)


def _form_of(charge: Charge, desk: FormDesk) -> Form:
    shown = values_of_charge(charge, voucher_id_of(desk.session, charge), desk.actor.zone)
    values = shown | {"version": str(charge.version)}
    return Form(values, id=f"charge-{charge.id}")
