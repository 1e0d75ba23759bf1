"""The page of the weekly report, and its files to keep."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.accounts.access import Viewer
from app.db import ReadSession
from app.reports.answers import ReportFormat, answer_report, wanted_week
from app.reports.api import ProjectInQuery
from app.reports.service import build_weekly_report
from app.time import week_of

router = APIRouter()


@router.get("/reports/weekly", name="weekly_report_page")
def weekly_report_page(
    request: Request,
    project_id: ProjectInQuery,
    session: ReadSession,
    actor: Viewer,
    week: Annotated[str | None, Query()] = None,
    format: Annotated[ReportFormat, Query()] = "html",
) -> Response:
    """One printable page that a supervisor understands without us."""
    wanted = week_of(actor.today) if not week else wanted_week(week)
    return answer_report(request, build_weekly_report(session, actor, wanted, project_id), format)
