"""The report as CSV that spreadsheets open in Chinese, too, and in which text stays text."""

import csv
import io
from decimal import Decimal

from app.i18n import Language
from app.reports.weekly import WeeklyReport
from app.reports.writers.tables import ReportTables

# A cell that a spreadsheet would take for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def report_csv(report: WeeklyReport, language: Language) -> str:
    """The tables one below the other, each under its title, with a byte order mark for spreadsheets."""
    tables = ReportTables(report, language)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([plain_text(tables.title())])
    for table in tables.all():
        writer.writerow([])
        writer.writerow([plain_text(table.title)])
        writer.writerow([plain_text(column) for column in table.columns])
        writer.writerows([_cell(value) for value in row] for row in table.rows)
    return "\ufeff" + buffer.getvalue()


def _cell(value: str | Decimal) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else plain_text(value)


def plain_text(text: str) -> str:
    """Text that begins, after spaces, like a formula gets an apostrophe in front."""
    return "'" + text if text.lstrip(" ").startswith(_FORMULA_STARTS) else text
