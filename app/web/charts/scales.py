"""From amounts and days to positions, and where the ticks of an axis stand."""

import math
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import takewhile

DAY_STEPS = (1, 2, 7, 14, 28)
MONTH_STEPS = (1, 2, 3, 6, 12)
LABELS_IN_NARROW_FRAME = 4


@dataclass(frozen=True, slots=True)
class LinearScale:
    """Maps ``low`` to ``start`` and ``high`` to ``end``; ``low`` and ``high`` differ."""

    low: Decimal
    high: Decimal
    start: float
    end: float

    def position(self, value: Decimal) -> float:
        """Where a value stands; values outside the range stand outside the drawing."""
        share = float((value - self.low) / (self.high - self.low))
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class LogScale:
    """Maps ``low`` to ``start`` and ``high`` to ``end`` by their logarithms; 0 < ``low`` < ``high``."""

    low: float
    high: float
    start: float
    end: float

    def position(self, value: float) -> float:
        """Where a value above zero stands."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class DateScale:
    """Maps the days from ``first`` to ``last`` to 0 … ``width``; ``last`` is after ``first``."""

    first: date
    last: date
    width: float

    def position(self, day: date) -> float:
        """Where a day stands."""
        return (day - self.first).days / (self.last - self.first).days * self.width

    def clamp(self, day: date) -> date:
        """The nearest day inside the range."""
        return min(max(day, self.first), self.last)


@dataclass(frozen=True, slots=True)
class DateTick:
    """A labelled day of the axis; ``narrow`` ones are shown in narrow frames too."""

    day: date
    label: str
    position: float
    narrow: bool


def nice_step(span: Decimal, intervals: int) -> Decimal:
    """The smallest of 1, 2, 5 times a power of ten that covers ``span`` (> 0) in at most so many intervals."""
    rough = span / intervals
    power = Decimal(1).scaleb(rough.adjusted())
    return next(step for step in (power, power * 2, power * 5, power * 10) if step >= rough)


def nice_ticks(low: Decimal, high: Decimal, intervals: int = 5) -> tuple[Decimal, ...]:
    """Round values from at or below ``low`` to at or above ``high``; an empty range becomes one of length 1.

    There can be one interval more than asked for where both ends had to be rounded outwards.
    """
    upper = high if high > low else low + 1
    step = nice_step(upper - low, intervals)
    first = int((low / step).to_integral_value(ROUND_FLOOR))
    last = int((upper / step).to_integral_value(ROUND_CEILING))
    return tuple(step * index for index in range(first, last + 1))


def log_ticks(low: float, high: float, most: int = 8) -> tuple[Decimal, ...]:
    """Powers of ten between ``low`` and ``high``, with their halves and fifths where there is room."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [Decimal(step).scaleb(power) for power in powers for step in steps]
        inside = [tick for tick in found if low <= tick <= high]
        if len(inside) <= most:
            break
    return tuple(inside[:: -(-len(inside) // most) or 1])


def tick_label(value: Decimal) -> str:
    """``1,000``, ``0.2``, ``−50``: no trailing zeros, a true minus sign."""
    text = f"{value:,f}"
    trimmed = text.rstrip("0").rstrip(".") if "." in text else text
    return trimmed.replace("-", "−")


def date_ticks(scale: DateScale, most: int = 8) -> tuple[DateTick, ...]:
    """At most ``most`` days to label: whole days, weeks from the first day on, or first days of months."""
    days = _tick_days(scale.first, scale.last, most)
    every = -(-len(days) // LABELS_IN_NARROW_FRAME)
    by_month = len(days) > 1 and (days[1] - days[0]).days > DAY_STEPS[-1]
    pattern = "%Y-%m" if by_month else "%m-%d"
    return tuple(
        DateTick(day, day.strftime(pattern), scale.position(day), index % every == 0)
        for index, day in enumerate(days)
    )


def _tick_days(first: date, last: date, most: int) -> list[date]:
    span_days = (last - first).days
    for step in DAY_STEPS:
        if span_days // step < most:
            return [first + timedelta(days=offset) for offset in range(0, span_days + 1, step)]
    return _month_starts(first, last, most)


def _month_starts(first: date, last: date, most: int) -> list[date]:
    months = range(first.year * 12 + first.month, last.year * 12 + last.month)
    # ``month`` counts from the first month of year 0, so index 12 is January of year 1.
    starts = list(takewhile(lambda day: day <= last, (date(m // 12, m % 12 + 1, 1) for m in months)))
    yearly = MONTH_STEPS[-1] * -(-len(starts) // (MONTH_STEPS[-1] * most))
    step = next((step for step in MONTH_STEPS if -(-len(starts) // step) <= most), yearly)
    return starts[::step]
