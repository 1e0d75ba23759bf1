"""Cost: hours × price, with the spot interruptions to expect; pure."""

import math
from dataclasses import dataclass
from decimal import Decimal

from app.estimator.odds import Hours, Spread, draw_odds, probability_in_closed_form
from app.estimator.recipe import Price, Spot
from app.estimator.spot import SpotFigures, lost_hours, saving_hours, spot_figures


@dataclass(frozen=True, slots=True)
class Cost:
    """Exact money, not yet rounded."""

    amount: Decimal
    currency: str
    interval: tuple[Decimal, Decimal]
    probability_within_budget: float | None
    spot: SpotFigures | None


def job_cost(
    work: Hours, price: Price, spot: Spot | None, budget: Decimal | None
) -> Cost:
    """(Work, checkpoints on the way, lost hours) × price; the interval is the cost at the ends of the work's."""
    low, amount, high = (cost_of(expected_hours(hours, spot), price.per_hour) for hours in work)
    return Cost(
        amount=amount,
        currency=price.currency,
        interval=(low, high),
        probability_within_budget=None if budget is None else _probability(work, price, spot, budget),
        spot=None if spot is None else spot_figures(work.median, spot),
    )


def billed_hours(work_hours: float, spot: Spot | None) -> float:
    """Work and the checkpoints on the way, without interruptions."""
    return work_hours if spot is None else work_hours + saving_hours(work_hours, spot)


def expected_hours(work_hours: float, spot: Spot | None) -> float:
    """Billed hours with the interruptions to expect."""
    billed = billed_hours(work_hours, spot)
    return billed if spot is None else billed + lost_hours(work_hours, spot)


def cost_of(hours: float, per_hour: Decimal) -> Decimal:
    """Exact money of billed hours: the one place where hours become money."""
    # The shortest decimal that names this float.
    return Decimal(repr(hours)) * per_hour


def _probability(work: Hours, price: Price, spot: Spot | None, budget: Decimal) -> float:
    """Exact where only the speed is uncertain, else the share of seeded draws."""
    affordable = math.inf if price.per_hour == 0 else float(budget / price.per_hour)
    if spot is None:
        return probability_in_closed_form(work, affordable)
    if math.isinf(affordable) or work.median == 0:
        return 1.0
    return draw_odds(Spread(work, spot, spot.price_spread_percent)).probability(affordable)
