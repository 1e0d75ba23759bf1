"""Interruptions in closed form, and the spread of hours and cost played out."""

import math
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.estimator import Price, Spot
from app.estimator.cost import billed_hours, expected_hours, job_cost
from app.estimator.odds import (
    Hours,
    Spread,
    draw_odds,
    drivers,
    play_out,
    probability_in_closed_form,
)
from app.estimator.spot import saves, saving_hours, spot_figures

# Every half an hour 36 s of saving; a restart takes 9 minutes.
SPOT = Spot(0.1, 30, 36, 9)
YEN = Price(Decimal(2), "CNY", "spot")
CERTAIN, DAY = Hours(10, 10, 10), Hours(8, 10, 14)


def test_a_stretch_in_one_piece_takes_dalys_expectation() -> None:
    # Ten stretches of 0.51 h but the last, which saves nothing: (e^(λs) − 1) e^(λR) / λ each, λ = 0.1, R = 0.15.
    once = (math.exp(0.051) - 1) * math.exp(0.015) / 0.1
    last = (math.exp(0.05) - 1) * math.exp(0.015) / 0.1
    figures = spot_figures(5, SPOT)
    assert saves(5, SPOT) == 9
    assert math.isclose(5.09 + figures.expected_lost_hours, 9 * once + last)
    assert math.isclose(figures.expected_interruptions, 0.1 * (9 * once + last))


def test_with_notice_enough_to_save_only_restarts_are_lost() -> None:
    spot = Spot(0.1, 30, 36, 9, notice_seconds=120)
    figures = spot_figures(5, spot)
    assert math.isclose(figures.expected_lost_hours, 5.09 * (math.exp(0.015) - 1))
    assert figures.optimal_checkpoint_interval_minutes is None
    too_short = spot_figures(5, Spot(0.1, 30, 36, 9, notice_seconds=30))
    assert too_short == spot_figures(5, SPOT)


def test_without_interruptions_nothing_is_lost_and_saving_is_part_of_the_hours() -> None:
    calm = Spot(0, 60, 36, 10)
    figures = spot_figures(10, calm)
    assert (figures.expected_lost_hours, figures.expected_interruptions) == (0, 0)
    assert figures.optimal_checkpoint_interval_minutes is None
    assert math.isclose(billed_hours(10, calm), 10.09)
    assert expected_hours(10, None) == billed_hours(10, None) == 10


@given(st.floats(1e-4, 2), st.floats(1, 600))
def test_no_other_interval_is_better_than_the_best_one(rate: float, seconds: float) -> None:
    best = spot_figures(1, Spot(rate, 30, seconds, 5)).optimal_checkpoint_interval_minutes
    assert best is not None

    def an_hour(minutes: float) -> float:
        return (math.exp(rate * (minutes / 60 + seconds / 3600)) - 1) / minutes

    assert an_hour(best) <= an_hour(best * 1.02) * (1 + 1e-12)
    assert an_hour(best) <= an_hour(best * 0.98) * (1 + 1e-12)


def test_the_best_interval_begins_as_youngs() -> None:
    def best(rate: float, seconds: float) -> float:
        return spot_figures(1, Spot(rate, 30, seconds, 5)).optimal_checkpoint_interval_minutes or 0.0

    # Young: √(2 × 0.01 h / 0.1) = 0.4472 h = 26.83 min; Daly's next term takes off about a third of the saving's time.
    assert best(0.1, 36) == pytest.approx(26.83 - 0.36 * 2 / 3 - 0.2, abs=0.3)
    assert best(1e-9, 1) == pytest.approx(math.sqrt(2 / 3600 / 1e-9) * 60, rel=1e-3)
    assert best(0.1, 0) == 0
    assert best(60, 86_400) == pytest.approx(1, rel=1e-3)


def test_interruptions_more_often_than_a_restart_takes_never_end() -> None:
    for spot in (Spot(60, 30, 60, 1800), Spot(60, 1e5, 60, 30), Spot(60, 30, 60, 1800, notice_seconds=60)):
        figures = spot_figures(100, spot)
        assert figures.expected_lost_hours == 100_000
        assert math.isfinite(figures.expected_interruptions)


@pytest.mark.parametrize("spot", [SPOT, Spot(0.5, 60, 120, 10), Spot(0.3, 45, 90, 6, notice_seconds=120)])
def test_played_out_often_the_mean_is_the_closed_form(spot: Spot) -> None:
    random = Random(7)
    hours = [play_out(20, spot, random) for _ in range(20_000)]
    expected = 20 + saving_hours(20, spot) + spot_figures(20, spot).expected_lost_hours
    assert sum(hours) / len(hours) == pytest.approx(expected, rel=0.01)
    assert min(hours) >= 20 + saving_hours(20, spot) - 1e-9


def test_so_many_interruptions_that_their_sum_hardly_varies_are_not_played_out() -> None:
    spot = Spot(50, 1, 1, 0.1)
    assert set(draw_odds(Spread(Hours(1000, 1000, 1000), spot), draws=20).hours) == {expected_hours(1000, spot)}


def test_without_spread_the_odds_are_zero_or_one() -> None:
    certain = draw_odds(Spread(CERTAIN), draws=50)
    assert [certain.probability(10), certain.probability(9.999), certain.probability(deadline_hours=9)] == [1, 0, 0]
    assert [probability_in_closed_form(CERTAIN, limit) for limit in (10, 9)] == [1, 0]
    assert job_cost(CERTAIN, YEN, Spot(0, 600, 0, 0), Decimal(20)).probability_within_budget == 1
    assert job_cost(CERTAIN, YEN, Spot(0, 600, 0, 0), Decimal("19.99")).probability_within_budget == 0
    assert job_cost(Hours(0, 0, 0), YEN, SPOT, Decimal(1)).probability_within_budget == 1


def test_the_interval_is_the_central_eighty_percent() -> None:
    odds = draw_odds(Spread(DAY))
    assert odds.quantile_hours(0.1) == pytest.approx(8, rel=0.01)
    assert odds.quantile_hours(0.9) == pytest.approx(14, rel=0.01)
    assert odds.quantile_cost(0.5) == pytest.approx(10, rel=0.01)
    # A quarter of them lie below 10 x 0.8^(0.67449 / 1.28155), and above 10 x 1.4^(the same).
    assert odds.quantile_hours(0.25) == pytest.approx(8.892, rel=0.01)
    assert odds.quantile_hours(0.75) == pytest.approx(11.937, rel=0.01)
    assert odds.probability(14) == pytest.approx(0.9, abs=0.001)
    for limit, share in ((8, 0.1), (8.892, 0.25), (10, 0.5), (11.937, 0.75), (14, 0.9)):
        assert probability_in_closed_form(DAY, limit) == pytest.approx(share, abs=1e-4)
    assert probability_in_closed_form(DAY, 0) == 0
    assert probability_in_closed_form(DAY, math.inf) == 1


def test_budget_and_deadline_together_are_no_likelier_than_either() -> None:
    odds = draw_odds(Spread(DAY, SPOT, price_percent=30))
    both = odds.probability(11, 12)
    assert 0 < both < min(odds.probability(11), odds.probability(deadline_hours=12)) < 1


@settings(max_examples=30, deadline=None)
@given(st.floats(0.5, 200), st.floats(0, 1), st.floats(0, 60), st.floats(1, 2))
def test_a_larger_budget_or_a_later_deadline_is_never_less_likely(
    hours: float, rate: float, percent: float, wider: float
) -> None:
    odds = draw_odds(Spread(Hours(hours * 0.8, hours, hours * 1.5), Spot(rate), percent), draws=60)
    assert odds == draw_odds(Spread(Hours(hours * 0.8, hours, hours * 1.5), Spot(rate), percent), draws=60)
    limit = odds.quantile_cost(0.4)
    assert odds.probability(limit) <= odds.probability(limit * wider)
    late = odds.quantile_hours(0.4)
    assert odds.probability(deadline_hours=late) <= odds.probability(deadline_hours=late * wider)
    quantiles = [odds.quantile_cost(share) for share in (0.1, 0.5, 0.9)]
    assert quantiles == sorted(quantiles)


def test_the_input_that_moves_the_cost_most_is_named_first() -> None:
    steady = drivers(Spread(Hours(9.9, 10, 10.1), Spot(0.5, 120, 60, 30), price_percent=1))
    assert [one.name for one in steady] == ["interruptions", "speed", "price"]
    dear = drivers(Spread(Hours(9.9, 10, 10.1), None, price_percent=50))
    assert [one.name for one in dear] == ["price", "speed"]
    assert [one.name for one in drivers(Spread(DAY, Spot(0, 30, 36, 9)))] == ["speed"]
    assert dear[0].low == pytest.approx(10 / 1.5)
    assert all(one.low <= one.high for one in steady + dear)


class Played:
    """A project played out minute by minute, by nothing of the product: how many finish inside?"""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def is_inside(self, median: float, rate: float, limit: float, deadline: float) -> bool:
        # One in ten takes less than 0.8 of the median, one in ten more than 1.4 of it: 1.28155 standard deviations.
        turn = self.random.gauss(0, 1) / 1.28155
        work = median * (1.4 if turn > 0 else 0.8) ** abs(turn) * 60
        minutes = self.course(work, rate / 60)
        return minutes / 60 <= limit and minutes / 60 <= deadline

    def course(self, work: float, rate: float) -> float:
        """Minutes until the work is done: a save of 1 minute every 30, 9 minutes of restart after an interruption."""
        step, minutes, done, kept, since, waiting = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
        while True:
            minutes += step
            if self.random.random() < rate * step:
                done, since, waiting = kept, 0.0, 9.0
                continue
            if waiting > 0:
                waiting -= step
                continue
            since += step
            if since <= 30:
                done += step
                if done >= work:
                    return minutes
            elif since >= 31:
                kept, since = done, 0.0


def test_of_projects_rated_at_four_fifths_about_four_fifths_finish_inside() -> None:
    """200 projects whose odds are 75–85 %, played out by a generator of its own."""
    choose, played = Random(11), Played(2026)
    inside = rated = 0
    while rated < 200:
        median, rate = choose.uniform(4, 20), choose.uniform(0, 0.3)
        limit, deadline = median * choose.uniform(1.1, 2), median * choose.uniform(1.1, 2)
        spread = Spread(Hours(0.8 * median, median, 1.4 * median), Spot(rate, 30, 60, 9))
        odds = draw_odds(spread, draws=400).probability(limit, deadline)
        if 0.75 <= odds <= 0.85:
            rated += 1
            inside += played.is_inside(median, rate, limit, deadline)
    assert 0.74 <= inside / 200 <= 0.86
