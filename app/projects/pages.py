"""Pages of projects: the list, the form, deleting."""

from typing import Any

from fastapi import APIRouter, Request, Response

from app.accounts.access import Editor, Viewer
from app.db import ReadSession, WriteSession
from app.errors import Forbidden, InvalidInput
from app.fields import Input
from app.i18n import Message
from app.money import CURRENCIES, format_amount
from app.projects.access import ProjectToEdit, ProjectToRead
from app.projects.figures import budget_changes, budget_of, figures_of
from app.projects.inputs import BudgetInput, BudgetPatch, ProjectInput, ProjectPatch
from app.projects.models import Project
from app.projects.service import create_project, delete_project, list_projects, update_project
from app.versions import Precondition
from app.web.flash import flash
from app.web.forms import Form, FormValues, form_of_input, read_form
from app.web.render import render, see_other

router = APIRouter()

_COMMON_CURRENCIES = ("CNY", "USD", "EUR", "JPY", "HKD")


@router.get("/projects", name="projects_page")
def projects_page(request: Request, session: ReadSession, actor: Viewer) -> Response:
    """All projects with their figures."""
    projects = list_projects(session, actor)
    figures = figures_of(session, projects, actor.today)
    rows = [(project, figures[project.id or 0]) for project in projects]
    return render(request, "projects/list.html", nav="projects", rows=rows)


@router.get("/projects/new", name="new_project_page")
def new_project_page(request: Request, actor: Editor) -> Response:
    """An empty form."""
    values = {
        "currency": actor.team.currency,
        "budget.period": "total",
        "budget.counts": "billed",
        "budget.starts_on": actor.today.isoformat(),
    }
    return _form_page(request, Form(values), None)


@router.post("/projects/new", name="create_project_form")
def create_project_form(
    request: Request, session: WriteSession, actor: Editor, values: FormValues
) -> Response:
    """A new project; with mistakes the form comes back with them."""
    try:
        project = create_project(session, actor, read_form(ProjectInput, values, actor.zone))
    except InvalidInput as error:
        session.rollback()
        return _form_page(request, form_of_input(request, values, error), None, status=422)
    response = see_other(request, "project_page", project_id=project.id)
    flash(request, response, "success", Message("The project is there. Plan a job next."))
    return response


@router.get("/projects/{project_id}/edit", name="edit_project_page")
def edit_project_page(
    request: Request, project: ProjectToRead, session: ReadSession, actor: Viewer
) -> Response:
    """The form filled with what is."""
    if not actor.can_edit:
        raise Forbidden
    return _form_page(
        request, Form(_values(project, budget_of(budget_changes(session, project)[-1]))), project
    )


@router.post("/projects/{project_id}/edit", name="edit_project_form")
def edit_project_form(
    request: Request, project: ProjectToEdit, session: WriteSession, actor: Viewer, values: FormValues
) -> Response:
    """Changes the project; the budget only where the form shows it."""
    try:
        patch = _patch(values, actor)
        update_project(session, actor, project, patch, Precondition.from_form(values.get("version", "")))
    except InvalidInput as error:
        session.rollback()
        return _form_page(request, form_of_input(request, values, error), project, status=422)
    response = see_other(request, "project_page", project_id=project.id)
    flash(request, response, "success", Message("Saved."))
    return response


@router.post("/projects/{project_id}/delete", name="delete_project_form")
def delete_project_form(
    request: Request, project: ProjectToEdit, session: WriteSession, actor: Viewer, values: FormValues
) -> Response:
    """Hides the project."""
    delete_project(session, actor, project, Precondition.from_form(values.get("version", "")))
    response = see_other(request, "projects_page")
    flash(request, response, "success", Message("The project is deleted. Its spend stays in past reports."))
    return response


def _patch(values: dict[str, str], actor: Viewer) -> ProjectPatch:
    """An empty field of the form is a field that was emptied."""
    wanted = read_form(ProjectPatch, values, actor.zone)
    changes: dict[str, Any] = {name: getattr(wanted, name) for name in wanted.model_fields_set - {"budget"}}
    if not values.get("name", "").strip():
        changes["name"] = None
    changes.setdefault("goal", "")
    changes.setdefault("target", None)
    if "budget.amount" in values:
        budget = read_form(_BudgetForm, values, actor.zone).budget
        changes["budget"] = BudgetPatch(**budget.model_dump())
    return ProjectPatch.model_construct(_fields_set=set(changes), **changes)


class _BudgetForm(Input):
    budget: BudgetInput


def _values(project: Project, budget: Any) -> dict[str, Any]:
    return {
        "name": project.name,
        "goal": project.goal,
        "currency": project.currency,
        "target": "" if project.target is None else format_amount(project.target, project.currency),
        "budget.amount": format_amount(budget.amount, project.currency),
        "budget.period": budget.period,
        "budget.starts_on": budget.starts_on.isoformat(),
        "budget.ends_on": "" if budget.ends_on is None else budget.ends_on.isoformat(),
        "budget.counts": budget.counts,
        "budget.block_when_spent": budget.block_when_spent,
        "version": project.version,
    }


def _form_page(request: Request, form: Form, project: Project | None, status: int = 200) -> Response:
    others = sorted(CURRENCIES - set(_COMMON_CURRENCIES))
    return render(
        request,
        "projects/form.html",
        block="project_form",
        status=status,
        nav="projects",
        form=form,
        project=project,
        currencies=[(code, code) for code in (*_COMMON_CURRENCIES, *others)],
    )
