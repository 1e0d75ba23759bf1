"""The dashboard and the project page."""

from typing import Any

from fastapi import APIRouter, Request, Response

from app.accounts.access import Viewer
from app.db import ReadSession
from app.i18n import Message, translate
from app.outlook.dashboard import build_dashboard
from app.outlook.service import Outlook, budget_steps, build_outlook
from app.planning.service import list_plans
from app.projects.access import ProjectToRead
from app.time import week_of
from app.tracking.runs import list_interrupted_runs
from app.tracking.sections import charges_section, runs_section
from app.web.charts import build_budget_bar, build_spend_chart
from app.web.language import language_of
from app.web.render import render

router = APIRouter()


@router.get("/", name="dashboard")
def dashboard(request: Request, session: ReadSession, actor: Viewer) -> Response:
    """Every project of the team at a glance."""
    board = build_dashboard(session, actor)
    return render(request, "outlook/dashboard.html", nav="dashboard", board=board, week=week_of(actor.today))


@router.get("/projects/{project_id}", name="project_page")
def project_page(request: Request, project: ProjectToRead, session: ReadSession, actor: Viewer) -> Response:
    """The answer, the picture, the tables, the controls."""
    outlook = build_outlook(session, actor, project)
    interrupted = list_interrupted_runs(session, project)
    word = translate(Message("%(name)s was interrupted"), language_of(request))
    events = [
        (run.started_at.astimezone(actor.zone).date(), word % {"name": run.name}) for run in interrupted
    ]
    return render(
        request,
        "outlook/project.html",
        block="project_page",
        nav="projects",
        project=project,
        outlook=outlook,
        week=week_of(actor.today),
        bar=budget_bar_of(outlook),
        chart=build_spend_chart(
            projected=[(point.day, point.amount) for point in outlook.projected],
            actual=[(point.day, point.amount) for point in outlook.actual],
            budget_steps=[(point.day, point.amount) for point in budget_steps(outlook, actor)],
            target=project.target,
            today=actor.today,
            events=events,
        ),
        **runs_section(session, actor, project),
        **charges_section(session, project),
        plans=list_plans(session, project),
    )


def budget_bar_of(outlook: Outlook) -> Any:
    """Spent, reserved and free of the current period."""
    figures = outlook.figures
    return build_budget_bar(
        spent=figures.spent,
        reserved=figures.reserved,
        budget=figures.budget.amount,
        target=outlook.project.target if figures.budget.period == "total" else None,
    )
