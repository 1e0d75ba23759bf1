"""The report as Markdown tables."""

from decimal import Decimal

from app.i18n import Language
from app.reports.weekly import WeeklyReport
from app.reports.writers.tables import ReportTables, Table

_SPECIAL = "\\`*_{}[]<>|#~"


def report_markdown(report: WeeklyReport, language: Language) -> str:
    """One section a table; tables without rows say so."""
    tables = ReportTables(report, language)
    parts = [f"# {_escaped(tables.title())}"]
    for table in tables.all():
        parts.append(f"## {_escaped(table.title)}")
        parts.append(_table(table) if table.rows else tables.say("None this week."))
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    numeric = [
        all(isinstance(row[index], Decimal) for row in table.rows) for index in range(len(table.columns))
    ]
    lines = [
        _line([_escaped(column) for column in table.columns]),
        _line(["---:" if is_number else "---" for is_number in numeric]),
        *(_line([_cell(value) for value in row]) for row in table.rows),
    ]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(value: str | Decimal) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else _escaped(value)


def _escaped(text: str) -> str:
    flat = " ".join(text.split())
    return "".join("\\" + character if character in _SPECIAL else character for character in flat)
