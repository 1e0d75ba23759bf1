"""Money: exact, half up, never mixed."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.money import (
    AmountError,
    Money,
    format_amount,
    format_unit_price,
    parse_amount,
    round_to_minor,
    rounding_difference,
)

AMOUNTS = st.decimals(min_value=-(10**9), max_value=10**9, places=6, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "amount"),
    [("300", "300"), ("300.00", "300"), ("-10.5", "-10.5"), ("0.000001", "0.000001"), ("007.10", "7.1")],
)
def test_decimal_text_is_read_exactly(text: str, amount: str) -> None:
    assert parse_amount(text) == Decimal(amount)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not_decimal"),
        ("1e5", "not_decimal"),
        ("NaN", "not_decimal"),
        ("Infinity", "not_decimal"),
        ("1,000.00", "not_decimal"),
        ("+1", "not_decimal"),
        (" 1", "not_decimal"),
        ("1.", "not_decimal"),
        (".5", "not_decimal"),
        ("٣", "not_decimal"),
        ("1" * 41, "not_decimal"),
        ("1.0000001", "too_many_decimals"),
        ("100000000000.01", "too_large"),
    ],
)
def test_what_is_no_amount_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(AmountError) as caught:
        parse_amount(text)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        ("19.2", "CNY", "19.20"),
        ("0.005", "CNY", "0.01"),
        ("-0.005", "CNY", "-0.01"),
        ("2.675", "USD", "2.68"),
        ("1234.5", "JPY", "1235"),
        ("1.2345", "KWD", "1.235"),
        ("-0.001", "CNY", "0.00"),
    ],
)
def test_amounts_are_shown_half_up_at_the_minor_unit(amount: str, currency: str, shown: str) -> None:
    assert format_amount(Decimal(amount), currency) == shown


@pytest.mark.parametrize(
    ("price", "currency", "shown"),
    [("3.2", "CNY", "3.20"), ("0.4125", "USD", "0.4125"), ("300", "JPY", "300"), ("1.234567", "CNY", "1.234567")],
)
def test_unit_prices_keep_up_to_six_decimals(price: str, currency: str, shown: str) -> None:
    assert format_unit_price(Decimal(price), currency) == shown


def test_three_rows_of_a_third_leave_a_rounding_line_of_one_cent() -> None:
    rows = [Decimal("3.333333"), Decimal("3.333333"), Decimal("3.333334")]
    assert rounding_difference(sum(rows, Decimal(0)), rows, "CNY") == Decimal("0.01")


def test_different_currencies_are_never_added() -> None:
    with pytest.raises(ValueError, match="cannot add USD to CNY"):
        Money(Decimal(1), "CNY") + Money(Decimal(1), "USD")


@given(AMOUNTS, AMOUNTS)
def test_adding_is_exact(left: Decimal, right: Decimal) -> None:
    assert (Money(left, "CNY") + Money(right, "CNY")).amount - right == left


@given(AMOUNTS)
def test_what_is_shown_is_at_most_half_a_cent_off(amount: Decimal) -> None:
    assert abs(round_to_minor(amount, "CNY") - amount) <= Decimal("0.005")


@given(AMOUNTS)
def test_text_read_back_is_the_same_amount(amount: Decimal) -> None:
    assert parse_amount(f"{amount:f}") == amount
