"""A budget's bar, a whole and its parts, and the line the size of a word."""

from decimal import Decimal

from app.web.charts import build_budget_bar, build_sparkline, build_stacked_bar

GIB = 1024**3


def test_the_sample_project_half_spent_and_reserved() -> None:
    bar = build_budget_bar(
        spent=Decimal("188.40"),
        reserved=Decimal(64),
        budget=Decimal(500),
        target=Decimal(300),
        forecast=Decimal(260),
    )
    assert (bar.spent_width, bar.reserved_x, bar.reserved_width) == (37.68, 37.68, 12.8)
    assert (bar.budget_width, bar.target_x, bar.forecast_x) == (100.0, 60.0, 52.0)
    assert bar.free == Decimal("247.60")
    assert bar.over_width == 0.0


def test_all_of_a_budget_is_not_over_and_more_is() -> None:
    full = build_budget_bar(spent=Decimal(200), reserved=Decimal(0), budget=Decimal(200))
    assert (full.is_over, full.spent_width, full.over_width) == (False, 100.0, 0.0)
    over = build_budget_bar(spent=Decimal(250), reserved=Decimal(0), budget=Decimal(200))
    assert (over.is_over, over.spent_width, over.over_x, over.over_width) == (True, 80.0, 80.0, 20.0)
    assert over.budget_width == 80.0
    assert over.free == Decimal(-50)


def test_a_forecast_past_the_budget_stretches_the_bar() -> None:
    bar = build_budget_bar(
        spent=Decimal(100), reserved=Decimal(0), budget=Decimal(200), forecast=Decimal(400)
    )
    assert (bar.spent_width, bar.budget_width, bar.forecast_x) == (25.0, 50.0, 100.0)


def test_credits_have_no_length_but_count_as_free() -> None:
    bar = build_budget_bar(spent=Decimal(-10), reserved=Decimal(0), budget=Decimal(100))
    assert (bar.spent_width, bar.reserved_x, bar.free) == (0.0, 0.0, Decimal(110))


def test_nothing_at_all_is_an_empty_bar() -> None:
    bar = build_budget_bar(spent=Decimal(0), reserved=Decimal(0), budget=Decimal(0), target=Decimal(0))
    assert (bar.spent_width, bar.budget_width, bar.target_x) == (0.0, 0.0, 0.0)


def test_parts_stand_beside_each_other_against_the_limit() -> None:
    parts = [("weights", 12 * GIB), ("gradients", 0), ("activations", 3 * GIB), ("framework", GIB)]
    bar = build_stacked_bar(parts, limit=24 * GIB)
    assert [(part.key, part.number, part.x, part.width) for part in bar.parts] == [
        ("weights", 1, 0.0, 50.0),
        ("activations", 3, 50.0, 12.5),
        ("framework", 4, 62.5, 4.17),
    ]
    assert [part.has_room for part in bar.parts] == [True, True, False]
    assert (bar.limit_x, bar.free, bar.is_over) == (100.0, 8 * GIB, False)


def test_parts_past_the_limit_put_its_mark_inside() -> None:
    bar = build_stacked_bar([("weights", 30 * GIB), ("activations", 10 * GIB)], limit=10 * GIB)
    assert (bar.limit_x, bar.free, bar.is_over) == (25.0, -30 * GIB, True)


def test_parts_without_a_limit_fill_the_bar() -> None:
    bar = build_stacked_bar([("weights", 3), ("activations", 1)])
    assert [part.width for part in bar.parts] == [75.0, 25.0]
    assert (bar.limit_x, bar.free, bar.is_over) == (None, None, False)
    assert build_stacked_bar([]).parts == ()


def test_a_sparkline_rises_from_zero_to_its_largest_amount() -> None:
    line = build_sparkline([Decimal(0), Decimal(5), Decimal(20)])
    assert line is not None
    assert line.path == "M0 24L48 18L96 0"


def test_a_sparkline_with_credits_begins_at_the_lowest() -> None:
    line = build_sparkline([Decimal(-10), Decimal(10)])
    assert line is not None
    assert line.path == "M0 24L96 0"


def test_a_flat_sparkline_lies_at_the_bottom_and_one_amount_is_none() -> None:
    flat = build_sparkline([Decimal(0), Decimal(0)])
    assert flat is not None
    assert flat.path == "M0 24L96 24"
    assert build_sparkline([Decimal(7)]) is None
