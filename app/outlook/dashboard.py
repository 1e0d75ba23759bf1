"""What the dashboard shows: a row a project, totals by currency, the week so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sqlmodel import Session

from app.accounts.access import Actor
from app.money import ZERO
from app.projects.budget import DayRange
from app.projects.figures import Figures, figures_of, spent_within
from app.projects.models import Project
from app.projects.service import list_projects
from app.time import week_of
from app.tracking.answers import run_hours
from app.tracking.models import Run
from app.tracking.runs import latest_runs
from app.web.charts import build_budget_bar


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """One project."""

    project: Project
    figures: Figures
    bar: Any
    last_run: Run | None
    last_hours: float
    running: int


@dataclass(frozen=True, slots=True)
class CurrencyTotals:
    """All projects of one currency together; different currencies are never added."""

    currency: str
    this_week: Decimal
    last_week: Decimal
    spent: Decimal
    budget: Decimal


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The whole board."""

    rows: Sequence[ProjectRow]
    totals: Sequence[CurrencyTotals]
    running: int


def build_dashboard(session: Session, actor: Actor) -> Dashboard:
    """In a fixed number of queries, however many projects there are."""
    projects = list_projects(session, actor)
    figures = figures_of(session, projects, actor.today)
    latest = latest_runs(session, projects)
    rows = [
        ProjectRow(
            project=project,
            figures=figures[project.id or 0],
            bar=_bar(project, figures[project.id or 0]),
            last_run=latest[project.id or 0].run,
            last_hours=_hours(latest[project.id or 0].run),
            running=latest[project.id or 0].running,
        )
        for project in projects
    ]
    return Dashboard(rows, _totals(session, actor, rows), sum(row.running for row in rows))


def _bar(project: Project, figures: Figures) -> Any:
    target = project.target if figures.budget.period == "total" else None
    return build_budget_bar(
        spent=figures.spent, reserved=figures.reserved, budget=figures.budget.amount, target=target
    )


def _hours(run: Run | None) -> float:
    return 0.0 if run is None else run_hours(run)


def _totals(session: Session, actor: Actor, rows: Sequence[ProjectRow]) -> list[CurrencyTotals]:
    monday = week_of(actor.today).monday
    projects = [row.project for row in rows]
    this_week = spent_within(session, projects, DayRange(monday, monday + timedelta(days=7)))
    last_week = spent_within(session, projects, DayRange(monday - timedelta(days=7), monday))
    by_currency: dict[str, list[ProjectRow]] = {}
    for row in rows:
        by_currency.setdefault(row.project.currency, []).append(row)
    return [
        CurrencyTotals(
            currency=currency,
            this_week=sum((this_week.get(row.project.id or 0, ZERO) for row in group), ZERO),
            last_week=sum((last_week.get(row.project.id or 0, ZERO) for row in group), ZERO),
            spent=sum((row.figures.spent_billed for row in group), ZERO),
            budget=sum((row.figures.budget.amount for row in group), ZERO),
        )
        # The team's own currency first.
        for currency, group in sorted(
            by_currency.items(), key=lambda item: (item[0] != actor.team.currency, item[0])
        )
    ]
