"""The ledger: the one truth about spend.

Tracking posts spend entries, planning posts reservations; ``post_spend`` alone checks blocking, with the project's row
locked, so that no race can take spend past a limit. ``figures.py`` reads it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sqlalchemy import func
from sqlmodel import Session, col, delete, select

from app.errors import Conflict
from app.i18n import Message
from app.money import ZERO, format_amount
from app.projects.budget import Budget, DayRange, DaySpend, exceeds, period_containing
from app.projects.figures import (
    Figures,
    SourceType,
    budget_in_force,
    figures_of,
    of_project,
    project_id_of,
    remaining_of_plan,
    within,
)
from app.projects.models import Project, Reservation, SpendEntry
from app.projects.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Source:
    """What spent the money."""

    type: SourceType
    id: int
    plan_id: int | None = None


def lock_project(session: Session, project: Project) -> None:
    """Holds the project's row until the transaction ends, so that changes of its spend follow one another."""
    session.exec(select(Project.id).where(col(Project.id) == project.id).with_for_update()).one()


def post_spend(
    session: Session, project: Project, source: Source, days: Sequence[DaySpend], *, already_gone: bool
) -> bool:
    """Replaces the source's entries with ``days``; the answer says whether spend is now past the limit.

    Raises Conflict ``budget-exceeded`` when the budget blocks and the change would take spend past its limit. Money
    that is ``already_gone`` is recorded all the same.
    """
    lock_project(session, project)
    budget = budget_in_force(session, project)
    before = _entries_of(session, project, source)
    over = _passes_limit(session, project, budget, before, days)
    if over and budget.block_when_spent and not already_gone:
        raise _budget_exceeded(project, budget)
    _replace_entries(session, project, source, days)
    return over


def remove_spend(session: Session, project: Project, source: Source) -> None:
    """Takes the source's entries out of the ledger: it was deleted."""
    lock_project(session, project)
    _replace_entries(session, project, source, [])


def post_reservation(
    session: Session, project: Project, plan_id: int, schedule: Schedule, today: date
) -> None:
    """Sets the plan's cost aside. Raises Conflict ``budget-exceeded`` when a blocking budget has not so much free."""
    lock_project(session, project)
    figures = figures_of(session, [project], today)[project_id_of(project)]
    wanted = _still_reserved(session, project, plan_id, schedule, figures)
    if figures.budget.block_when_spent and wanted > max(figures.free, ZERO):
        raise _budget_exceeded(project, figures.budget)
    session.add(
        Reservation(
            team_id=project.team_id,
            project_id=project_id_of(project),
            plan_id=plan_id,
            planned_cost=schedule.planned_cost,
            planned_hours=schedule.planned_hours,
            starts_on=schedule.starts_on,
            hours_per_week=schedule.hours_per_week,
        )
    )
    session.flush()


def remove_reservation(session: Session, project: Project, plan_id: int) -> None:
    """Frees what the plan had set aside, if anything."""
    lock_project(session, project)
    session.exec(
        delete(Reservation).where(
            col(Reservation.team_id) == project.team_id, col(Reservation.plan_id) == plan_id
        )
    )


def _entries_of(session: Session, project: Project, source: Source) -> list[DaySpend]:
    statement = select(SpendEntry).where(
        of_project(project),
        col(SpendEntry.source_type) == source.type,
        col(SpendEntry.source_id) == source.id,
    )
    return [
        DaySpend(entry.local_day, entry.list_amount, entry.billed_amount, entry.instance_us, entry.gpu_us)
        for entry in session.exec(statement)
    ]


def _replace_entries(session: Session, project: Project, source: Source, days: Sequence[DaySpend]) -> None:
    session.exec(
        delete(SpendEntry).where(
            of_project(project),
            col(SpendEntry.source_type) == source.type,
            col(SpendEntry.source_id) == source.id,
        )
    )
    session.add_all(
        SpendEntry(
            team_id=project.team_id,
            project_id=project_id_of(project),
            source_type=source.type,
            source_id=source.id,
            plan_id=source.plan_id,
            local_day=day.local_day,
            list_amount=day.list_amount,
            billed_amount=day.billed_amount,
            instance_us=day.instance_us,
            gpu_us=day.gpu_us,
        )
        for day in days
    )
    session.flush()


def _passes_limit(
    session: Session, project: Project, budget: Budget, before: Sequence[DaySpend], after: Sequence[DaySpend]
) -> bool:
    """Whether any of the budget's periods that the change touches would be past the limit because of it."""
    periods = {period_containing(budget, day.local_day) for day in (*before, *after)} - {None}
    for period in periods:
        spent = _spent_within(session, project, budget, period)
        old = _sum_within(before, budget, period)
        new = _sum_within(after, budget, period)
        if exceeds(spent, spent - old + new, budget.amount):
            return True
    return False


def _spent_within(session: Session, project: Project, budget: Budget, period: DayRange | None) -> Decimal:
    column = SpendEntry.billed_amount if budget.counts == "billed" else SpendEntry.list_amount
    spent: Decimal | None = session.exec(
        select(func.sum(column)).where(of_project(project), *within(period))
    ).one()
    return spent or ZERO


def _sum_within(days: Iterable[DaySpend], budget: Budget, period: DayRange | None) -> Decimal:
    amounts = (
        day.billed_amount if budget.counts == "billed" else day.list_amount
        for day in days
        if period is not None and day.local_day in period
    )
    return sum(amounts, ZERO)


def _budget_exceeded(project: Project, budget: Budget) -> Conflict:
    limit = f"{project.currency} {format_amount(budget.amount, project.currency)}"
    return Conflict(
        Message("This would take spend past the budget of %(limit)s.", limit=limit), "budget-exceeded"
    )


def _still_reserved(
    session: Session, project: Project, plan_id: int, schedule: Schedule, figures: Figures
) -> Decimal:
    return remaining_of_plan(session, project.team_id, plan_id, schedule, figures.budget, figures.period)
