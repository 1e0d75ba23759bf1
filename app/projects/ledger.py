"""The ledger: the one truth about spend. Nothing else adds up money.

Tracking posts spend entries, planning posts reservations; ``post_spend`` alone checks blocking, with the project's row
locked, so that no race can take spend past a limit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from sqlalchemy import ColumnElement, func
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, delete, select

from app.errors import Conflict
from app.i18n import Message
from app.money import ZERO, Money, format_amount
from app.projects.budget import (
    Budget,
    DayRange,
    DaySpend,
    State,
    current_period,
    exceeds,
    free_amount,
    period_containing,
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
class Source:
    """What spent the money."""

    type: SourceType
    id: int
    plan_id: int | None = None


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
    figures = figures_of(session, [project], today)[_id(project)]
    wanted = _still_reserved(session, project, plan_id, schedule, figures)
    if figures.budget.block_when_spent and wanted > max(figures.free, ZERO):
        raise _budget_exceeded(project, figures.budget)
    session.add(
        Reservation(
            team_id=project.team_id,
            project_id=_id(project),
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
        _id(project): _figures(
            project,
            budgets[_id(project)],
            periods[_id(project)],
            to_date.get(_id(project), _Totals()),
            in_period.get(_id(project), _Totals()),
            reserved.get(_id(project), ZERO),
        )
        for project in projects
    }


def spent_within(session: Session, projects: Sequence[Project], days: DayRange) -> dict[int, Decimal]:
    """What was billed to each project of one team within the days."""
    if not projects:
        return {}
    periods = {_id(project): days for project in projects}
    return {id_: totals.billed_amount for id_, totals in _totals(session, projects, periods).items()}


def has_spend(session: Session, project: Project) -> bool:
    """Whether anything was ever posted and not taken out again."""
    return session.exec(select(SpendEntry.id).where(_of_project(project)).limit(1)).first() is not None


def spend_by_day(session: Session, project: Project) -> Sequence[DaySpend]:
    """The project's spend of each local day that has any, in order."""
    statement = (
        select_columns(col(SpendEntry.local_day), *_SUMS)
        .where(_of_project(project))
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
        .where(_of_project(project), *_within(days))
        .group_by(col(SpendEntry.source_type), col(SpendEntry.source_id))
        .order_by(col(SpendEntry.source_type), col(SpendEntry.source_id))
    )
    return [
        SourceSpend(kind, id_, listed, billed, int(hours), int(gpu))
        for kind, id_, listed, billed, hours, gpu in session.execute(statement)
    ]


@dataclass(frozen=True, slots=True)
class _Totals:
    list_amount: Decimal = ZERO
    billed_amount: Decimal = ZERO
    instance_us: int = 0
    gpu_us: int = 0

    def counted(self, budget: Budget) -> Decimal:
        return self.billed_amount if budget.counts == "billed" else self.list_amount


def _id(project: Project) -> int:
    if project.id is None:
        raise ValueError("the project is not stored yet")
    return project.id


def _of_project(project: Project) -> ColumnElement[bool]:
    return (col(SpendEntry.team_id) == project.team_id) & (col(SpendEntry.project_id) == project.id)


def _within(days: DayRange | None) -> list[ColumnElement[bool]]:
    if days is None:
        return []
    conditions = [col(SpendEntry.local_day) >= days.first]
    if days.end is not None:
        conditions.append(col(SpendEntry.local_day) < days.end)
    return conditions


def _entries_of(session: Session, project: Project, source: Source) -> list[DaySpend]:
    statement = select(SpendEntry).where(
        _of_project(project),
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
            _of_project(project),
            col(SpendEntry.source_type) == source.type,
            col(SpendEntry.source_id) == source.id,
        )
    )
    session.add_all(
        SpendEntry(
            team_id=project.team_id,
            project_id=_id(project),
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
        select(func.sum(column)).where(_of_project(project), *_within(period))
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


def _budgets_of(session: Session, projects: Sequence[Project]) -> dict[int, Budget]:
    statement = (
        select(BudgetChange)
        .where(
            col(BudgetChange.team_id) == projects[0].team_id,
            col(BudgetChange.project_id).in_([_id(project) for project in projects]),
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
        wanted = col(SpendEntry.project_id).in_([_id(project) for project in projects])
        return _grouped(session, scope & wanted)
    by_range: dict[DayRange, list[int]] = {}
    for id_, period in periods.items():
        by_range.setdefault(period, []).append(id_)
    totals: dict[int, _Totals] = {}
    for period, ids in by_range.items():
        condition = scope & col(SpendEntry.project_id).in_(ids)
        for part in _within(period):
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
        col(Reservation.project_id).in_([_id(project) for project in projects]),
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
    return _remaining_of_plan(session, reservation.team_id, reservation.plan_id, schedule, budget, period)


def _still_reserved(
    session: Session, project: Project, plan_id: int, schedule: Schedule, figures: Figures
) -> Decimal:
    return _remaining_of_plan(session, project.team_id, plan_id, schedule, figures.budget, figures.period)


def _remaining_of_plan(
    session: Session, team_id: int, plan_id: int, schedule: Schedule, budget: Budget, period: DayRange
) -> Decimal:
    days = None if budget.period == "total" else period
    planned = schedule.planned_cost if days is None else schedule.cost_within(days)
    column = SpendEntry.billed_amount if budget.counts == "billed" else SpendEntry.list_amount
    statement = select(func.sum(column)).where(
        col(SpendEntry.team_id) == team_id, col(SpendEntry.plan_id) == plan_id, *_within(days)
    )
    spent: Decimal | None = session.exec(statement).one()
    return reserved_amount(planned, spent or ZERO)


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


def project_money(project: Project, amount: Decimal) -> Money:
    """An amount in the project's currency."""
    return Money(amount, project.currency)
