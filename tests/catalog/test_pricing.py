"""Prices worked out by hand, and the properties that every price keeps."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalog.pricing import (
    PricedStretch,
    Pricing,
    Tier,
    billed_microseconds,
    cumulative_cost,
    price_pieces,
    price_run,
    price_stretches,
)

HOUR = 3_600_000_000
MINUTE = HOUR // 60

# Full to 96 h, half to 360 h, 34 % after: the ladder of some Tencent types.
LADDER = (Tier(96 * HOUR, Decimal("0.5")), Tier(360 * HOUR, Decimal("0.34")))


def test_hours_times_price() -> None:
    assert price_run(Pricing(Decimal("3.20")), 60 * HOUR) == Decimal("192.00")


def test_every_instance_is_paid() -> None:
    # Three instances, 2.5 h each, at 9.5326.
    assert price_run(Pricing(Decimal("9.5326")), 5 * HOUR // 2, 3) == Decimal("71.4945")


def test_an_instance_that_never_ran_costs_nothing() -> None:
    assert price_run(Pricing(Decimal("3.20"), minimum_us=HOUR), 0) == 0


def test_half_a_micro_unit_is_rounded_up() -> None:
    # 0.000001 for half an hour is half a micro-unit.
    assert price_run(Pricing(Decimal("0.000001")), HOUR // 2) == Decimal("0.000001")
    assert price_run(Pricing(Decimal("0.000001")), HOUR // 2 - 1) == 0


def test_a_third_of_an_hour_is_rounded_once() -> None:
    # 1.00 / 3 = 0.333333…; three of them priced as one run are 1, not 0.999999.
    assert price_run(Pricing(Decimal(1)), 20 * MINUTE) == Decimal("0.333333")
    assert price_pieces(Pricing(Decimal(1)), [20 * MINUTE] * 3) == [
        Decimal("0.333333"),
        Decimal("0.333334"),
        Decimal("0.333333"),
    ]


def test_continuous_hours_step_down() -> None:
    # 96 × 8.68 + 264 × 4.34 + 40 × 2.9512 = 833.28 + 1145.76 + 118.048
    assert price_run(Pricing(Decimal("8.68"), tiers=LADDER), 400 * HOUR) == Decimal("2097.088")


def test_a_tier_begins_at_its_hour() -> None:
    price = Pricing(Decimal(1), tiers=LADDER)
    assert price_run(price, 96 * HOUR) == 96
    assert price_run(price, 97 * HOUR) == Decimal("96.5")


def test_a_minimum_falls_into_the_first_piece() -> None:
    price = Pricing(Decimal(6), minimum_us=HOUR)
    assert price_pieces(price, [10 * MINUTE, 20 * MINUTE, 60 * MINUTE]) == [6, 0, 3]


def test_time_is_billed_in_whole_steps() -> None:
    price = Pricing(Decimal(2), granularity_us=HOUR)
    assert price_run(price, HOUR) == 2
    assert price_run(price, HOUR + 1) == 4


def test_a_minimum_that_is_no_whole_step_is_rounded_up_to_one() -> None:
    assert billed_microseconds(Pricing(Decimal(1), minimum_us=90 * MINUTE, granularity_us=HOUR), 1) == 2 * HOUR


def test_a_discount_is_taken_off_and_the_list_price_stays_known() -> None:
    price = Pricing(Decimal("10.00"), discount=Decimal("0.15"))
    assert price_run(price, 4 * HOUR) == 34
    assert price_run(price.at_list_price(), 4 * HOUR) == 40


def test_a_price_change_in_the_run() -> None:
    # 10 h at 3.20, then 5 h at 2.80 of which one was on the next day.
    stretches = [
        PricedStretch(Pricing(Decimal("3.20")), (10 * HOUR,)),
        PricedStretch(Pricing(Decimal("2.80")), (4 * HOUR, HOUR)),
    ]
    assert price_stretches(stretches) == [[32], [Decimal("11.2"), Decimal("2.8")]]


def test_stretches_are_rounded_once_together() -> None:
    # Two thirds of 0.000001 twice: 4/3 of a micro-unit is one, not two.
    stretch = PricedStretch(Pricing(Decimal("0.000001")), (40 * MINUTE,))
    assert price_stretches([stretch, stretch]) == [[Decimal("0.000001")], [0]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"price_per_hour": Decimal(-1)},
        {"price_per_hour": Decimal(1), "minimum_us": -1},
        {"price_per_hour": Decimal(1), "granularity_us": 0},
        {"price_per_hour": Decimal(1), "discount": Decimal("1.01")},
        {"price_per_hour": Decimal(1), "discount": Decimal("-0.1")},
        {"price_per_hour": Decimal(1), "tiers": (Tier(0, Decimal(1)),)},
        {"price_per_hour": Decimal(1), "tiers": (Tier(2, Decimal(1)), Tier(1, Decimal(1)))},
        {"price_per_hour": Decimal(1), "tiers": (Tier(2, Decimal(-1)),)},
    ],
)
def test_a_price_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Pricing(**wrong)


def test_negative_time_and_no_instance_are_refused() -> None:
    with pytest.raises(ValueError, match="time"):
        cumulative_cost(Pricing(Decimal(1)), -1)
    with pytest.raises(ValueError, match="instance"):
        cumulative_cost(Pricing(Decimal(1)), 1, 0)


prices = st.builds(
    Pricing,
    st.decimals(0, 1000, places=6),
    minimum_us=st.integers(0, 3 * HOUR),
    granularity_us=st.sampled_from([1, 1_000_000, MINUTE, HOUR]),
    tiers=st.sampled_from([(), LADDER, (Tier(HOUR, Decimal("0.9")),)]),
    discount=st.decimals(0, 1, places=4),
)
pieces = st.lists(st.integers(0, 500 * HOUR), max_size=8)


@given(prices, pieces, st.integers(1, 64))
def test_pieces_sum_to_the_run(price: Pricing, pieces_us: list[int], instance_count: int) -> None:
    costs = price_pieces(price, pieces_us, instance_count)
    assert len(costs) == len(pieces_us)
    assert sum(costs) == price_run(price, sum(pieces_us), instance_count)


@given(prices, st.integers(0, 900 * HOUR), st.integers(0, 900 * HOUR))
def test_the_cost_never_falls(price: Pricing, one_us: int, other_us: int) -> None:
    earlier, later = sorted([one_us, other_us])
    assert 0 <= cumulative_cost(price, earlier) <= cumulative_cost(price, later)


@given(prices, pieces)
def test_one_stretch_is_the_run(price: Pricing, pieces_us: list[int]) -> None:
    assert price_stretches([PricedStretch(price, tuple(pieces_us))]) == [price_pieces(price, pieces_us)]


@given(st.lists(st.builds(PricedStretch, prices, pieces.map(tuple)), max_size=4))
def test_stretches_sum_to_within_their_rounding(stretches: list[PricedStretch]) -> None:
    together = sum((cost for costs in price_stretches(stretches) for cost in costs), Decimal(0))
    apart = sum((price_run(stretch.price, sum(stretch.pieces_us)) for stretch in stretches), Decimal(0))
    assert abs(together - apart) <= Decimal("0.000001") * len(stretches)
