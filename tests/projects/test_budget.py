"""Budget arithmetic by hand and by property."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.projects.budget import (
    Budget,
    DayRange,
    current_period,
    exceeds,
    near_percent,
    period_containing,
    reserved_amount,
    state_of,
)
from app.projects.schedule import Schedule

THRESHOLDS = [50, 80, 100]


def budget(period: str = "total", starts_on: date = date(2026, 10, 15), ends_on: date | None = None) -> Budget:
    return Budget(Decimal(500), period, starts_on, ends_on, "billed", False)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spent", "state"),
    [
        ("0", "unused"),
        ("0.01", "within"),
        ("-10", "within"),
        ("399.999999", "within"),
        ("400", "near"),
        ("499.999999", "near"),
        ("500", "used_up"),
        ("500.000001", "over"),
    ],
)
def test_exactly_all_of_it_is_used_up_not_over(spent: str, state: str) -> None:
    assert state_of(Decimal(spent), Decimal(500), THRESHOLDS) == state


def test_near_begins_at_the_last_threshold_below_a_hundred() -> None:
    assert near_percent([50, 90, 100, 120]) == 90
    assert near_percent([100]) == 80


def test_a_months_period_is_cut_at_the_budgets_own_start() -> None:
    assert period_containing(budget("monthly"), date(2026, 10, 20)) == DayRange(date(2026, 10, 15), date(2026, 11, 1))
    assert period_containing(budget("monthly"), date(2026, 12, 31)) == DayRange(date(2026, 12, 1), date(2027, 1, 1))


def test_weeks_begin_on_monday() -> None:
    assert period_containing(budget("weekly"), date(2026, 12, 6)) == DayRange(date(2026, 11, 30), date(2026, 12, 7))


def test_outside_its_days_there_is_no_period() -> None:
    bounded = budget(ends_on=date(2026, 11, 30))
    assert period_containing(bounded, date(2026, 10, 14)) is None
    assert period_containing(bounded, date(2026, 11, 30)) is not None
    assert period_containing(bounded, date(2026, 12, 1)) is None


def test_before_it_starts_the_first_period_counts_and_after_it_ended_the_last() -> None:
    bounded = budget("monthly", ends_on=date(2026, 11, 10))
    assert current_period(bounded, date(2026, 9, 1)).first == date(2026, 10, 15)
    assert current_period(bounded, date(2027, 5, 1)) == DayRange(date(2026, 11, 1), date(2026, 11, 11))


def test_a_plan_reserves_what_it_has_not_spent() -> None:
    assert reserved_amount(Decimal(256), Decimal(192)) == 64
    assert reserved_amount(Decimal(256), Decimal(300)) == 0


def test_lowering_spend_never_exceeds() -> None:
    assert not exceeds(Decimal(700), Decimal(600), Decimal(500))
    assert exceeds(Decimal(499), Decimal("500.000001"), Decimal(500))
    assert not exceeds(Decimal(499), Decimal(500), Decimal(500))


@given(st.dates(date(2020, 1, 1), date(2030, 1, 1)), st.sampled_from(["total", "monthly", "weekly"]))
def test_a_day_is_in_its_period(day: date, kind: str) -> None:
    found = period_containing(budget(kind, starts_on=date(2019, 1, 1)), day)
    assert found is not None
    assert day in found


PLAN = Schedule(date(2026, 11, 2), 80.0, 16.0, Decimal(256))


def test_sixteen_hours_a_week_for_five_weeks_are_even() -> None:
    days = list(PLAN.cumulative_by_day())
    assert (days[0][0], days[-1]) == (date(2026, 11, 2), (date(2026, 12, 6), Decimal(256)))
    assert PLAN.cost_before(date(2026, 11, 9)) == Decimal("51.2")
    assert PLAN.cost_within(DayRange(date(2026, 11, 9), date(2026, 11, 16))) == Decimal("51.2")


def test_a_plan_of_no_hours_costs_nothing_over_time() -> None:
    assert list(Schedule(date(2026, 1, 1), 0.0, 16.0, Decimal(0)).cumulative_by_day()) == [
        (date(2026, 1, 1), Decimal(0))
    ]


@given(
    st.floats(0.1, 5000),
    st.floats(0.5, 168),
    st.decimals(0, 10**6, places=2, allow_nan=False),
    st.integers(0, 400),
)
def test_the_planned_line_rises_to_the_whole_cost(hours: float, weekly: float, cost: Decimal, offset: int) -> None:
    schedule = Schedule(date(2026, 1, 1), hours, weekly, cost)
    day = date(2026, 1, 1) + timedelta(days=offset)
    before, after = schedule.cost_before(day), schedule.cost_before(day + timedelta(days=1))
    assert 0 <= before <= after <= cost
    assert schedule.cost_within(DayRange(date(2025, 1, 1), None)) == cost
