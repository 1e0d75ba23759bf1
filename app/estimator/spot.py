"""Spot interruptions in closed form: a Poisson process over the billed hours; pure.

Work is saved after every interval ``τ``, which takes ``c``. An interruption loses what was done since the last save and
costs a restart ``R``, which may be interrupted too. A stretch of ``s`` hours that must be done in one piece then takes
``(e^(λs) − 1) e^(λR) / λ`` hours on average (Daly, FGCS 22(3), 2006, eq. 7). Where the notice is long enough to save,
an interruption loses nothing but the restart, and ``s`` hours take ``s e^(λR)``.
"""

import math
from dataclasses import dataclass

from app.estimator.recipe import Spot

# A job that is interrupted sooner than it can restart never ends; its lost hours are shown as this many times its own.
NEVER = 1e3


@dataclass(frozen=True, slots=True)
class SpotFigures:
    """What interruptions do to a job; the interval is None where no interval is needed."""

    expected_interruptions: float
    expected_lost_hours: float
    optimal_checkpoint_interval_minutes: float | None


def saves(work_hours: float, spot: Spot) -> int:
    """Checkpoints on the way: one after every full interval, none at the end, which every job saves."""
    return max(0, math.ceil(work_hours / spot.interval_hours - 1e-9) - 1)


def saving_hours(work_hours: float, spot: Spot) -> float:
    """Hours that the checkpoints on the way take."""
    return saves(work_hours, spot) * spot.saving_hours


def saves_at_notice(spot: Spot) -> bool:
    """Whether a checkpoint is written between the notice and the interruption."""
    return spot.notice_seconds > 0 and spot.notice_seconds >= spot.checkpoint_seconds


def spot_figures(work_hours: float, spot: Spot) -> SpotFigures:
    """Expected interruptions and the hours lost to them, beside the work and its checkpoints."""
    lost = lost_hours(work_hours, spot)
    total = work_hours + saving_hours(work_hours, spot) + lost
    return SpotFigures(total * spot.interruptions_per_hour, lost, _best_interval_minutes(spot))


def lost_hours(work_hours: float, spot: Spot) -> float:
    """Hours that interruptions are expected to cost."""
    undisturbed = work_hours + saving_hours(work_hours, spot)
    return max(0.0, min(_expected_hours(work_hours, spot) - undisturbed, work_hours * NEVER))


def _expected_hours(work_hours: float, spot: Spot) -> float:
    count, interval = saves(work_hours, spot), spot.interval_hours
    if saves_at_notice(spot):
        return (work_hours + count * spot.saving_hours) * _exp(spot.interruptions_per_hour * spot.restart_hours)
    total = _in_one_piece(work_hours - count * interval, spot)
    if count:
        total += count * _in_one_piece(interval + spot.saving_hours, spot)
    return total


def _in_one_piece(hours: float, spot: Spot) -> float:
    rate = spot.interruptions_per_hour
    if rate * hours < 1e-12:
        return hours * _exp(rate * spot.restart_hours)
    if rate * hours > 700:
        return math.inf
    return math.expm1(rate * hours) / rate * _exp(rate * spot.restart_hours)


def _exp(power: float) -> float:
    return math.exp(power) if power < 700 else math.inf


def _best_interval_minutes(spot: Spot) -> float | None:
    """Where endless work takes least: ``(1 − λτ) e^(λτ) = e^(−λc)``, which begins as Young's √(2c/λ)."""
    rate, saving = spot.interruptions_per_hour, spot.saving_hours
    if rate <= 0 or saves_at_notice(spot):
        return None
    share = math.sqrt(2 * rate * saving)
    if share > 1e-5:
        share = min(share, 0.999999)
        for _ in range(60):
            step = (math.log1p(-share) + share + rate * saving) * (1 - share) / share
            share = min(max(share + step, share / 2), (1 + share) / 2, 1 - 1e-12)
            if abs(step) < 1e-14 * share:
                break
    return share / rate * 60
