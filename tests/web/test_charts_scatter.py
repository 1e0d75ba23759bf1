"""Alternatives by hours and cost on logarithmic axes."""

import pytest

from app.web.charts import Alternative, build_scatter_chart
from app.web.charts.scales import LogScale, log_ticks, tick_label


def one(x: float, y: float, *, best: bool = False) -> Alternative:
    return Alternative("x", x, y, best, is_inside=True)


def test_equal_ratios_are_equal_distances() -> None:
    scale = LogScale(1, 100, 0, 100)
    assert [scale.position(value) for value in (1, 10, 100)] == pytest.approx([0, 50, 100])


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.8, 60, ["1", "2", "5", "10", "20", "50"]),
        (1, 1e4, ["1", "10", "100", "1,000", "10,000"]),
        (3, 12, ["5", "10"]),
        (2.1, 2.4, []),
    ],
)
def test_ticks_are_round(low: float, high: float, labels: list[str]) -> None:
    found = [tick_label(tick) for tick in log_ticks(low, high)]
    assert found == labels if len(found) <= 6 else set(labels) <= set(found)


def test_cheaper_is_lower_and_slower_is_further_right() -> None:
    chart = build_scatter_chart([one(1, 100), one(10, 10)])
    assert chart is not None
    fast, cheap = chart.dots
    assert fast.x < cheap.x
    assert fast.y < cheap.y
    assert all(0 <= dot.x <= 100 and 0 <= dot.y <= 100 for dot in chart.dots)


def test_the_line_of_the_best_goes_down_only() -> None:
    chart = build_scatter_chart([one(1, 100, best=True), one(2, 100, best=True), one(4, 10, best=True), one(9, 50)])
    assert chart is not None
    # From the first to the third: the second is as dear as the first.
    assert chart.frontier_path.count("V") == 1


def test_limits_are_drawn_where_they_are_near() -> None:
    alternatives = [one(1, 100), one(10, 10)]
    near = build_scatter_chart(alternatives, x_limit=8, y_limit=200)
    assert near is not None
    assert near.x_limit is not None
    assert near.y_limit is not None
    far = build_scatter_chart(alternatives, x_limit=10_000, y_limit=0.001)
    assert far is not None
    assert far.x_limit is None


def test_nothing_to_place_is_no_chart() -> None:
    assert build_scatter_chart([]) is None
    assert build_scatter_chart([one(0, 10), one(10, 0)]) is None
    single = build_scatter_chart([one(5, 5, best=True)])
    assert single is not None
    assert single.dots[0].x == pytest.approx(50)
