"""How a plan's hours and cost are spread over days: evenly within its hours a week; pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from app.money import round_to_micro
from app.projects.budget import DayRange

DAYS_PER_WEEK = 7
# A plan longer than this is not drawn day by day to its end.
LONGEST_SCHEDULE_DAYS = 3660


@dataclass(frozen=True, slots=True)
class Schedule:
    """A plan's hours and cost from a day on, at so many hours a week."""

    starts_on: date
    planned_hours: float
    hours_per_week: float
    planned_cost: Decimal

    def cost_before(self, day: date) -> Decimal:
        """The planned cost of all days before ``day``, to a micro-unit."""
        days = (day - self.starts_on).days
        if days <= 0:
            return Decimal(0)
        hours = days * self.hours_per_week / DAYS_PER_WEEK
        if self.planned_hours <= 0 or hours >= self.planned_hours:
            return self.planned_cost
        # The share is exact to about 1e-15; the cost is rounded to a micro-unit once.
        return round_to_micro(self.planned_cost * Decimal(hours / self.planned_hours))

    def cost_within(self, days: DayRange) -> Decimal:
        """The planned cost that falls into a range of days."""
        end = self.planned_cost if days.end is None else self.cost_before(days.end)
        return end - self.cost_before(days.first)

    def cumulative_by_day(self) -> Iterator[tuple[date, Decimal]]:
        """Each planned day with the planned cost up to its end; the last one has the whole."""
        day = self.starts_on
        for _ in range(LONGEST_SCHEDULE_DAYS):
            cost = self.cost_before(day + timedelta(days=1))
            yield day, cost
            if cost == self.planned_cost:
                return
            day += timedelta(days=1)
