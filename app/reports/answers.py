"""The report in the format asked for: shared by the page and the JSON API, so that both give the same bytes."""

from typing import Literal

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from app.errors import InvalidInput, NotFound
from app.fields import LARGEST_ID
from app.i18n import Message
from app.reports.page import page_context
from app.reports.weekly import WeeklyReport
from app.reports.writers.csv_text import report_csv
from app.reports.writers.json_document import report_document
from app.reports.writers.markdown import report_markdown
from app.time import Week, parse_week
from app.web.language import language_of
from app.web.render import render

ReportFormat = Literal["html", "csv", "md", "json"]


def wanted_week(text: str) -> Week:
    """Raises InvalidInput naming ``week`` for one that does not exist."""
    week = parse_week(text)
    if week is None:
        raise InvalidInput.at("week", Message("There is no such week; write it like 2026-W49."))
    return week


def wanted_project(text: str | None) -> int | None:
    """A project's id in a query. Raises NotFound for one that no project can have."""
    if text is None or text == "":
        return None
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= LARGEST_ID):
        raise NotFound
    return int(text)


def answer_report(request: Request, report: WeeklyReport, wanted: ReportFormat) -> Response:
    """The answer, with a file name where it is to be kept."""
    if wanted == "html":
        return render(
            request,
            "reports/weekly.html",
            block="weekly_report",
            nav="reports",
            **page_context(request, report),
        )
    if wanted == "json":
        return JSONResponse(report_document(report))
    language = language_of(request)
    text = report_csv(report, language) if wanted == "csv" else report_markdown(report, language)
    media_type = "text/csv; charset=utf-8" if wanted == "csv" else "text/markdown; charset=utf-8"
    name = f"tuneledger-{report.week}{'' if report.project_id is None else f'-{report.project_id}'}.{wanted}"
    return Response(
        text, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
