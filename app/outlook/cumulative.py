"""Projected and actual spend as cumulative lines by local day; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from app.projects.schedule import Schedule

# A line longer than this is cut; ten years of days are more than any page draws.
LONGEST_LINE_DAYS = 3660


@dataclass(frozen=True, slots=True)
class DayAmount:
    """What is projected or spent up to the end of a local day."""

    day: date
    amount: Decimal


def projected_line(schedule: Schedule | None) -> list[DayAmount]:
    """The baseline's planned cost; empty without a baseline."""
    if schedule is None:
        return []
    return [DayAmount(day, amount) for day, amount in schedule.cumulative_by_day()]


def actual_line(spends: Iterable[tuple[date, Decimal]], first: date | None, today: date) -> list[DayAmount]:
    """Every day from the first spend (or ``first``, where that is earlier) to today, or to the last spend beyond it.

    ``spends`` are in the order of their days.
    """
    known = list(spends)
    starts = [day for day in (first, known[0][0] if known else None) if day is not None]
    if not starts or min(starts) > max(today, known[-1][0] if known else today):
        return []
    return list(_days(known, min(starts), max(today, known[-1][0] if known else today)))


def _days(known: Sequence[tuple[date, Decimal]], first: date, last: date) -> Iterable[DayAmount]:
    by_day = dict(known)
    total = Decimal(0)
    for offset in range(min((last - first).days + 1, LONGEST_LINE_DAYS)):
        day = first + timedelta(days=offset)
        total += by_day.get(day, Decimal(0))
        yield DayAmount(day, total)
