"""The parts of the project page that show its runs and charges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar

from sqlalchemy import func
from sqlmodel import Session, col, or_, select

from app.accounts.access import Actor
from app.catalog.gpus import find_gpu
from app.catalog.models import Offer, Voucher
from app.planning.models import Plan
from app.projects.figures import figures_of
from app.projects.models import Project
from app.tracking.answers import charge_flags, run_flags
from app.tracking.charge_fields import terms_of
from app.tracking.charges import live_charges
from app.tracking.models import Charge, Run
from app.tracking.run_fields import cost_in_project, run_time
from app.tracking.runs import live_runs, overlapping_ids
from app.tracking.vouchers import vouchers_of

ROWS_PER_PAGE = 50

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Rows(Generic[Row]):
    """One page of a table, newest first."""

    rows: Sequence[Row]
    number: int
    total: int

    @property
    def count(self) -> int:
        """How many pages there are."""
        return max(1, -(-self.total // ROWS_PER_PAGE))


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as a line of the table shows it; ``cost`` is in the project's currency."""

    run: Run
    hours: float
    instance_type: str
    gpu_name: str
    cost: Decimal
    flags: Sequence[str]
    predicted_bytes: int | None


@dataclass(frozen=True, slots=True)
class RunsSection:
    """A page of the project's runs, with the sums of all of them."""

    table: Rows[RunRow]
    instance_us: int
    gpu_us: int


@dataclass(frozen=True, slots=True)
class ChargeRow:
    """A charge as a line of the table shows it; both amounts are in the project's currency."""

    charge: Charge
    voucher: Voucher | None
    list_cost: Decimal
    cost: Decimal
    flags: Sequence[str]


def runs_section(session: Session, actor: Actor, project: Project, page: int = 1) -> dict[str, Any]:
    """What ``tracking/runs_section.html`` needs beside ``project`` and ``actor``."""
    found = _page_of(session, live_runs(project), (col(Run.started_at), col(Run.id)), page)
    figures = figures_of(session, [project], actor.today)[project.id or 0]
    table = Rows(run_rows(session, project, found.rows), found.number, found.total)
    return {"runs": RunsSection(table, figures.instance_us, figures.gpu_us)}


def charges_section(session: Session, project: Project, page: int = 1) -> dict[str, Any]:
    """What ``tracking/charges_section.html`` needs beside ``project`` and ``actor``."""
    found = _page_of(session, live_charges(project), (col(Charge.period_start), col(Charge.id)), page)
    vouchers = vouchers_of(session, project, found.rows)
    rows = [_charge_row(charge, vouchers) for charge in found.rows]
    return {"charges": Rows(rows, found.number, found.total)}


def run_rows(session: Session, project: Project, runs: Sequence[Run]) -> list[RunRow]:
    """The lines of runs, in three queries however many there are."""
    overlapping = overlapping_ids(session, runs)
    types = _instance_types(session, project, {run.offer_id for run in runs if run.offer_id is not None})
    predicted = _predicted_bytes(session, project, {run.plan_id for run in runs if run.plan_id is not None})
    return [_run_row(run, run.id in overlapping, types, predicted) for run in runs]


def one_charge(session: Session, project: Project, charge: Charge) -> ChargeRow:
    """The line of a charge."""
    return _charge_row(charge, vouchers_of(session, project, [charge]))


def _charge_row(charge: Charge, vouchers: Mapping[int, Voucher]) -> ChargeRow:
    terms = terms_of(charge)
    return ChargeRow(
        charge=charge,
        voucher=vouchers.get(charge.id or 0),
        list_cost=terms.list_cost,
        cost=terms.cost,
        flags=charge_flags(charge),
    )


def _page_of(session: Session, statement: Any, order: tuple[Any, ...], page: int) -> Rows[Any]:
    total = session.exec(select(func.count()).select_from(statement.subquery())).one()
    number = min(max(page, 1), max(1, -(-total // ROWS_PER_PAGE)))
    newest_first = statement.order_by(*(column.desc() for column in order))
    rows = session.exec(newest_first.limit(ROWS_PER_PAGE).offset((number - 1) * ROWS_PER_PAGE)).all()
    return Rows(rows, number, total)


def _run_row(
    run: Run, overlaps: bool, types: Mapping[int, str], predicted: Mapping[int, int | None]
) -> RunRow:
    gpu = find_gpu(run.gpu) if run.gpu else None
    return RunRow(
        run=run,
        hours=run_time(run).hours,
        instance_type=types.get(run.offer_id or 0, ""),
        gpu_name=gpu.name if gpu else "",
        cost=cost_in_project(run),
        flags=run_flags(run, overlaps=overlaps),
        predicted_bytes=predicted.get(run.plan_id or 0),
    )


def _instance_types(session: Session, project: Project, ids: set[int]) -> dict[int, str]:
    """Of deleted offers too: runs keep what they were logged with."""
    seen = or_(col(Offer.team_id).is_(None), col(Offer.team_id) == project.team_id)
    offers = session.exec(select(Offer).where(seen, col(Offer.id).in_(ids)))
    return {offer.id or 0: offer.instance_type for offer in offers}


def _predicted_bytes(session: Session, project: Project, ids: set[int]) -> dict[int, int | None]:
    """What the runs' plans expect of the framework's allocator, which is what a trainer measures."""
    statement = select(Plan).where(col(Plan.team_id) == project.team_id, col(Plan.id).in_(ids))
    return {
        plan.id or 0: (plan.result.get("memory") or {}).get("peak_allocated_bytes")
        for plan in session.exec(statement)
    }
