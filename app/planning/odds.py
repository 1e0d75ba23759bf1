"""The odds of a job: quantiles of hours and cost, and the probability to end within budget and by the deadline."""

import math
from dataclasses import replace
from typing import Any

from app.estimator import Estimate, Job, Price, cost_of, estimate
from app.estimator.odds import (
    DRAWS,
    SEED,
    Hours,
    Odds,
    Spread,
    draw_odds,
    drivers,
    probability_in_closed_form,
)
from app.money import format_amount

QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9}


def odds_answer(job: Job, answer: Estimate, deadline_hours: float | None) -> dict[str, Any] | None:
    """As plain values; None where the hours are unknown."""
    if not answer.time.hours:
        return None
    # The spread is that of the work; checkpoints and interruptions are played out on top of it.
    work = estimate(replace(job, spot=None, price=None)).time
    assert work.hours is not None  # noqa: S101 - the hours are known
    assert work.interval_hours is not None  # noqa: S101
    low, high = work.interval_hours
    spread = Spread(Hours(low, work.hours, high), job.spot, 0.0 if job.spot is None else job.spot.price_spread_percent)
    odds = draw_odds(spread)
    return {
        "hours": {name: odds.quantile_hours(share) for name, share in QUANTILES.items()},
        "cost": None if job.price is None else _costs(odds, job.price),
        "probability_by_deadline": None
        if deadline_hours is None
        else _probability(spread, odds, math.inf, deadline_hours),
        "probability_within_budget_by_deadline": None
        if deadline_hours is None or job.budget is None or job.price is None
        else _probability(spread, odds, _affordable(job), deadline_hours),
        "drivers": [
            {"input": one.name, "low": _money(one.low, job.price), "high": _money(one.high, job.price)}
            for one in drivers(spread)
        ],
        "draws": DRAWS,
        "seed": SEED,
    }


def _costs(odds: Odds, price: Price) -> dict[str, str]:
    return {
        name: format_amount(cost_of(odds.quantile_cost(share), price.per_hour), price.currency)
        for name, share in QUANTILES.items()
    }


def _affordable(job: Job) -> float:
    if job.budget is None or job.price is None or job.price.per_hour == 0:
        return math.inf
    return float(job.budget / job.price.per_hour)


def _probability(spread: Spread, odds: Odds, affordable: float, deadline_hours: float) -> float:
    """Exact where only the speed is uncertain, as in the estimate's own probability."""
    if spread.spot is None:
        return probability_in_closed_form(spread.hours, min(affordable, deadline_hours))
    return odds.probability(affordable, deadline_hours)


def _money(hours: float, price: Price | None) -> str | None:
    return None if price is None else format_amount(cost_of(hours, price.per_hour), price.currency)
