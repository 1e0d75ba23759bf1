"""JSON routes of the weekly report."""

from typing import Annotated

from fastapi import Depends, Query, Request, Response

from app.accounts.access import Viewer
from app.api.routes import api_router
from app.db import ReadSession
from app.projects.access import get_project
from app.reports.answers import ReportFormat, answer_report, wanted_project, wanted_week
from app.reports.service import build_weekly_report
from app.time import week_of

router = api_router("reports")


def project_in_query(
    session: ReadSession,
    actor: Viewer,
    project: Annotated[str | None, Query(description="A project's id.")] = None,
) -> int | None:
    """The project's id; 404 for one that the team does not have, before the rest of the query is judged."""
    project_id = wanted_project(project)
    if project_id is not None:
        get_project(session, actor, project_id)
    return project_id


ProjectInQuery = Annotated[int | None, Depends(project_in_query)]


@router.get("/reports/weekly", name="api_weekly_report")
def weekly_report(
    request: Request,
    project_id: ProjectInQuery,
    session: ReadSession,
    actor: Viewer,
    week: Annotated[
        str | None, Query(examples=["2026-W49"], description="An ISO week; this week without.")
    ] = None,
    format: Annotated[ReportFormat, Query()] = "json",
) -> Response:
    """The weekly report of a project or, without one, of the team."""
    wanted = week_of(actor.today) if week is None else wanted_week(week)
    return answer_report(request, build_weekly_report(session, actor, wanted, project_id), format)
