"""From instants to hours: how long a run is, and how much of it falls on each local day; pure.

Time is whole microseconds, so that parts sum to the whole exactly; it becomes hours only where shown.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

from app.time import hours_of, microseconds_between, split_by_day


@dataclass(frozen=True, slots=True)
class RunTime:
    """A run's stretch of time and what runs in it: whole instances, each with GPUs or a fraction of one.

    A run without an end has no hours yet.
    """

    started_at: datetime
    ended_at: datetime | None
    instance_count: int = 1
    gpus_per_instance: Decimal = Decimal(1)

    @property
    def elapsed_us(self) -> int:
        """Wall-clock microseconds."""
        return 0 if self.ended_at is None else microseconds_between(self.started_at, self.ended_at)

    @property
    def instance_us(self) -> int:
        """Microseconds of all instances together."""
        return self.elapsed_us * self.instance_count

    @property
    def gpu_us(self) -> int:
        """Microseconds of all GPUs together, to the nearest one."""
        return self.gpu_us_after(self.elapsed_us)

    @property
    def hours(self) -> float:
        """Wall-clock hours."""
        return hours_of(self.elapsed_us)

    def gpu_us_after(self, elapsed_us: int) -> int:
        """GPU microseconds until so long after the start; rounded half up, so that it never falls."""
        exact = elapsed_us * self.instance_count * Fraction(self.gpus_per_instance)
        return (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)


@dataclass(frozen=True, slots=True)
class DayHours:
    """The part of a run on one local day; ``until_us`` counts from the run's start to the part's end."""

    day: date
    until_us: int
    instance_us: int
    gpu_us: int


def split_hours(time: RunTime, zone: ZoneInfo) -> list[DayHours]:
    """The run cut at the midnights of a time zone; nothing for a run without an end.

    A day on which clocks go back has 25 hours. Parts sum to the run's instance and GPU time exactly.
    """
    return [] if time.ended_at is None else list(_parts(time, time.ended_at, zone))


def _parts(time: RunTime, ended_at: datetime, zone: ZoneInfo) -> Iterator[DayHours]:
    before_us = 0
    for piece in split_by_day(time.started_at, ended_at, zone):
        until_us = before_us + piece.microseconds
        gpu_us = time.gpu_us_after(until_us) - time.gpu_us_after(before_us)
        yield DayHours(piece.day, until_us, piece.microseconds * time.instance_count, gpu_us)
        before_us = until_us
