"""How a job's hours and cost are spread: seeded draws of speed, interruptions and price, played out; pure.

The logarithm of the hours is normal on either side of the estimate, which is the median, each side as wide as the 80 %
interval says; the price is log-normal about the one given. Both are drawn in strata (each N-th of their distribution
once), so that a thousand draws suffice. Interruptions are played out one by one, by the same rules that ``spot`` has in
closed form.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from app.estimator.recipe import Spot
from app.estimator.spot import lost_hours, saves, saves_at_notice, saving_hours

DRAWS = 1000
SEED = 20_260_101
# Quantile of the standard normal that bounds a central 80 %.
Z80 = NormalDist().inv_cdf(0.9)
# Beyond so many interruptions their sum hardly varies; playing them out would only take time.
MOST_INTERRUPTIONS = 300


class Hours(NamedTuple):
    """Undisturbed hours: the median, and the ends of the central 80 %."""

    low: float
    median: float
    high: float

    @property
    def are_certain(self) -> bool:
        """Whether they are one figure."""
        return self.low <= 0 or self.high <= self.low


@dataclass(frozen=True, slots=True)
class Spread:
    """What is uncertain: undisturbed hours, interruptions, and the central 80 % of prices, either way."""

    hours: Hours
    spot: Spot | None = None
    price_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class Driver:
    """One uncertain input: the cost at its 10th and 90th percentile with the others at their middle."""

    name: str
    low: float
    high: float


@dataclass(frozen=True)
class Odds:
    """Draws of billed hours and of cost at a price of one an hour, in the order they were drawn."""

    hours: tuple[float, ...]
    cost: tuple[float, ...]

    def quantile_hours(self, share: float) -> float:
        """The hours that ``share`` of the draws stay within."""
        return _quantile(self._ordered_hours, share)

    def quantile_cost(self, share: float) -> float:
        """The cost that ``share`` of the draws stay within, at a price of one."""
        return _quantile(self._ordered_cost, share)

    def probability(self, affordable: float = math.inf, deadline_hours: float = math.inf) -> float:
        """The share of draws that cost at most ``affordable`` hours of the price and end by the deadline."""
        inside = sum(
            cost <= affordable and hours <= deadline_hours
            for hours, cost in zip(self.hours, self.cost, strict=True)
        )
        return inside / len(self.hours)

    @cached_property
    def _ordered_hours(self) -> list[float]:
        return sorted(self.hours)

    @cached_property
    def _ordered_cost(self) -> list[float]:
        return sorted(self.cost)


@lru_cache(maxsize=4)
def draw_odds(spread: Spread, draws: int = DRAWS, seed: int = SEED) -> Odds:
    """The same seed gives the same draws, whatever the budget."""
    dice = Random(seed)  # noqa: S311 - a simulation, not a secret
    speeds = _drawn(spread.hours, draws)
    low, high = _price_interval(spread.price_percent)
    prices = list(_drawn(Hours(low, 1.0, high), draws))
    dice.shuffle(prices)
    play = _player(spread, dice)
    hours = tuple(play(work) for work in speeds)
    return Odds(hours, tuple(one * price for one, price in zip(hours, prices, strict=True)))


def drivers(spread: Spread) -> list[Driver]:
    """The inputs that matter, the one that moves the cost most first."""
    middle = spread.hours.median
    ends = (_expected(work, spread.spot) for work in (spread.hours.low, spread.hours.high))
    found = [Driver("speed", *ends)]
    if spread.price_percent:
        expected = _expected(middle, spread.spot)
        low, high = _price_interval(spread.price_percent)
        found.append(Driver("price", expected * low, expected * high))
    if spread.spot is not None and spread.spot.interruptions_per_hour > 0:
        fixed = draw_odds(Spread(Hours(middle, middle, middle), spread.spot), draws=400)
        found.append(Driver("interruptions", fixed.quantile_cost(0.1), fixed.quantile_cost(0.9)))
    return sorted(found, key=lambda one: one.low - one.high)


def probability_in_closed_form(hours: Hours, affordable: float) -> float:
    """Of staying within ``affordable`` hours when nothing but the speed is uncertain; 0 or 1 without spread."""
    if hours.are_certain:
        return 1.0 if affordable >= hours.median else 0.0
    if affordable <= 0:
        return 0.0
    if math.isinf(affordable):
        return 1.0
    beyond = math.log(affordable / hours.median)
    return NormalDist().cdf(beyond / _deviation(hours, beyond))


def _deviation(hours: Hours, side: float) -> float:
    """The standard deviation of the logarithm, below the median or above it."""
    edge = hours.high / hours.median if side > 0 else hours.median / hours.low
    return math.log(edge) / Z80


def _player(spread: Spread, dice: Random) -> Callable[[float], float]:
    spot = spread.spot
    if spot is None:
        return lambda work: work
    if _expected(spread.hours.high, spot) * spot.interruptions_per_hour > MOST_INTERRUPTIONS:
        return lambda work: _expected(work, spot)
    return lambda work: play_out(work, spot, dice)


def play_out(work_hours: float, spot: Spot, dice: Random) -> float:
    """Billed hours of one course of events: what interruptions lose is done again."""
    rate = spot.interruptions_per_hour
    if rate <= 0:
        return work_hours + saving_hours(work_hours, spot)
    billed, left, restart = 0.0, work_hours, 0.0
    while True:
        needed = restart + left + saving_hours(left, spot)
        gap = dice.expovariate(rate)
        if gap >= needed:
            return billed + needed
        billed += gap
        left -= _kept(gap - restart, left, spot)
        restart = spot.restart_hours


def _kept(ran_hours: float, left: float, spot: Spot) -> float:
    """Of the work done in ``ran_hours`` since the start, what the last checkpoint holds."""
    if ran_hours <= 0:
        return 0.0
    stretch = spot.interval_hours + spot.saving_hours
    full = min(math.floor(ran_hours / stretch), saves(left, spot))
    kept = full * spot.interval_hours
    if saves_at_notice(spot):
        kept += min(ran_hours - full * stretch, spot.interval_hours)
    return min(kept, left)


def _expected(work_hours: float, spot: Spot | None) -> float:
    if spot is None:
        return work_hours
    return work_hours + saving_hours(work_hours, spot) + lost_hours(work_hours, spot)


def _price_interval(percent: float) -> tuple[float, float]:
    return 1 / (1 + percent / 100), 1 + percent / 100


def _drawn(hours: Hours, draws: int) -> tuple[float, ...]:
    if hours.are_certain:
        return (hours.median,) * draws
    return tuple(hours.median * math.exp(_deviation(hours, z) * z) for z in _strata(draws))


@lru_cache(maxsize=8)
def _strata(draws: int) -> tuple[float, ...]:
    """The middle of each N-th of the standard normal."""
    normal = NormalDist()
    return tuple(normal.inv_cdf((place + 0.5) / draws) for place in range(draws))


def _quantile(ordered: list[float], share: float) -> float:
    """The smallest value that at least ``share`` of the draws do not exceed."""
    place = max(0, math.ceil(share * len(ordered) - 1e-9) - 1)
    return ordered[place]


