"""Cross rates of the European Central Bank; the figures are those it published."""

from datetime import date
from decimal import Decimal

import pytest

from app.catalog.reference_rates import find_reference_rate


def test_a_rate_against_the_euro_is_the_published_one() -> None:
    # 2 January 2024: EUR 1 = USD 1.0956.
    found = find_reference_rate("EUR", "USD", date(2024, 1, 2))
    assert found is not None
    assert (found.rate, found.day) == (Decimal("1.0956"), date(2024, 1, 2))
    assert "ECB" in found.source


def test_a_cross_rate_goes_through_the_euro() -> None:
    # EUR 1 = CNY 7.8264 = USD 1.0956, so USD 1 = CNY 7.1434830…
    found = find_reference_rate("USD", "CNY", date(2024, 1, 2))
    assert found is not None
    assert round(found.rate, 4) == Decimal("7.1435")


def test_a_day_without_rates_takes_the_last_one_before() -> None:
    # Easter 2024: no rates from Good Friday, 29 March, to Monday, 1 April.
    found = find_reference_rate("EUR", "USD", date(2024, 4, 1))
    assert found is not None
    assert found.day == date(2024, 3, 28)


def test_there_is_none_more_than_seven_days_old() -> None:
    # The rouble's last reference rate is of 1 March 2022.
    assert find_reference_rate("EUR", "RUB", date(2022, 3, 8)) is not None
    assert find_reference_rate("EUR", "RUB", date(2022, 3, 9)) is None


@pytest.mark.parametrize("pair", [("VND", "CNY"), ("CNY", "VND")])
def test_there_is_none_for_a_currency_that_the_bank_does_not_quote(pair: tuple[str, str]) -> None:
    assert find_reference_rate(*pair, date(2024, 1, 2)) is None
