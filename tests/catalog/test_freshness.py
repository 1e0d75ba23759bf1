"""When a price says that it is old."""

from datetime import date

import pytest

from app.catalog.freshness import is_stale


@pytest.mark.parametrize(
    ("as_of", "stale"),
    [(date(2026, 12, 1), False), (date(2026, 11, 1), False), (date(2026, 10, 31), True), (None, True)],
)
def test_a_price_is_stale_after_thirty_days_or_without_a_date(as_of: date | None, stale: bool) -> None:
    assert is_stale(as_of, date(2026, 12, 1)) is stale
