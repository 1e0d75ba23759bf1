"""The rate of interruptions from what is published and what was seen, worked out by hand."""

import pytest

from app.evidence.spot_rate import SpotHistory, expected_interruptions_per_hour


@pytest.mark.parametrize(
    ("published", "hours", "interruptions", "expected"),
    [
        # 1 interruption expected in the 100 hours of the prior.
        (0.01, 0, 0, 0.01),
        (0.01, 100, 3, 0.02),
        (0.01, 900, 1, 0.002),
        (0.0, 100, 1, 0.005),
        (None, 24, 0, 0.5 / 24),
        (None, 50, 2, 0.05),
        (None, 23.9, 5, None),
        (None, 0, 0, None),
    ],
)
def test_the_rate(published: float | None, hours: float, interruptions: int, expected: float | None) -> None:
    rate = expected_interruptions_per_hour(published, SpotHistory(hours, interruptions))
    assert rate == (None if expected is None else pytest.approx(expected))


def test_without_a_history_the_published_rate_stands() -> None:
    assert expected_interruptions_per_hour(0.02, None) == pytest.approx(0.02)
    assert expected_interruptions_per_hour(None, None) is None


def test_many_hours_outweigh_what_is_published() -> None:
    assert expected_interruptions_per_hour(0.5, SpotHistory(100_000, 1_000)) == pytest.approx(0.01, rel=0.05)
