"""Cost: hours × price, with the spot interruptions to expect; pure."""

import math
from dataclasses import dataclass
from decimal import Decimal

from app.estimator.odds import Spread, draw_odds, probability_in_closed_form
from app.estimator.recipe import Price, Spot
from app.estimator.spot import SpotFigures, lost_hours, saving_hours, spot_figures

# Draws for the one probability that goes with an estimate: its error is below a percentage point.
QUICK_DRAWS = 400


@dataclass(frozen=True, slots=True)
class Cost:
    """Exact money, not yet rounded."""

    amount: Decimal
    currency: str
    interval: tuple[Decimal, Decimal]
    probability_within_budget: float | None
    spot: SpotFigures | None


def job_cost(
    work_hours: float, work_interval: tuple[float, float], price: Price, spot: Spot | None, budget: Decimal | None
) -> Cost:
    """(Work, checkpoints on the way, lost hours) × price; the interval is the cost at the ends of the work's."""
    probability = None
    if budget is not None:
        probability = _probability(work_interval, work_hours, price, spot, budget)
    low, high = (cost_of(expected_hours(edge, spot), price.per_hour) for edge in work_interval)
    return Cost(
        amount=cost_of(expected_hours(work_hours, spot), price.per_hour),
        currency=price.currency,
        interval=(low, high),
        probability_within_budget=probability,
        spot=None if spot is None else spot_figures(work_hours, spot),
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


def _probability(
    work_interval: tuple[float, float], work_hours: float, price: Price, spot: Spot | None, budget: Decimal
) -> float:
    """Exact where only the speed is uncertain, else the share of seeded draws."""
    affordable = math.inf if price.per_hour == 0 else float(budget / price.per_hour)
    if spot is None:
        return probability_in_closed_form(work_interval, affordable)
    if math.isinf(affordable) or work_hours == 0:
        return 1.0
    spread = Spread(work_interval, spot, spot.price_spread_percent)
    return draw_odds(spread, QUICK_DRAWS).probability(affordable)
