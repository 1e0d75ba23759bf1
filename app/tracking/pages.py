"""Pages of runs and charges: the forms that the project page opens in place, and that stand alone without scripts."""

from typing import Any

from fastapi import APIRouter, Request, Response
from sqlmodel import Session

from app.accounts.access import Actor, Viewer
from app.catalog.gpus import list_gpus
from app.db import ReadSession, WriteSession
from app.errors import Conflict, FieldError, InvalidInput
from app.i18n import Message
from app.planning.service import find_baseline
from app.projects.access import ProjectToEdit, ProjectToRead
from app.projects.models import Project
from app.tracking.access import ChargeToEdit, ChargeToRead, RunToEdit, RunToRead
from app.tracking.charges import delete_charge, log_charge, update_charge
from app.tracking.inputs import ChargeInput, ChargePatch, RunInput, RunPatch
from app.tracking.models import Charge, Run
from app.tracking.runs import delete_run, list_newest_runs, log_run, update_run
from app.tracking.sections import charge_values, run_form, run_form_choices, run_values
from app.versions import Precondition
from app.web.flash import flash
from app.web.forms import Form, FormValues, form_of_input, read_form
from app.web.render import render, see_other

router = APIRouter()

# What the form can empty: a field of the patch that is not sent would stay as it was.
_RUN_CAN_EMPTY = (
    "plan_id", "offer_id", "instance", "gpu", "ended_at", "steps_started", "steps_done", "steps_total",
    "peak_memory_bytes", "tokens_per_second", "note",
)  # fmt: skip
_EMPTY_TEXT = frozenset({"instance", "note"})


@router.get("/projects/{project_id}/runs/new", name="new_run_page")
def new_run_page(request: Request, project: ProjectToRead, session: ReadSession, actor: Viewer) -> Response:
    """The form for one more run."""
    actor.require("editor")
    last = list_newest_runs(session, project, 1)
    form = run_form(actor, find_baseline(session, project), last[0] if last else None)
    return _run_page(request, session, actor, project, None, form)


@router.post("/projects/{project_id}/runs/new", name="log_run_form")
def log_run_form(
    request: Request, project: ProjectToEdit, session: WriteSession, actor: Viewer, values: FormValues
) -> Response:
    """Logs the run, or shows the form with its mistakes."""
    try:
        run = log_run(session, actor, project, read_form(RunInput, _run_sent(values), actor.zone))
    except (InvalidInput, Conflict) as error:
        session.rollback()
        return _run_page(
            request, session, actor, project, None, _mistakes(request, values, error), status=422
        )
    return _done(request, project, Message("%(name)s is logged.", name=run.name))


@router.get("/projects/{project_id}/runs/{run_id}/edit", name="edit_run_page")
def edit_run_page(
    request: Request, project: ProjectToRead, run: RunToRead, session: ReadSession, actor: Viewer
) -> Response:
    """The form filled with the run."""
    actor.require("editor")
    return _run_page(request, session, actor, project, run, Form(run_values(run, actor)))


@router.post("/projects/{project_id}/runs/{run_id}/edit", name="edit_run_form")
def edit_run_form(
    request: Request,
    project: ProjectToEdit,
    run: RunToEdit,
    session: WriteSession,
    actor: Viewer,
    values: FormValues,
) -> Response:
    """Changes the run, or shows the form with its mistakes."""
    try:
        patch = _run_patch(values, actor)
        update_run(session, actor, project, run, patch, Precondition.from_form(values.get("version", "")))
    except (InvalidInput, Conflict) as error:
        session.rollback()
        return _run_page(request, session, actor, project, run, _mistakes(request, values, error), status=422)
    return _done(request, project, Message("Saved."))


@router.post("/projects/{project_id}/runs/{run_id}/delete", name="delete_run_form")
def delete_run_form(
    request: Request,
    project: ProjectToEdit,
    run: RunToEdit,
    session: WriteSession,
    actor: Viewer,
    values: FormValues,
) -> Response:
    """Deletes the run."""
    delete_run(session, actor, project, run, Precondition.from_form(values.get("version", "")))
    return _done(request, project, Message("%(name)s is deleted.", name=run.name))


@router.get("/projects/{project_id}/charges/new", name="new_charge_page")
def new_charge_page(
    request: Request, project: ProjectToRead, session: ReadSession, actor: Viewer
) -> Response:
    """The form for one more charge."""
    actor.require("editor")
    form = Form({"category": "usage", "service": "storage", "amount.currency": project.currency})
    return _charge_page(request, session, project, None, form)


@router.post("/projects/{project_id}/charges/new", name="log_charge_form")
def log_charge_form(
    request: Request, project: ProjectToEdit, session: WriteSession, actor: Viewer, values: FormValues
) -> Response:
    """Logs the charge, or shows the form with its mistakes."""
    try:
        log_charge(session, actor, project, read_form(ChargeInput, values, actor.zone))
    except (InvalidInput, Conflict) as error:
        session.rollback()
        return _charge_page(request, session, project, None, _mistakes(request, values, error), status=422)
    return _done(request, project, Message("The charge is logged."))


@router.get("/projects/{project_id}/charges/{charge_id}/edit", name="edit_charge_page")
def edit_charge_page(
    request: Request, project: ProjectToRead, charge: ChargeToRead, session: ReadSession, actor: Viewer
) -> Response:
    """The form filled with the charge."""
    actor.require("editor")
    return _charge_page(request, session, project, charge, Form(charge_values(charge, actor)))


@router.post("/projects/{project_id}/charges/{charge_id}/edit", name="edit_charge_form")
def edit_charge_form(
    request: Request,
    project: ProjectToEdit,
    charge: ChargeToEdit,
    session: WriteSession,
    actor: Viewer,
    values: FormValues,
) -> Response:
    """Changes the charge, or shows the form with its mistakes."""
    try:
        patch = read_form(ChargePatch, values, actor.zone)
        if "note" in values:
            patch = patch.model_copy(update={"note": values["note"]})
        update_charge(
            session, actor, project, charge, patch, Precondition.from_form(values.get("version", ""))
        )
    except (InvalidInput, Conflict) as error:
        session.rollback()
        return _charge_page(request, session, project, charge, _mistakes(request, values, error), status=422)
    return _done(request, project, Message("Saved."))


@router.post("/projects/{project_id}/charges/{charge_id}/delete", name="delete_charge_form")
def delete_charge_form(
    request: Request,
    project: ProjectToEdit,
    charge: ChargeToEdit,
    session: WriteSession,
    actor: Viewer,
    values: FormValues,
) -> Response:
    """Deletes the charge."""
    delete_charge(session, actor, project, charge, Precondition.from_form(values.get("version", "")))
    return _done(request, project, Message("The charge is deleted."))


def _run_sent(values: dict[str, str]) -> dict[str, str]:
    """An offer brings its price: a currency without an amount is no price."""
    sent = dict(values)
    if not sent.get("price_per_hour.amount", "").strip():
        sent.pop("price_per_hour.amount", None)
        sent.pop("price_per_hour.currency", None)
    return sent


def _run_patch(values: dict[str, str], actor: Actor) -> RunPatch:
    """What the form shows and is empty was emptied."""
    wanted = read_form(RunPatch, _run_sent(values), actor.zone)
    changes: dict[str, Any] = {name: getattr(wanted, name) for name in wanted.model_fields_set}
    for name in _RUN_CAN_EMPTY:
        if name in values and not values[name].strip():
            changes[name] = "" if name in _EMPTY_TEXT else None
    return RunPatch.model_construct(_fields_set=set(changes), **changes)


def _mistakes(request: Request, values: dict[str, str], error: InvalidInput | Conflict) -> Form:
    known = error if isinstance(error, InvalidInput) else InvalidInput(FieldError("", error.message))
    return form_of_input(request, values, known)


def _done(request: Request, project: Project, message: Message) -> Response:
    response = see_other(request, "project_page", project_id=project.id)
    flash(request, response, "success", message)
    return response


def _run_page(
    request: Request,
    session: Session,
    actor: Actor,
    project: Project,
    run: Run | None,
    form: Form,
    status: int = 200,
) -> Response:
    return render(
        request,
        "tracking/run_form.html",
        block="run_form",
        status=status,
        nav="projects",
        project=project,
        run=run,
        form=form,
        gpu_options=[(gpu.id, gpu.name) for gpu in list_gpus()],
        **run_form_choices(session, actor, project),
    )


def _charge_page(
    request: Request,
    session: Session,  # noqa: ARG001 - the project is loaded from it while the page is rendered
    project: Project,
    charge: Charge | None,
    form: Form,
    status: int = 200,
) -> Response:
    return render(
        request,
        "tracking/charge_form.html",
        block="charge_form",
        status=status,
        nav="projects",
        project=project,
        charge=charge,
        form=form,
    )
