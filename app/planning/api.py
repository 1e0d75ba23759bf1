"""JSON routes of estimates and plans."""

from typing import Any

from fastapi import Request, Response
from sqlmodel import col

from app.accounts.access import Viewer
from app.api.answers import ListAnswer, PreconditionHeader, created, with_etag
from app.api.pagination import PageParams, page_of_query
from app.api.routes import api_router
from app.db import ReadSession, WriteSession
from app.planning.access import PlanToEdit, PlanToRead
from app.planning.answers import (
    EstimateAnswer,
    PlanAnswer,
    PlanVersionAnswer,
    SearchAnswer,
    plan_answer,
    plan_version_answer,
)
from app.planning.estimates import answer_for
from app.planning.hosted import find_hosted
from app.planning.inputs import EstimateInput, PlanInput, PlanPatch, SearchInput
from app.planning.models import Plan, PlanVersion
from app.planning.search import search
from app.planning.search_answer import search_answer
from app.planning.service import (
    approve_plan,
    create_plan,
    delete_plan,
    live_plans,
    make_baseline,
    reprice_plan,
    update_plan,
)
from app.planning.versions import versions_of
from app.projects.access import ProjectToEdit, ProjectToRead
from app.projects.models import Project
from app.versions import Precondition
from app.web.language import language_of

router = api_router("planning")


@router.post("/estimates", name="api_estimate", response_model=EstimateAnswer)
def post_estimate(request: Request, actor: Viewer, body: EstimateInput) -> dict[str, Any]:  # noqa: ARG001 - signed in
    """Memory, time and cost of a job; stores nothing."""
    return answer_for(body, language_of(request))


@router.post("/plans/search", name="api_search_plans", response_model=SearchAnswer)
def post_search(request: Request, actor: Viewer, session: ReadSession, body: SearchInput) -> dict[str, Any]:
    """The offers × sensible recipes, ranked, and hosted fine-tuning beside them; stores nothing."""
    found = search(session, actor, body)
    hosted = find_hosted(session, actor, body, found.model)
    return search_answer(found, hosted, actor, language_of(request))


@router.get("/projects/{project_id}/plans", name="api_list_plans")
def list_plans(project: ProjectToRead, session: ReadSession, page: PageParams) -> ListAnswer[PlanAnswer]:
    """The project's plans, by id."""
    found = page_of_query(session, live_plans(project), col(Plan.id), page)
    return ListAnswer(
        items=[plan_answer(plan, project) for plan in found.items], next_cursor=found.next_cursor
    )


@router.post("/projects/{project_id}/plans", status_code=201, name="api_create_plan")
def post_plan(
    request: Request,
    response: Response,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    body: PlanInput,
) -> PlanAnswer:
    """Estimates and keeps the result with its schedule."""
    plan = create_plan(session, actor, project, body)
    created(response, request, "api_get_plan", project_id=project.id, plan_id=plan.id)
    return _answer(response, plan, project)


@router.get("/projects/{project_id}/plans/{plan_id}", name="api_get_plan")
def get_plan(response: Response, plan: PlanToRead, project: ProjectToRead) -> PlanAnswer:
    """One plan."""
    return _answer(response, plan, project)


@router.patch("/projects/{project_id}/plans/{plan_id}", name="api_update_plan")
def patch_plan(
    response: Response,
    plan: PlanToEdit,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    precondition: PreconditionHeader,
    body: PlanPatch,
) -> PlanAnswer:
    """Changes what the body names and estimates anew."""
    return _answer(response, update_plan(session, actor, project, plan, body, precondition), project)


@router.get("/projects/{project_id}/plans/{plan_id}/versions", name="api_list_plan_versions")
def list_plan_versions(
    plan: PlanToRead, project: ProjectToRead, session: ReadSession, page: PageParams
) -> ListAnswer[PlanVersionAnswer]:
    """The plan as it was each time it was saved, the oldest first."""
    found = page_of_query(session, versions_of(plan), col(PlanVersion.id), page)
    return ListAnswer(
        items=[plan_version_answer(version, project) for version in found.items], next_cursor=found.next_cursor
    )


@router.post("/projects/{project_id}/plans/{plan_id}/reprice", name="api_reprice_plan")
def post_repricing(
    response: Response,
    plan: PlanToEdit,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
) -> PlanAnswer:
    """Estimates anew at the offer's price of now; the earlier result stays as a version."""
    return _answer(response, reprice_plan(session, actor, project, plan, Precondition("*")), project)


@router.delete("/projects/{project_id}/plans/{plan_id}", status_code=204, name="api_delete_plan")
def remove_plan(
    plan: PlanToEdit,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    precondition: PreconditionHeader,
) -> None:
    """Deletes the plan and frees what it reserved."""
    delete_plan(session, actor, project, plan, precondition)


@router.post("/projects/{project_id}/plans/{plan_id}/baseline", name="api_make_baseline")
def post_baseline(
    response: Response, plan: PlanToEdit, project: ProjectToEdit, session: WriteSession, actor: Viewer
) -> PlanAnswer:
    """The projection follows this plan."""
    return _answer(response, make_baseline(session, actor, project, plan), project)


@router.post("/projects/{project_id}/plans/{plan_id}/approve", name="api_approve_plan")
def post_approval(
    response: Response, plan: PlanToEdit, project: ProjectToEdit, session: WriteSession, actor: Viewer
) -> PlanAnswer:
    """Sets the plan's cost aside."""
    return _answer(response, approve_plan(session, actor, project, plan), project)


def _answer(response: Response, plan: Plan, project: Project) -> PlanAnswer:
    with_etag(response, plan.version)
    return plan_answer(plan, project)
