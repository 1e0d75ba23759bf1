"""Where ticks stand, and what path strings say."""

from datetime import date
from decimal import Decimal

import pytest

from app.web.charts.paths import band_path, coordinate, line_path, step_path
from app.web.charts.scales import DateScale, LinearScale, date_ticks, nice_step, nice_ticks, tick_label


def _ticks(low: str, high: str, intervals: int = 5) -> list[str]:
    return [tick_label(tick) for tick in nice_ticks(Decimal(low), Decimal(high), intervals)]


@pytest.mark.parametrize(
    ("span", "intervals", "step"),
    [
        ("500", 5, "100"),
        ("188.4", 5, "50"),
        ("5", 5, "1"),
        ("5.01", 5, "2"),
        ("0.9", 5, "0.2"),
        ("26", 5, "10"),
    ],
)
def test_a_step_is_the_smallest_of_one_two_five_that_covers_the_span(
    span: str, intervals: int, step: str
) -> None:
    assert nice_step(Decimal(span), intervals) == Decimal(step)


def test_ticks_are_round_and_enclose_the_range() -> None:
    assert _ticks("0", "500") == ["0", "100", "200", "300", "400", "500"]
    assert _ticks("0", "188.40") == ["0", "50", "100", "150", "200"]
    assert _ticks("0", "12000") == ["0", "5,000", "10,000", "15,000"]


def test_credits_below_zero_get_ticks_of_their_own_and_zero_stays_a_tick() -> None:
    # A span of 96 in five intervals is 19.2, so 20; −36 and 60 are rounded outwards.
    assert _ticks("-36", "60") == ["−40", "−20", "0", "20", "40", "60"]


def test_an_empty_range_becomes_one_of_length_one() -> None:
    assert _ticks("0", "0") == ["0", "0.2", "0.4", "0.6", "0.8", "1"]


def test_a_linear_scale_turns_upside_down_as_svg_wants_it() -> None:
    scale = LinearScale(Decimal(0), Decimal(500), 200.0, 0.0)
    assert [scale.position(Decimal(amount)) for amount in (0, 125, 500)] == [200.0, 150.0, 0.0]


def test_days_stand_at_equal_distances_and_are_clamped_to_the_range() -> None:
    scale = DateScale(date(2026, 2, 27), date(2026, 3, 3), 400.0)
    assert scale.position(date(2026, 2, 28)) == 100.0
    assert scale.position(date(2026, 3, 1)) == 200.0
    assert scale.clamp(date(2026, 1, 1)) == date(2026, 2, 27)
    assert scale.clamp(date(2027, 1, 1)) == date(2026, 3, 3)


def _labels(first: date, last: date) -> list[str]:
    return [tick.label for tick in date_ticks(DateScale(first, last, 700.0))]


def test_a_week_is_labelled_by_day_and_five_weeks_by_week_from_the_first_day() -> None:
    assert _labels(date(2026, 10, 19), date(2026, 10, 22)) == ["10-19", "10-20", "10-21", "10-22"]
    assert _labels(date(2026, 10, 19), date(2026, 11, 23)) == [
        "10-19",
        "10-26",
        "11-02",
        "11-09",
        "11-16",
        "11-23",
    ]


def test_long_ranges_are_labelled_at_first_days_of_months() -> None:
    # 30 November to 30 November is 365 days: 13 steps of 28 days are too many, and so are 12 single months.
    assert _labels(date(2025, 11, 30), date(2026, 11, 30)) == [
        "2025-12",
        "2026-02",
        "2026-04",
        "2026-06",
        "2026-08",
        "2026-10",
    ]


@pytest.mark.parametrize("years", [1, 3, 9, 30, 96])
def test_there_are_never_more_labels_than_asked_for(years: int) -> None:
    ticks = date_ticks(DateScale(date(2004, 1, 15), date(2004 + years, 1, 15), 700.0))
    assert 1 < len(ticks) <= 8
    assert sum(tick.narrow for tick in ticks) <= 4


def test_narrow_frames_show_every_second_of_six_labels() -> None:
    ticks = date_ticks(DateScale(date(2026, 10, 19), date(2026, 11, 23), 700.0))
    assert [tick.narrow for tick in ticks] == [True, False, True, False, True, False]


def test_coordinates_are_short() -> None:
    assert [coordinate(value) for value in (12.0, 0.126, -0.001, -3.5)] == ["12", "0.13", "0", "-3.5"]


def test_lines_steps_and_bands_as_path_strings() -> None:
    points = [(0.0, 100.0), (10.0, 80.0), (20.0, 80.0), (30.0, 50.5)]
    assert line_path(points[:3]) == "M0 100L10 80L20 80"
    assert step_path(points, 40.0) == "M0 100H10V80H30V50.5H40"
    assert band_path([(0.0, 9.0), (5.0, 8.0)], [(0.0, 7.0), (5.0, 2.0)]) == "M0 7L5 2L5 8L0 9Z"


def test_no_points_draw_nothing_and_one_point_is_seen() -> None:
    assert line_path([]) == ""
    assert step_path([], 40.0) == ""
    assert band_path([(0.0, 9.0)], [(0.0, 7.0)]) == ""
    assert line_path([(3.0, 4.0)]) == "M3 4h0.01"
