"""Bars in percent of their own length: a budget and what is left of it, a whole and its parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

ZERO = Decimal(0)
# A part narrower than this, in percent of the bar, has no room for its number on a phone.
ROOM_FOR_TEXT = 9


@dataclass(frozen=True, slots=True)
class BudgetBar:
    """Amounts of one budget, and in percent of the bar's length where each begins and how long it is."""

    spent: Decimal
    reserved: Decimal
    free: Decimal
    budget: Decimal
    target: Decimal | None
    forecast: Decimal | None
    spent_width: float
    over_x: float
    over_width: float
    reserved_x: float
    reserved_width: float
    budget_width: float
    target_x: float | None
    forecast_x: float | None

    @property
    def is_over(self) -> bool:
        """Whether more is spent than the budget: exactly all of it is not over."""
        return self.spent > self.budget


@dataclass(frozen=True, slots=True)
class StackedPart:
    """A part of a stacked bar: its place in percent, and its number (from 1) for colour and legend."""

    key: str
    amount: int
    number: int
    x: float
    width: float

    @property
    def has_room(self) -> bool:
        """Whether its amount can be written on it."""
        return self.width >= ROOM_FOR_TEXT


@dataclass(frozen=True, slots=True)
class StackedBar:
    """Parts beside each other against a limit; ``free`` is negative where they exceed it, None without a limit."""

    parts: tuple[StackedPart, ...]
    total: int
    limit: int | None
    limit_x: float | None
    free: int | None

    @property
    def is_over(self) -> bool:
        """Whether the parts exceed the limit."""
        return self.free is not None and self.free < 0


def build_budget_bar(
    *,
    spent: Decimal,
    reserved: Decimal,
    budget: Decimal,
    target: Decimal | None = None,
    forecast: Decimal | None = None,
) -> BudgetBar:
    """The bar is as long as the largest of budget, spent + reserved, target and forecast.

    Spend below zero (credits) has no length. What is spent past the budget is a piece of its own.
    """
    drawn_spent, drawn_reserved = max(spent, ZERO), max(reserved, ZERO)
    drawn_budget = max(budget, ZERO)
    whole = max(drawn_budget, drawn_spent + drawn_reserved, target or ZERO, forecast or ZERO)
    within = min(drawn_spent, drawn_budget)
    return BudgetBar(
        spent=spent,
        reserved=reserved,
        free=budget - spent - reserved,
        budget=budget,
        target=target,
        forecast=forecast,
        spent_width=_percent(within, whole),
        over_x=_percent(within, whole),
        over_width=_percent(drawn_spent - within, whole),
        reserved_x=_percent(drawn_spent, whole),
        reserved_width=_percent(drawn_reserved, whole),
        budget_width=_percent(drawn_budget, whole),
        target_x=None if target is None else _percent(max(target, ZERO), whole),
        forecast_x=None if forecast is None else _percent(max(forecast, ZERO), whole),
    )


def build_stacked_bar(parts: Sequence[tuple[str, int]], limit: int | None = None) -> StackedBar:
    """Parts (key, amount ≥ 0) in their order; empty ones are left out of the bar, their numbers stay theirs."""
    total = sum(amount for _, amount in parts)
    whole = Decimal(max(total, limit or 0))
    placed: list[StackedPart] = []
    start = 0
    for number, (key, amount) in enumerate(parts, start=1):
        if amount > 0:
            x, width = _percent(Decimal(start), whole), _percent(Decimal(amount), whole)
            placed.append(StackedPart(key, amount, number, x, width))
        start += amount
    return StackedBar(
        parts=tuple(placed),
        total=total,
        limit=limit,
        limit_x=None if limit is None else _percent(Decimal(limit), whole),
        free=None if limit is None else limit - total,
    )


def _percent(amount: Decimal, whole: Decimal) -> float:
    return round(float(amount / whole * 100), 2) if whole else 0.0
