"""What the report's page shows beside the report itself: its neighbours, its files, its words."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from fastapi import Request

from app.i18n import Message, translate
from app.money import format_amount
from app.reports.weekly import PriceDate, Totals, WeeklyReport
from app.reports.words import BILLINGS, CATEGORIES, SERVICES
from app.reports.writers.tables import ReportTables
from app.time import Week, week_of
from app.web.language import language_of


def page_context(request: Request, report: WeeklyReport) -> dict[str, Any]:
    """The template's context."""
    language = language_of(request)
    tables = ReportTables(report, language)

    def href(week: Week, wanted: str | None = None) -> str:
        query = {"week": str(week), "project": report.project_id, "format": wanted}
        path = request.app.url_path_for("weekly_report_page")
        return f"{path}?{urlencode({name: value for name, value in query.items() if value is not None})}"

    def price_words(price: PriceDate) -> str:
        return tables.price_words(price)

    return {
        "report": report,
        "one_second": timedelta(seconds=1),
        "previous_week": week_of(report.week.monday - timedelta(days=1)),
        "next_week": None if report.is_running else week_of(report.week.next_monday),
        "week_href": href,
        "format_href": lambda wanted: href(report.week, wanted),
        "totals_money": lambda name: _money(report.totals, name),
        "to_date_money": lambda name: _money(report.to_date, name),
        "total_rows": [
            (translate(Message("This week"), language), report.totals),
            (translate(Message("To date"), language), report.to_date),
            *(
                (translate(Message("This week, not converted"), language), totals)
                for totals in report.other_currencies
            ),
        ],
        "price_words": price_words,
        "billings": BILLINGS,
        "categories": CATEGORIES,
        "services": SERVICES,
    }


def _money(totals: Totals, name: str) -> str:
    return f"{totals.currency} {format_amount(getattr(totals, name), totals.currency)}"
