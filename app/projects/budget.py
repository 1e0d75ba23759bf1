"""Budget arithmetic: periods, what counts, states; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

BudgetPeriod = Literal["total", "monthly", "weekly"]
Counts = Literal["billed", "list"]
State = Literal["unused", "within", "near", "used_up", "over"]

DEFAULT_NEAR_PERCENT = 80
_WHOLE_PERCENT = 100


@dataclass(frozen=True, slots=True)
class DaySpend:
    """The spend of one source on one local day, in the project's currency."""

    local_day: date
    list_amount: Decimal
    billed_amount: Decimal
    instance_us: int = 0
    gpu_us: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget in force: an amount a period, from a day, perhaps to a day (both included)."""

    amount: Decimal
    period: BudgetPeriod
    starts_on: date
    ends_on: date | None
    counts: Counts
    block_when_spent: bool


@dataclass(frozen=True, slots=True)
class DayRange:
    """Local days from ``first`` up to, not including, ``end``; an ``end`` of None is open."""

    first: date
    end: date | None

    def __contains__(self, day: date) -> bool:
        return self.first <= day and (self.end is None or day < self.end)


def period_containing(budget: Budget, day: date) -> DayRange | None:
    """The budget's period that a day falls into, cut at the budget's own start and end; None outside them."""
    whole = DayRange(budget.starts_on, None if budget.ends_on is None else budget.ends_on + timedelta(days=1))
    if day not in whole:
        return None
    if budget.period == "total":
        return whole
    first, end = _month(day) if budget.period == "monthly" else _week(day)
    return DayRange(max(first, whole.first), end if whole.end is None else min(end, whole.end))


def current_period(budget: Budget, today: date) -> DayRange:
    """The period that today's figures are of: before the budget starts its first, after it ended its last."""
    day = max(today, budget.starts_on)
    if budget.ends_on is not None:
        day = min(day, budget.ends_on)
    period = period_containing(budget, day)
    if period is None:
        raise ValueError("a budget ends before it starts")
    return period


def _month(day: date) -> tuple[date, date]:
    first = day.replace(day=1)
    return first, (first + timedelta(days=32)).replace(day=1)


def _week(day: date) -> tuple[date, date]:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=7)


def free_amount(budget: Decimal, spent: Decimal, reserved: Decimal) -> Decimal:
    """Free = budget − spent − reserved; negative when over."""
    return budget - spent - reserved


def reserved_amount(planned: Decimal, spent_by_plan: Decimal) -> Decimal:
    """What an approved plan still sets aside."""
    return max(Decimal(0), planned - spent_by_plan)


def state_of(spent: Decimal, amount: Decimal, alert_thresholds: Sequence[int]) -> State:
    """The budget's state in a word; exactly 100 % is used up, not over."""
    if spent == 0:
        return "unused"
    if spent > amount:
        return "over"
    if spent == amount:
        return "used_up"
    return "near" if spent * _WHOLE_PERCENT >= amount * near_percent(alert_thresholds) else "within"


def near_percent(alert_thresholds: Sequence[int]) -> int:
    """The share of the budget from which it is nearly spent: the last threshold below 100."""
    below = [threshold for threshold in alert_thresholds if threshold < _WHOLE_PERCENT]
    return max(below, default=DEFAULT_NEAR_PERCENT)


def exceeds(spent_before: Decimal, spent_after: Decimal, limit: Decimal) -> bool:
    """Whether a change takes spend past the limit; one that does not raise spend never does."""
    return spent_after > spent_before and spent_after > limit
