"""Time: instants in UTC, days and weeks in a time zone; pure.

Durations are whole microseconds, so that sums are exact; they become hours only where shown.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

Clock = Callable[[], datetime]

MICROSECONDS_PER_HOUR = 3_600_000_000
LARGEST_CLOCK_SKEW = timedelta(minutes=5)

_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})")
_WITHOUT_OFFSET = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?")
_WEEK = re.compile(r"(\d{4})-W(\d{2})")


class InstantError(ValueError):
    """A text that is no instant; ``reason`` is ``no_offset`` or ``not_an_instant``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def utc_now() -> datetime:
    """The machine's clock; the only place that reads it."""
    return datetime.now(UTC)


def parse_instant(text: str) -> datetime:
    """An RFC 3339 text with an offset to an instant in UTC. Raises InstantError."""
    if not _INSTANT.fullmatch(text):
        raise InstantError("no_offset" if _WITHOUT_OFFSET.fullmatch(text) else "not_an_instant")
    try:
        instant = datetime.fromisoformat(_trim_fraction(text.upper())).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InstantError("not_an_instant") from error
    if not 1970 <= instant.year <= 9998:
        raise InstantError("not_an_instant")
    return instant


def _trim_fraction(text: str) -> str:
    return re.sub(r"(\.\d{6})\d+", r"\1", text)


def format_instant(instant: datetime) -> str:
    """RFC 3339 in UTC: ``2026-12-01T03:00:00Z``; a fraction only where there is one."""
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def local_day(instant: datetime, zone: ZoneInfo) -> date:
    """The calendar day of an instant in a time zone."""
    return instant.astimezone(zone).date()


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """The instant in UTC at which a local day begins."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def microseconds_between(start: datetime, end: datetime) -> int:
    """The elapsed time between two instants."""
    return (end - start) // timedelta(microseconds=1)


def microseconds_of_hours(hours: float) -> int:
    """Hours to the nearest microsecond."""
    return round(hours * MICROSECONDS_PER_HOUR)


def hours_of(microseconds: int) -> float:
    """Microseconds to hours, for showing."""
    return microseconds / MICROSECONDS_PER_HOUR


@dataclass(frozen=True, slots=True)
class DayPiece:
    """The part of a stretch of time that falls on one local day."""

    day: date
    started_at: datetime
    ended_at: datetime

    @property
    def microseconds(self) -> int:
        """Its length; a day on which clocks go back can have 25 hours."""
        return microseconds_between(self.started_at, self.ended_at)


def split_by_day(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[DayPiece]:
    """The stretch cut at local midnights; one empty piece when start equals end."""
    cursor = start
    while True:
        day = local_day(cursor, zone)
        midnight = start_of_day(day + timedelta(days=1), zone)
        yield DayPiece(day, cursor, min(end, midnight))
        cursor = midnight
        if cursor >= end:
            return


@dataclass(frozen=True, slots=True)
class Week:
    """An ISO 8601 week."""

    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.year}-W{self.number:02d}"

    @property
    def monday(self) -> date:
        """Its first day."""
        return date.fromisocalendar(self.year, self.number, 1)

    @property
    def next_monday(self) -> date:
        """The first day after it."""
        return self.monday + timedelta(days=7)


def parse_week(text: str) -> Week | None:
    """``2026-W49`` to a week; None for a text that is none or a week that does not exist."""
    match = _WEEK.fullmatch(text)
    if not match:
        return None
    week = Week(int(match[1]), int(match[2]))
    try:
        week.next_monday  # noqa: B018 - raises when the week does not exist
    except (ValueError, OverflowError):
        return None
    return week


def week_of(day: date) -> Week:
    """The ISO week that a day falls into."""
    year, number, _ = day.isocalendar()
    return Week(year, number)
