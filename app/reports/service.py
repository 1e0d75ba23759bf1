"""Builds the weekly report from the ledger, for a project or for the whole team."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.catalog.models import Offer
from app.catalog.rates import convert_rate
from app.errors import InvalidInput
from app.estimator import ESTIMATOR_VERSION
from app.planning.models import Plan
from app.projects.access import get_project
from app.projects.budget import DayRange, current_period, state_of
from app.projects.figures import SourceSpend, SourceType, budget_changes, budget_of, spend_by_source
from app.projects.models import Project
from app.projects.schedule import Schedule
from app.reports.digest import digest_of
from app.reports.weekly import (
    ChargeRow,
    ExactTotals,
    PriceDate,
    ProjectLine,
    RunRow,
    Totals,
    UsedRate,
    WeeklyReport,
    shown_totals,
)
from app.time import Week, hours_of, start_of_day
from app.tracking.models import Charge, Run


@dataclass(slots=True)
class _ProjectWeek:
    """One project's part of the report, in its own currency."""

    project: Project
    week: ExactTotals = field(default_factory=ExactTotals)
    to_date: ExactTotals = field(default_factory=ExactTotals)
    runs: list[RunRow] = field(default_factory=list)
    charges: list[ChargeRow] = field(default_factory=list)
    line: ProjectLine | None = None


def build_weekly_report(
    session: Session, actor: Actor, week: Week, project_id: int | None = None
) -> WeeklyReport:
    """The report of a week. Raises NotFound for a project that the team does not have."""
    project = None if project_id is None else get_project(session, actor, project_id)
    projects = [project] if project is not None else _projects_with_past(session, actor)
    currency = project.currency if project is not None else actor.team.currency
    parts = [_project_week(session, actor, each, week) for each in projects]
    rates = _rates_to(session, actor, currency, parts, week)
    runs = sorted((row for part in parts for row in part.runs), key=lambda row: (row.started_at, row.id))
    charges = sorted(
        (row for part in parts for row in part.charges), key=lambda row: (row.period_start, row.id)
    )
    lines = [part.line for part in parts if part.line is not None]
    totals, to_date, others = _totals(parts, currency, rates)
    starts_at = start_of_day(week.monday, actor.zone)
    ends_at = start_of_day(week.next_monday, actor.zone)
    return WeeklyReport(
        week=week,
        team_name=actor.team.name,
        zone_name=actor.team.time_zone,
        project_id=project_id,
        project_name=None if project is None else project.name,
        starts_at=starts_at,
        ends_at=ends_at,
        cut_off=min(max(actor.clock(), starts_at), ends_at),
        totals=totals,
        to_date=to_date,
        other_currencies=others,
        projects=lines,
        runs=runs,
        charges=charges,
        prices=_price_dates(session, actor, runs),
        rates=[rate for code, rate in sorted(rates.items()) if code != currency],
        estimator_version=ESTIMATOR_VERSION,
        digest=_digest(week, currency, runs, charges, totals, to_date, rates),
    )


def _projects_with_past(session: Session, actor: Actor) -> Sequence[Project]:
    """Every project of the team, deleted ones too: their spend stays in past reports."""
    statement = select(Project).where(col(Project.team_id) == actor.team_id).order_by(col(Project.id))
    return session.exec(statement).all()


def _project_week(session: Session, actor: Actor, project: Project, week: Week) -> _ProjectWeek:
    part = _ProjectWeek(project)
    days = DayRange(week.monday, week.next_monday)
    in_week = spend_by_source(session, project, days)
    until_end = spend_by_source(session, project, DayRange(week.monday.min, week.next_monday))
    part.week = sum((_exact(spend) for spend in in_week), ExactTotals())
    part.to_date = sum((_exact(spend) for spend in until_end), ExactTotals())
    spends = {(spend.source_type, spend.source_id): spend for spend in in_week}
    part.runs = _run_rows(session, actor, project, week, spends)
    part.charges = _charge_rows(session, project, spends)
    if project.deleted_at is None:
        part.line = _project_line(session, project, week, part)
    return part


def _exact(spend: SourceSpend) -> ExactTotals:
    is_run = spend.source_type == "run"
    return ExactTotals(
        instance_us=spend.instance_us,
        gpu_us=spend.gpu_us,
        compute=spend.billed_amount if is_run else Decimal(0),
        charges=Decimal(0) if is_run else spend.billed_amount,
        listed=spend.list_amount,
    )


_Spends = Mapping[tuple[SourceType, int], SourceSpend]


def _run_rows(session: Session, actor: Actor, project: Project, week: Week, spends: _Spends) -> list[RunRow]:
    """The runs with hours in the week, and those that started in it and have none yet."""
    starts_at, ends_at = start_of_day(week.monday, actor.zone), start_of_day(week.next_monday, actor.zone)
    statement = select(Run).where(
        col(Run.team_id) == project.team_id,
        col(Run.project_id) == project.id,
        col(Run.deleted_at).is_(None),
        col(Run.started_at) < ends_at,
        (col(Run.ended_at).is_(None)) | (col(Run.ended_at) >= starts_at),
    )
    rows = []
    for run in session.exec(statement):
        spend = spends.get(("run", run.id or 0))
        if spend is not None or run.started_at >= starts_at:
            rows.append(_run_row(project, run, spend))
    return rows


def _run_row(project: Project, run: Run, spend: SourceSpend | None) -> RunRow:
    return RunRow(
        id=run.id or 0,
        project_id=project.id or 0,
        project_name=project.name,
        name=run.name,
        started_at=run.started_at,
        ended_at=run.ended_at,
        state=run.state,
        instance=run.instance,
        instance_count=run.instance_count,
        gpu=run.gpu,
        billing=run.billing,
        price_per_hour=run.price_per_hour,
        price_currency=run.currency,
        hours=hours_of(spend.instance_us) if spend else 0.0,
        gpu_hours=hours_of(spend.gpu_us) if spend else 0.0,
        listed=spend.list_amount if spend else Decimal(0),
        cost=spend.billed_amount if spend else Decimal(0),
        currency=project.currency,
        interruptions=run.interruptions,
        lost_hours=run.lost_hours,
        note=run.note,
    )


def _charge_rows(session: Session, project: Project, spends: _Spends) -> list[ChargeRow]:
    ids = [source_id for kind, source_id in spends if kind == "charge"]
    rows: list[ChargeRow] = []
    # In parts: a statement can carry only so many values.
    for start in range(0, len(ids), 500):
        statement = select(Charge).where(
            col(Charge.team_id) == project.team_id, col(Charge.id).in_(ids[start : start + 500])
        )
        rows.extend(
            _charge_row(project, charge, spends["charge", charge.id or 0])
            for charge in session.exec(statement)
        )
    return rows


def _charge_row(project: Project, charge: Charge, spend: SourceSpend) -> ChargeRow:
    return ChargeRow(
        id=charge.id or 0,
        project_id=project.id or 0,
        project_name=project.name,
        category=charge.category,
        service=charge.service,
        period_start=charge.period_start,
        period_end=charge.period_end,
        listed=spend.list_amount,
        amount=spend.billed_amount,
        currency=project.currency,
        note=charge.note,
    )


def _project_line(session: Session, project: Project, week: Week, part: _ProjectWeek) -> ProjectLine | None:
    """The project against its plan; None for one that had not begun by the week's end."""
    changes = budget_changes(session, project)
    budget = budget_of(changes[-1])
    last_day = week.next_monday - timedelta(days=1)
    if last_day < budget.starts_on and part.to_date == ExactTotals():
        return None
    period = current_period(budget, last_day)
    until_end = DayRange(period.first, week.next_monday)
    spent = sum(
        (
            spend.billed_amount if budget.counts == "billed" else spend.list_amount
            for spend in spend_by_source(session, project, until_end)
        ),
        Decimal(0),
    )
    schedule = _baseline_schedule(session, project)
    return ProjectLine(
        id=project.id or 0,
        name=project.name,
        currency=project.currency,
        planned_week=None
        if schedule is None
        else schedule.cost_within(DayRange(week.monday, week.next_monday)),
        billed_week=part.week.compute + part.week.charges,
        planned_to_date=None if schedule is None else schedule.cost_before(week.next_monday),
        spent=spent,
        budget=budget.amount,
        target=project.target,
        state=state_of(spent, budget.amount, project.alert_thresholds),
    )


def _baseline_schedule(session: Session, project: Project) -> Schedule | None:
    statement = select(Plan).where(
        col(Plan.team_id) == project.team_id,
        col(Plan.project_id) == project.id,
        col(Plan.is_baseline).is_(True),
        col(Plan.deleted_at).is_(None),
    )
    plan = session.exec(statement).first()
    if plan is None or plan.planned_hours is None or plan.planned_cost is None:
        return None
    return Schedule(plan.starts_on, plan.planned_hours, plan.hours_per_week, plan.planned_cost)


def _rates_to(
    session: Session, actor: Actor, currency: str, parts: Sequence[_ProjectWeek], week: Week
) -> dict[str, UsedRate]:
    """The rates that bring other projects' money into the report's currency, as of the week's last day or today."""
    day = min(week.next_monday - timedelta(days=1), actor.today)
    rates: dict[str, UsedRate] = {}
    for code in {part.project.currency for part in parts if part.to_date != ExactTotals()} - {currency}:
        try:
            found = convert_rate(session, actor.team_id, code, currency, day)
        except InvalidInput:
            continue
        rates[code] = UsedRate(code, currency, found.rate, found.day, found.source)
    return rates


def _totals(
    parts: Sequence[_ProjectWeek], currency: str, rates: Mapping[str, UsedRate]
) -> tuple[Totals, Totals, list[Totals]]:
    """The week's and the to-date totals in the report's currency, and the week's in those that no rate converts."""
    week, to_date = ExactTotals(), ExactTotals()
    rows: list[Decimal] = []
    apart: dict[str, ExactTotals] = {}
    apart_rows: dict[str, list[Decimal]] = {}
    for part in parts:
        own = part.project.currency
        amounts = [row.cost for row in part.runs] + [row.amount for row in part.charges]
        if own == currency:
            week, to_date = week + part.week, to_date + part.to_date
            rows += amounts
        elif own in rates:
            rate = rates[own].rate
            week, to_date = week + part.week.converted(rate), to_date + part.to_date.converted(rate)
            rows += [amount * rate for amount in amounts]
        elif part.to_date != ExactTotals():
            apart[own] = apart.get(own, ExactTotals()) + part.week
            apart_rows.setdefault(own, []).extend(amounts)
    others = [shown_totals(exact, code, apart_rows[code]) for code, exact in sorted(apart.items())]
    return shown_totals(week, currency, rows), shown_totals(to_date, currency, None), others


def _price_dates(session: Session, actor: Actor, runs: Sequence[RunRow]) -> list[PriceDate]:
    """The offers behind the week's runs, with the day their price is of."""
    ids = [row.id for row in runs]
    prices: dict[tuple[str, str, Decimal, str], PriceDate] = {}
    for start in range(0, len(ids), 500):
        statement = (
            select(Run, Offer)
            .join(Offer, col(Offer.id) == col(Run.offer_id), isouter=True)
            .where(col(Run.team_id) == actor.team_id, col(Run.id).in_(ids[start : start + 500]))
            .order_by(col(Run.id))
        )
        for run, offer in session.exec(statement):
            price = _price_date(actor, run, offer)
            prices[price.provider, price.instance_type, price.price_per_hour, price.currency] = price
    return list(prices.values())


def _price_date(actor: Actor, run: Run, offer: Offer | None) -> PriceDate:
    if offer is None:
        return PriceDate("", run.gpu or "", run.price_per_hour, run.currency, None, "")
    dated = offer.price_per_hour == run.price_per_hour and offer.currency == run.currency
    return PriceDate(
        offer.provider,
        offer.instance_type,
        run.price_per_hour,
        run.currency,
        offer.as_of if dated else run.started_at.astimezone(actor.zone).date(),
        offer.source,
    )


def _digest(
    week: Week,
    currency: str,
    runs: Sequence[RunRow],
    charges: Sequence[ChargeRow],
    totals: Totals,
    to_date: Totals,
    rates: Mapping[str, UsedRate],
) -> str:
    run_inputs = [
        [row.id, row.name, row.started_at, row.ended_at, row.state, row.hours, row.cost] for row in runs
    ]
    charge_inputs = [[row.id, row.category, row.service, row.amount, row.listed] for row in charges]
    rate_inputs = [[code, rate.rate, rate.day] for code, rate in sorted(rates.items())]
    sums = [[part.hours, part.compute, part.charges, part.listed, part.billed] for part in (totals, to_date)]
    return digest_of([str(week), currency, run_inputs, charge_inputs, rate_inputs, sums])
