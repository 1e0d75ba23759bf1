"""JSON routes of projects."""

from fastapi import Request, Response
from sqlmodel import Session, col

from app.accounts.access import Actor, Editor, Viewer
from app.api.answers import ListAnswer, PreconditionHeader, created, with_etag
from app.api.pagination import PageParams, page_of_query
from app.api.routes import api_router
from app.db import ReadSession, WriteSession
from app.projects.access import ProjectToEdit, ProjectToRead
from app.projects.answers import ProjectAnswer, SingleProjectAnswer, budget_change_answer, project_fields
from app.projects.figures import budget_changes, figures_of
from app.projects.inputs import ProjectInput, ProjectPatch
from app.projects.models import Project
from app.projects.service import create_project, delete_project, live_projects, update_project

router = api_router("projects")


@router.get("/projects", name="api_list_projects")
def list_projects(session: ReadSession, actor: Viewer, page: PageParams) -> ListAnswer[ProjectAnswer]:
    """The team's projects with their figures."""
    found = page_of_query(session, live_projects(actor), col(Project.id), page)
    figures = figures_of(session, found.items, actor.today)
    items = [ProjectAnswer(**project_fields(project, figures[project.id or 0])) for project in found.items]
    return ListAnswer(items=items, next_cursor=found.next_cursor)


@router.post("/projects", status_code=201, name="api_create_project")
def post_project(
    request: Request, response: Response, actor: Editor, session: WriteSession, body: ProjectInput
) -> SingleProjectAnswer:
    """A new project with its budget."""
    project = create_project(session, actor, body)
    created(response, request, "api_get_project", project_id=project.id)
    return _answer(response, session, actor, project)


@router.get("/projects/{project_id}", name="api_get_project")
def get_project(
    response: Response, project: ProjectToRead, session: ReadSession, actor: Viewer
) -> SingleProjectAnswer:
    """One project, with the history of its budget."""
    return _answer(response, session, actor, project)


@router.patch("/projects/{project_id}", name="api_update_project")
def patch_project(
    response: Response,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    precondition: PreconditionHeader,
    body: ProjectPatch,
) -> SingleProjectAnswer:
    """Changes what the body names. The budget is the owner's; its change takes a ``reason``."""
    update_project(session, actor, project, body, precondition)
    return _answer(response, session, actor, project)


@router.delete("/projects/{project_id}", status_code=204, name="api_delete_project")
def remove_project(
    project: ProjectToEdit, session: WriteSession, actor: Viewer, precondition: PreconditionHeader
) -> None:
    """Hides the project; its spend stays in past reports."""
    delete_project(session, actor, project, precondition)


def _answer(response: Response, session: Session, actor: Actor, project: Project) -> SingleProjectAnswer:
    with_etag(response, project.version)
    figures = figures_of(session, [project], actor.today)[project.id or 0]
    history = [budget_change_answer(change, project.currency) for change in budget_changes(session, project)]
    return SingleProjectAnswer(**project_fields(project, figures), budget_history=history)
