"""Projected against actual for one project, from the ledger and the baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlmodel import Session

from app.accounts.access import Actor
from app.outlook.cumulative import DayAmount, actual_line, projected_line
from app.planning.models import Plan
from app.planning.service import find_baseline, schedule_of
from app.projects.figures import Figures, budget_changes, budget_of, figures_of, spend_by_day
from app.projects.models import BudgetChange, Project
from app.time import hours_of


@dataclass(frozen=True, slots=True)
class Outlook:
    """Where a project stands."""

    project: Project
    figures: Figures
    baseline: Plan | None
    projected: Sequence[DayAmount]
    actual: Sequence[DayAmount]
    budget_changes: Sequence[BudgetChange]

    @property
    def remaining_hours(self) -> float | None:
        """Planned hours not run yet; None without a baseline that plans hours."""
        if self.baseline is None or self.baseline.planned_hours is None:
            return None
        return max(0.0, self.baseline.planned_hours - hours_of(self.figures.instance_us))

    @property
    def planned_to_date(self) -> Decimal | None:
        """What the baseline would have spent up to the last day of the actual line."""
        if not self.projected or not self.actual:
            return None
        until = self.actual[-1].day
        reached = [point.amount for point in self.projected if point.day <= until]
        return reached[-1] if reached else Decimal(0)


def build_outlook(session: Session, actor: Actor, project: Project) -> Outlook:
    """Reads the ledger and the baseline; stores nothing."""
    figures = figures_of(session, [project], actor.today)[project.id or 0]
    baseline = find_baseline(session, project)
    schedule = None if baseline is None else schedule_of(baseline)
    counts_billed = figures.budget.counts == "billed"
    spends = [
        (day.local_day, day.billed_amount if counts_billed else day.list_amount)
        for day in spend_by_day(session, project)
    ]
    first = None if schedule is None else min(schedule.starts_on, actor.today)
    return Outlook(
        project=project,
        figures=figures,
        baseline=baseline,
        projected=projected_line(schedule),
        actual=actual_line(spends, first, actor.today),
        budget_changes=budget_changes(session, project),
    )


def budget_steps(outlook: Outlook, actor: Actor) -> list[DayAmount]:
    """The budget's amounts with the local days from which they hold, for the chart; of total budgets only."""
    steps: list[DayAmount] = []
    for change in outlook.budget_changes:
        budget = budget_of(change)
        day = (
            max(budget.starts_on, change.effective_at.astimezone(actor.zone).date())
            if steps
            else budget.starts_on
        )
        steps.append(DayAmount(day, budget.amount))
    return steps if outlook.figures.budget.period == "total" else []
