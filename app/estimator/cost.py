"""Cost: hours × price, with the spot interruptions to expect.

Interruptions are a Poisson process. Each loses half a checkpoint interval on average and a restart; saving costs time
at every checkpoint. The best interval is Young's first-order one (CACM 17(9), 1974): √(2 × saving / rate).
"""

import math
from dataclasses import dataclass
from decimal import Decimal

from app.estimator.recipe import Price, Spot

# Quantiles of the standard normal for a central 80 %.
_Z80 = 1.2815515655446004


@dataclass(frozen=True, slots=True)
class SpotFigures:
    """What interruptions do to a job; the interval is None without interruptions."""

    expected_interruptions: float
    expected_lost_hours: float
    optimal_checkpoint_interval_minutes: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Exact money, not yet rounded."""

    amount: Decimal
    currency: str
    interval: tuple[Decimal, Decimal]
    probability_within_budget: float | None
    spot: SpotFigures | None


def spot_figures(hours: float, spot: Spot) -> SpotFigures:
    """Expected interruptions in ``hours`` of work and the hours lost to them and to checkpoints."""
    rate = spot.interruptions_per_hour
    interval_hours = spot.checkpoint_interval_minutes / 60
    saving = hours / interval_hours * spot.checkpoint_seconds / 3600
    lost_each = interval_hours / 2 + spot.restart_minutes / 60
    # Work that is repeated can be interrupted again: the expectation is a geometric series.
    repeated = rate * lost_each
    busy = hours + saving
    total = busy / (1 - repeated) if repeated < 1 else math.inf
    lost = total - hours if math.isfinite(total) else hours * 1e3
    return SpotFigures((hours + lost) * rate, lost, _optimal_minutes(spot))


def _optimal_minutes(spot: Spot) -> float | None:
    if spot.interruptions_per_hour <= 0:
        return None
    return math.sqrt(2 * spot.checkpoint_seconds / 3600 / spot.interruptions_per_hour) * 60


def job_cost(
    hours: float, interval_hours: tuple[float, float], price: Price, spot: Spot | None, budget: Decimal | None
) -> Cost:
    """(hours + lost hours) × price; the interval follows the hours'."""
    figures = None if spot is None else spot_figures(hours, spot)
    lost = 0.0 if figures is None else figures.expected_lost_hours
    low, high = (_money(edge + lost * edge / hours if hours else edge, price) for edge in interval_hours)
    probability = None
    if budget is not None:
        probability = _probability(hours + lost, interval_hours, hours, price, budget)
    return Cost(_money(hours + lost, price), price.currency, (low, high), probability, figures)


def _money(hours: float, price: Price) -> Decimal:
    # The shortest decimal that names this float: the one place where hours become money.
    return Decimal(repr(hours)) * price.per_hour


def _probability(
    expected: float, interval_hours: tuple[float, float], hours: float, price: Price, budget: Decimal
) -> float:
    """Hours are log-normal about the expectation, with the interval as their central 80 %; 0 or 1 without spread."""
    affordable = float("inf") if price.per_hour == 0 else float(budget / price.per_hour)
    low, high = interval_hours
    spread = math.log(high / low) / (2 * _Z80) if low > 0 and high > low else 0.0
    if spread == 0 or hours == 0 or math.isinf(affordable):
        return 1.0 if affordable >= expected else 0.0
    if affordable <= 0:
        return 0.0
    centre = math.log(expected) + (math.log(low * high) / 2 - math.log(hours))
    return 0.5 * (1 + math.erf((math.log(affordable) - centre) / (spread * math.sqrt(2))))
