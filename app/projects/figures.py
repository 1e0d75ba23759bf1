"""What the ledger says: a project's figures, its budgets, its spend by day and source. Nothing else adds up money."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from sqlalchemy import ColumnElement, func
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, select

from app.money import ZERO
from app.projects.budget import (
    Budget,
    DayRange,
    DaySpend,
    State,
    current_period,
    free_amount,
    reserved_amount,
    state_of,
)
from app.projects.models import BudgetChange, Project, Reservation, SpendEntry
from app.projects.schedule import Schedule

SourceType = Literal["run", "charge"]

_SUMS = (
    func.sum(col(SpendEntry.list_amount)),
    func.sum(col(SpendEntry.billed_amount)),
    func.sum(col(SpendEntry.instance_us)),
    func.sum(col(SpendEntry.gpu_us)),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """A project's figures; ``spent``, ``reserved``, ``free``, ``state`` are of the budget's current period."""

    budget: Budget
    period: DayRange
    spent: Decimal
    reserved: Decimal
    free: Decimal
    state: State
    spent_list: Decimal
    spent_billed: Decimal
    instance_us: int
    gpu_us: int


def budget_changes(session: Session, project: Project) -> Sequence[BudgetChange]:
    """Every budget the project has had, oldest first."""
    statement = (
        select(BudgetChange)
        .where(col(BudgetChange.team_id) == project.team_id, col(BudgetChange.project_id) == project.id)
        .order_by(col(BudgetChange.effective_at), col(BudgetChange.id))
    )
    return session.exec(statement).all()


def budget_of(change: BudgetChange) -> Budget:
    """The stored row as a value."""
    return Budget(
        amount=change.amount,
        period=change.period,  # type: ignore[arg-type]
        starts_on=change.starts_on,
        ends_on=change.ends_on,
        counts=change.counts,  # type: ignore[arg-type]
        block_when_spent=change.block_when_spent,
    )


def budget_in_force(session: Session, project: Project) -> Budget:
    """The newest budget."""
    return budget_of(budget_changes(session, project)[-1])


def figures_of(session: Session, projects: Sequence[Project], today: date) -> Mapping[int, Figures]:
    """The figures of many projects of one team, by id, in a fixed number of queries."""
    if not projects:
        return {}
    budgets = _budgets_of(session, projects)
    periods = {id_: current_period(budget, today) for id_, budget in budgets.items()}
    to_date = _totals(session, projects)
    in_period = _totals(session, projects, periods)
    reserved = _reserved(session, projects, budgets, periods)
    return {
        project_id_of(project): _figures(
            project,
            budgets[project_id_of(project)],
            periods[project_id_of(project)],
            to_date.get(project_id_of(project), _Totals()),
            in_period.get(project_id_of(project), _Totals()),
            reserved.get(project_id_of(project), ZERO),
        )
        for project in projects
    }


def spent_within(session: Session, projects: Sequence[Project], days: DayRange) -> dict[int, Decimal]:
    """What was billed to each project of one team within the days."""
    if not projects:
        return {}
    periods = {project_id_of(project): days for project in projects}
    return {id_: totals.billed_amount for id_, totals in _totals(session, projects, periods).items()}


def has_spend(session: Session, project: Project) -> bool:
    """Whether anything was ever posted and not taken out again."""
    return session.exec(select(SpendEntry.id).where(of_project(project)).limit(1)).first() is not None


def spend_by_day(session: Session, project: Project) -> Sequence[DaySpend]:
    """The project's spend of each local day that has any, in order."""
    statement = (
        select_columns(col(SpendEntry.local_day), *_SUMS)
        .where(of_project(project))
        .group_by(col(SpendEntry.local_day))
        .order_by(col(SpendEntry.local_day))
    )
    return [
        DaySpend(day, listed, billed, int(hours), int(gpu))
        for day, listed, billed, hours, gpu in session.execute(statement)
    ]


@dataclass(frozen=True, slots=True)
class SourceSpend:
    """What one source spent within a range of days."""

    source_type: SourceType
    source_id: int
    list_amount: Decimal
    billed_amount: Decimal
    instance_us: int
    gpu_us: int


def spend_by_source(
    session: Session, project: Project, days: DayRange | None = None
) -> Sequence[SourceSpend]:
    """The spend of each run and charge within the days; of all time without."""
    statement = (
        select_columns(col(SpendEntry.source_type), col(SpendEntry.source_id), *_SUMS)
        .where(of_project(project), *within(days))
        .group_by(col(SpendEntry.source_type), col(SpendEntry.source_id))
        .order_by(col(SpendEntry.source_type), col(SpendEntry.source_id))
    )
    return [
        SourceSpend(kind, id_, listed, billed, int(hours), int(gpu))
        for kind, id_, listed, billed, hours, gpu in session.execute(statement)
    ]


def remaining_of_plan(
    session: Session, team_id: int, plan_id: int, schedule: Schedule, budget: Budget, period: DayRange
) -> Decimal:
    """What a plan still sets aside: of a total budget all of it less its spend, else the period's part of both."""
    days = None if budget.period == "total" else period
    planned = schedule.planned_cost if days is None else schedule.cost_within(days)
    column = SpendEntry.billed_amount if budget.counts == "billed" else SpendEntry.list_amount
    statement = select(func.sum(column)).where(
        col(SpendEntry.team_id) == team_id, col(SpendEntry.plan_id) == plan_id, *within(days)
    )
    spent: Decimal | None = session.exec(statement).one()
    return reserved_amount(planned, spent or ZERO)


@dataclass(frozen=True, slots=True)
class _Totals:
    list_amount: Decimal = ZERO
    billed_amount: Decimal = ZERO
    instance_us: int = 0
    gpu_us: int = 0

    def counted(self, budget: Budget) -> Decimal:
        return self.billed_amount if budget.counts == "billed" else self.list_amount


def _budgets_of(session: Session, projects: Sequence[Project]) -> dict[int, Budget]:
    statement = (
        select(BudgetChange)
        .where(
            col(BudgetChange.team_id) == projects[0].team_id,
            col(BudgetChange.project_id).in_([project_id_of(project) for project in projects]),
        )
        .order_by(col(BudgetChange.effective_at), col(BudgetChange.id))
    )
    return {change.project_id: budget_of(change) for change in session.exec(statement)}


def _totals(
    session: Session, projects: Sequence[Project], periods: Mapping[int, DayRange] | None = None
) -> dict[int, _Totals]:
    """Sums by project; with periods, of each project's own."""
    scope = col(SpendEntry.team_id) == projects[0].team_id
    if periods is None:
        wanted = col(SpendEntry.project_id).in_([project_id_of(project) for project in projects])
        return _grouped(session, scope & wanted)
    by_range: dict[DayRange, list[int]] = {}
    for id_, period in periods.items():
        by_range.setdefault(period, []).append(id_)
    totals: dict[int, _Totals] = {}
    for period, ids in by_range.items():
        condition = scope & col(SpendEntry.project_id).in_(ids)
        for part in within(period):
            condition = condition & part
        totals |= _grouped(session, condition)
    return totals


def _grouped(session: Session, condition: ColumnElement[bool]) -> dict[int, _Totals]:
    statement = (
        select_columns(col(SpendEntry.project_id), *_SUMS)
        .where(condition)
        .group_by(col(SpendEntry.project_id))
    )
    return {
        project_id: _Totals(listed, billed, int(hours), int(gpu))
        for project_id, listed, billed, hours, gpu in session.execute(statement)
    }


def _reserved(
    session: Session,
    projects: Sequence[Project],
    budgets: Mapping[int, Budget],
    periods: Mapping[int, DayRange],
) -> dict[int, Decimal]:
    statement = select(Reservation).where(
        col(Reservation.team_id) == projects[0].team_id,
        col(Reservation.project_id).in_([project_id_of(project) for project in projects]),
    )
    reserved: dict[int, Decimal] = {}
    for reservation in session.exec(statement):
        id_ = reservation.project_id
        amount = _still_set_aside(session, reservation, budgets[id_], periods[id_])
        reserved[id_] = reserved.get(id_, ZERO) + amount
    return reserved


def _still_set_aside(session: Session, reservation: Reservation, budget: Budget, period: DayRange) -> Decimal:
    """For a total budget the whole plan less all its spend; else only the current period's part of both."""
    schedule = Schedule(
        reservation.starts_on, reservation.planned_hours, reservation.hours_per_week, reservation.planned_cost
    )
    return remaining_of_plan(session, reservation.team_id, reservation.plan_id, schedule, budget, period)


def _figures(
    project: Project,
    budget: Budget,
    period: DayRange,
    to_date: _Totals,
    in_period: _Totals,
    reserved: Decimal,
) -> Figures:
    spent = in_period.counted(budget)
    return Figures(
        budget=budget,
        period=period,
        spent=spent,
        reserved=reserved,
        free=free_amount(budget.amount, spent, reserved),
        state=state_of(spent, budget.amount, project.alert_thresholds),
        spent_list=to_date.list_amount,
        spent_billed=to_date.billed_amount,
        instance_us=to_date.instance_us,
        gpu_us=to_date.gpu_us,
    )


def project_id_of(project: Project) -> int:
    """The id of a stored project."""
    if project.id is None:
        raise ValueError("the project is not stored yet")
    return project.id


def of_project(project: Project) -> ColumnElement[bool]:
    """The condition that an entry is the project's, of its own team."""
    return (col(SpendEntry.team_id) == project.team_id) & (col(SpendEntry.project_id) == project.id)


def within(days: DayRange | None) -> list[ColumnElement[bool]]:
    """The conditions that an entry falls into the days; none without."""
    if days is None:
        return []
    conditions = [col(SpendEntry.local_day) >= days.first]
    if days.end is not None:
        conditions.append(col(SpendEntry.local_day) < days.end)
    return conditions
