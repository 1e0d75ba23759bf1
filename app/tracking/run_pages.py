"""Pages of runs: the table, and the forms in its place or as pages of their own."""

from fastapi import APIRouter, Request, Response

from app.accounts.access import Actor, Viewer
from app.db import ReadSession
from app.errors import Conflict, InvalidInput, PreconditionFailed
from app.i18n import Message
from app.projects.access import ProjectToRead
from app.tracking.access import RunOfForm, RunToEdit, RunToRead, RunToRestore
from app.tracking.choices import likely_run
from app.tracking.form_desk import FormDesk, PageNumber, Refusal, ShowingDesk, TakingDesk
from app.tracking.models import Run
from app.tracking.run_form import read_run, read_run_changes, values_of_run
from app.tracking.runs import delete_run, log_run, restore_run, update_run
from app.tracking.sections import run_rows, runs_section
from app.versions import Precondition
from app.web.forms import Form, FormValues
from app.web.render import render, see_other, wants_fragment

router = APIRouter()

NEW = "run-new"
PAGE = "tracking/run_page.html"


@router.get("/projects/{project_id}/runs", name="runs_page")
def runs_page(
    request: Request, project: ProjectToRead, session: ReadSession, actor: Viewer, page: PageNumber = 1
) -> Response:
    """A page of the project's runs; htmx gets the table's section alone."""
    template = "tracking/runs_section.html" if wants_fragment(request) else "tracking/runs.html"
    section = runs_section(session, actor, project, page)
    return render(request, template, nav="projects", project=project, **section)


@router.get("/projects/{project_id}/runs/new", name="new_run_form")
def new_run_form(desk: ShowingDesk) -> Response:
    """The form of a new run, filled in with what it most likely is."""
    values = likely_run(desk.session, desk.project, desk.choices)
    return _show_new(desk, Form(values, id=NEW))


@router.post("/projects/{project_id}/runs", name="log_run_form")
def log_run_form(desk: TakingDesk, values: FormValues) -> Response:
    """Logs a run; wrong fields are shown in the form."""
    try:
        with desk.session.begin_nested():
            run = log_run(desk.session, desk.actor, desk.project, read_run(values, desk.actor.zone))
    except (InvalidInput, Conflict) as error:
        return _show_new(desk, desk.as_sent(values, error, NEW), error)
    return desk.done(Message("The run %(name)s was logged.", name=run.name))


@router.get("/projects/{project_id}/runs/{run_id}", name="run_row")
def run_row(request: Request, run: RunToRead, project: ProjectToRead, session: ReadSession) -> Response:
    """The line of a run, after its form was given up."""
    if not wants_fragment(request):
        return see_other(request, "project_page", project_id=project.id)
    row = run_rows(session, project, [run])[0]
    return render(request, "tracking/run_row.html", project=project, row=row)


@router.get("/projects/{project_id}/runs/{run_id}/edit", name="edit_run_form")
def edit_run_form(run: RunOfForm, desk: ShowingDesk) -> Response:
    """The form of a run: in its line, or as a page of its own."""
    return _show(desk, run, _form_of(run, desk.actor))


@router.post("/projects/{project_id}/runs/{run_id}", name="update_run_form")
def update_run_form(run: RunToEdit, desk: TakingDesk, values: FormValues) -> Response:
    """Changes what the form says otherwise than it showed."""
    version = Precondition.from_form(values.get("version", ""))
    try:
        with desk.session.begin_nested():
            patch = read_run_changes(values, run, desk.actor.zone)
            update_run(desk.session, desk.actor, desk.project, run, patch, version)
    except (InvalidInput, Conflict) as error:
        return _show(desk, run, desk.as_sent(values, error, f"run-{run.id}"), error)
    except PreconditionFailed as error:
        # Somebody else was faster: their version is shown, to be changed from there.
        return _show(desk, run, _form_of(run, desk.actor), error)
    return desk.done(Message("The run %(name)s was changed.", name=run.name))


@router.post("/projects/{project_id}/runs/{run_id}/delete", name="delete_run_form")
def delete_run_form(run: RunToEdit, desk: TakingDesk, values: FormValues) -> Response:
    """Takes the run and its spend away; it can be brought back."""
    version = Precondition.from_form(values.get("version", ""))
    try:
        delete_run(desk.session, desk.actor, desk.project, run, version)
    except PreconditionFailed as error:
        return _show(desk, run, _form_of(run, desk.actor), error)
    return desk.done(Message("The run %(name)s was deleted.", name=run.name), deleted_run=run.id)


@router.post("/projects/{project_id}/runs/{run_id}/restore", name="restore_run_form")
def restore_run_form(run: RunToRestore, desk: TakingDesk) -> Response:
    """Brings back a run that was deleted."""
    restore_run(desk.session, desk.actor, desk.project, run)
    return desk.done(Message("The run %(name)s is back.", name=run.name))


def _show_new(desk: FormDesk, form: Form, refusal: Refusal | None = None) -> Response:
    return desk.show(form, "tracking/run_new.html", PAGE, refusal, run=None)


def _show(desk: FormDesk, run: Run, form: Form, refusal: Refusal | None = None) -> Response:
    return desk.show(form, "tracking/run_form_row.html", PAGE, refusal, run=run)


def _form_of(run: Run, actor: Actor) -> Form:
    return Form(values_of_run(run, actor.zone) | {"version": str(run.version)}, id=f"run-{run.id}")
