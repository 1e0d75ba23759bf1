"""The projected and the actual line."""

from datetime import date
from decimal import Decimal

from app.outlook.cumulative import DayAmount, actual_line, projected_line
from app.projects.schedule import Schedule

TODAY = date(2026, 12, 1)


def test_without_a_baseline_nothing_is_projected() -> None:
    assert projected_line(None) == []


def test_seven_hours_at_a_day_each_rise_evenly() -> None:
    line = projected_line(Schedule(TODAY, 2.0, 7.0, Decimal(10)))
    assert line == [DayAmount(TODAY, Decimal(5)), DayAmount(date(2026, 12, 2), Decimal(10))]


def test_the_actual_line_has_every_day_up_to_today() -> None:
    line = actual_line([(date(2026, 11, 28), Decimal(3)), (date(2026, 11, 30), Decimal(-1))], None, TODAY)
    assert [point.day.day for point in line] == [28, 29, 30, 1]
    assert [point.amount for point in line] == [3, 3, 2, 2]


def test_it_begins_with_the_plan_where_that_is_earlier() -> None:
    line = actual_line([(date(2026, 11, 30), Decimal(3))], date(2026, 11, 29), TODAY)
    assert [point.amount for point in line] == [0, 3, 3]


def test_prepaid_days_ahead_are_drawn() -> None:
    line = actual_line([(date(2026, 12, 3), Decimal(3))], None, TODAY)
    assert [point.day for point in line] == [date(2026, 12, 3)]


def test_nothing_planned_and_nothing_spent_is_no_line() -> None:
    assert actual_line([], None, TODAY) == []
