"""A project as the JSON API answers it."""

from datetime import date
from typing import Any

from app.api.answers import Answer, InstantAnswer, MoneyAnswer
from app.money import format_amount
from app.projects.budget import BudgetPeriod, Counts, State
from app.projects.figures import Figures
from app.projects.models import BudgetChange, Project
from app.time import hours_of


class BudgetAnswer(Answer):
    """The budget in force; ``amount`` is in the project's currency."""

    amount: str
    period: BudgetPeriod
    starts_on: date
    ends_on: date | None
    counts: Counts
    block_when_spent: bool


class BudgetChangeAnswer(BudgetAnswer):
    """A budget that the project has or had, from an instant on."""

    effective_at: InstantAnswer
    changed_by: str
    reason: str


class ProjectAnswer(Answer):
    """A project; ``spent``, ``reserved``, ``free`` and ``state`` are of the budget's current period."""

    id: int
    name: str
    goal: str
    currency: str
    target: str | None
    alert_thresholds: list[int]
    budget: BudgetAnswer
    spent: MoneyAnswer
    reserved: MoneyAnswer
    free: MoneyAnswer
    spent_list: MoneyAnswer
    spent_billed: MoneyAnswer
    hours: float
    gpu_hours: float
    state: State
    created_at: InstantAnswer
    version: int


class SingleProjectAnswer(ProjectAnswer):
    """With every budget it has had, oldest first."""

    budget_history: list[BudgetChangeAnswer]


def project_fields(project: Project, figures: Figures) -> dict[str, Any]:
    """The fields of a ProjectAnswer."""
    code = project.currency
    return {
        "id": project.id or 0,
        "name": project.name,
        "goal": project.goal,
        "currency": code,
        "target": None if project.target is None else format_amount(project.target, code),
        "alert_thresholds": project.alert_thresholds,
        "budget": BudgetAnswer(
            amount=format_amount(figures.budget.amount, code),
            period=figures.budget.period,
            starts_on=figures.budget.starts_on,
            ends_on=figures.budget.ends_on,
            counts=figures.budget.counts,
            block_when_spent=figures.budget.block_when_spent,
        ),
        "spent": MoneyAnswer.of(figures.spent, code),
        "reserved": MoneyAnswer.of(figures.reserved, code),
        "free": MoneyAnswer.of(figures.free, code),
        "spent_list": MoneyAnswer.of(figures.spent_list, code),
        "spent_billed": MoneyAnswer.of(figures.spent_billed, code),
        "hours": hours_of(figures.instance_us),
        "gpu_hours": hours_of(figures.gpu_us),
        "state": figures.state,
        "created_at": project.created_at,
        "version": project.version,
    }


def budget_change_answer(change: BudgetChange, currency: str) -> BudgetChangeAnswer:
    """One entry of the budget's history."""
    return BudgetChangeAnswer(
        amount=format_amount(change.amount, currency),
        period=change.period,
        starts_on=change.starts_on,
        ends_on=change.ends_on,
        counts=change.counts,
        block_when_spent=change.block_when_spent,
        effective_at=change.effective_at,
        changed_by=change.changed_by,
        reason=change.reason,
    )
