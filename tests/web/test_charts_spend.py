"""The chart of projected against actual spend."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from app.web.charts import PlotSize, SpendChart, build_spend_chart
from app.web.charts.spend_chart import DatedAmount, ForecastPoint

START = date(2026, 10, 19)
# 1,000 × 100 pixels over ten days: a day is 100 pixels wide.
SIZE = PlotSize(1000.0, 100.0)


def _on(*amounts: tuple[int, str]) -> list[DatedAmount]:
    return [(START + timedelta(days=offset), Decimal(amount)) for offset, amount in amounts]


def _chart(
    projected: Sequence[DatedAmount] = (),
    actual: Sequence[DatedAmount] = (),
    budget_steps: Sequence[DatedAmount] = (),
    target: str | None = None,
    today: int = 4,
    **more: Any,
) -> SpendChart:
    return build_spend_chart(
        projected=projected,
        actual=actual,
        budget_steps=budget_steps,
        target=None if target is None else Decimal(target),
        today=START + timedelta(days=today),
        size=SIZE,
        **more,
    )


TEN_DAYS = _on((0, "0"), (10, "100"))


def test_the_projected_line_is_straight_and_the_actual_one_holds_until_today() -> None:
    chart = _chart(TEN_DAYS, _on((1, "20"), (3, "50")))
    assert chart.projected_path == "M0 100L1000 0"
    # From zero on day 1 to 20, on day 3 to 50, held until today, day 4.
    assert chart.actual_path == "M100 100H100V80H300V50H400"
    assert chart.today is not None
    assert (chart.today.x, chart.today.anchor) == (40.0, "middle")


def test_the_amount_axis_begins_at_zero() -> None:
    chart = _chart(TEN_DAYS)
    assert [(tick.label, tick.y) for tick in chart.amount_ticks] == [
        ("0", 100.0),
        ("20", 80.0),
        ("40", 60.0),
        ("60", 40.0),
        ("80", 20.0),
        ("100", 0.0),
    ]


def test_an_axis_longer_than_a_week_is_labelled_at_the_edges_inside() -> None:
    ticks = _chart(TEN_DAYS).day_ticks
    assert (ticks[0].label, ticks[0].x, ticks[0].anchor) == ("10-19", 0.0, "middle")
    assert (ticks[-1].label, ticks[-1].x, ticks[-1].anchor) == ("10-29", 100.0, "end")


def test_a_raised_budget_is_a_step_on_its_day() -> None:
    chart = _chart(TEN_DAYS, budget_steps=_on((-9, "80"), (5, "100")))
    assert chart.budget is not None
    assert chart.budget.path == "M0 20H500V0H1000"
    assert (chart.budget.amount, chart.budget.y, chart.budget.off_scale) == (Decimal(100), 0.0, False)


def test_a_budget_that_begins_after_the_last_day_is_not_drawn() -> None:
    assert _chart(TEN_DAYS, budget_steps=_on((30, "100"))).budget is None


def test_a_budget_far_above_is_named_at_the_top_and_leaves_the_lines_their_height() -> None:
    chart = _chart(TEN_DAYS, budget_steps=_on((0, "90000")))
    assert chart.budget is not None
    assert (chart.budget.path, chart.budget.y, chart.budget.off_scale) == ("", 0.0, True)
    assert chart.amount_ticks[-1].amount == Decimal(100)


def test_a_budget_three_times_the_amounts_still_stretches_the_axis() -> None:
    assert _chart(TEN_DAYS, budget_steps=_on((0, "300"))).amount_ticks[-1].amount == Decimal(300)


def test_a_budget_raised_far_above_runs_along_the_top_edge() -> None:
    chart = _chart(TEN_DAYS, budget_steps=_on((0, "50"), (5, "90000")))
    assert chart.budget is not None
    assert (chart.budget.path, chart.budget.off_scale) == ("M0 50H500V0H1000", True)


def test_labels_apart_stand_above_their_lines() -> None:
    chart = _chart(TEN_DAYS, budget_steps=_on((0, "100")), target="60")
    assert chart.budget is not None
    assert chart.target is not None
    assert (chart.budget.label_dy, chart.target.label_dy) == (-5, -5)


def test_of_two_labels_that_would_overlap_the_lower_one_goes_below_its_line() -> None:
    chart = _chart(TEN_DAYS, budget_steps=_on((0, "100")), target="95")
    assert chart.budget is not None
    assert chart.target is not None
    assert (chart.budget.label_dy, chart.target.label_dy) == (-5, 14)


def test_a_target_above_the_budget_keeps_the_upper_place() -> None:
    chart = _chart(TEN_DAYS, budget_steps=_on((0, "90")), target="100")
    assert chart.budget is not None
    assert chart.target is not None
    assert (chart.budget.label_dy, chart.target.label_dy) == (14, -5)


def test_at_the_bottom_edge_there_is_no_room_below_so_the_upper_label_rises() -> None:
    chart = _chart(TEN_DAYS, budget_steps=_on((0, "5")), target="0")
    assert chart.budget is not None
    assert chart.target is not None
    assert (chart.budget.label_dy, chart.target.label_dy) == (-23, -5)


def test_nothing_logged_and_nothing_planned_still_shows_the_budget() -> None:
    chart = _chart(budget_steps=_on((0, "500")), target="300")
    assert chart.is_empty
    assert (chart.projected_path, chart.actual_path, chart.rows) == ("", "", ())
    assert chart.budget is not None
    assert (chart.budget.y, chart.amount_ticks[-1].amount) == (0.0, Decimal(500))
    assert chart.last_day - chart.first_day == timedelta(days=7)


def test_nothing_at_all_is_a_frame_of_a_week() -> None:
    chart = _chart(today=0)
    assert (chart.first_day, chart.last_day) == (START, START + timedelta(days=7))
    assert chart.today is not None
    assert (chart.today.x, chart.today.anchor) == (0.0, "start")


def test_one_day_of_spend_is_a_rise_at_the_left_edge() -> None:
    chart = _chart(actual=_on((0, "5")), today=0)
    assert chart.actual_path == "M0 100H0V0H0"
    assert [(row.actual, row.projected) for row in chart.rows] == [(Decimal(5), None)]


def test_all_zeros_lie_on_the_axis() -> None:
    chart = _chart(_on((0, "0"), (10, "0")), _on((0, "0")))
    assert chart.projected_path == "M0 100L1000 100"
    assert chart.actual_path == "M0 100H400"


def test_credits_take_the_line_below_zero() -> None:
    chart = _chart(_on((0, "0"), (10, "60")), _on((0, "0"), (2, "-36")))
    assert [tick.label for tick in chart.amount_ticks] == ["−40", "−20", "0", "20", "40", "60"]
    # Zero stands 60 above the bottom, −36 at 4: of 100 pixels for −40 … 60.
    assert chart.actual_path == "M0 60H200V96H400"


def test_today_stretches_the_axis_only_while_it_is_near() -> None:
    near = _chart(TEN_DAYS, today=20)
    assert near.last_day == START + timedelta(days=20)
    assert near.today is not None
    assert (near.today.x, near.today.anchor) == (100.0, "end")
    far = _chart(TEN_DAYS, _on((2, "40")), today=400)
    assert far.last_day == START + timedelta(days=10)
    assert far.today is None
    # What was spent holds to the end of the picture.
    assert far.actual_path == "M200 100H200V60H1000"


def test_a_project_that_has_not_begun_shows_its_plan_alone() -> None:
    chart = _chart(TEN_DAYS, today=-100)
    assert (chart.first_day, chart.today, chart.actual_path) == (START, None, "")


def test_events_stand_on_the_actual_line_and_those_before_it_are_left_out() -> None:
    events = [(START, "before"), (START + timedelta(days=2), "reclaimed")]
    chart = _chart(TEN_DAYS, _on((1, "20"), (3, "50")), events=events)
    assert [(marker.label, marker.x, marker.y) for marker in chart.markers] == [("reclaimed", 20.0, 80.0)]


def test_the_forecast_is_a_line_inside_its_band() -> None:
    points = [
        ForecastPoint(START + timedelta(days=4), Decimal(40), Decimal(40), Decimal(40)),
        ForecastPoint(START + timedelta(days=10), Decimal(80), Decimal(90), Decimal(100)),
    ]
    chart = _chart(TEN_DAYS, forecast=points)
    assert chart.forecast_path == "M400 60L1000 10"
    assert chart.band_path == "M400 60L1000 0L1000 20L400 60Z"


def test_the_data_table_holds_actual_amounts_until_today_and_not_beyond() -> None:
    projected = _on((0, "10"), (2, "20"), (4, "30"), (6, "40"))
    rows = _chart(projected, _on((1, "5"), (3, "15"))).rows
    assert [(row.projected, row.actual) for row in rows] == [
        (Decimal(10), None),
        (None, Decimal(5)),
        (Decimal(20), Decimal(5)),
        (None, Decimal(15)),
        (Decimal(30), Decimal(15)),
        (Decimal(40), None),
    ]


def test_a_long_data_table_has_the_last_day_of_each_week() -> None:
    # 62 days from Monday 19 October stay as they are; 70 are ten whole weeks.
    assert len(_chart(_on(*((day, "1") for day in range(62)))).rows) == 62
    rows = _chart(_on(*((day, str(day)) for day in range(70)))).rows
    assert [row.day for row in rows] == [START + timedelta(days=6 + 7 * week) for week in range(10)]
    assert rows[0].projected == Decimal(6)


def test_a_plan_that_ends_within_a_week_keeps_its_last_amount_in_the_long_table() -> None:
    # The plan's last day is the Monday of the eleventh week, spend goes on to its Wednesday.
    rows = _chart(_on(*((day, str(day)) for day in range(71))), _on((0, "1"), (72, "9")), today=72).rows
    assert (rows[-1].day, rows[-1].projected, rows[-1].actual) == (
        START + timedelta(days=72),
        Decimal(70),
        Decimal(9),
    )
