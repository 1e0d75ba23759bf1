"""Amounts worked out by hand, and what holds for every price by the token."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalog.hosted.token_pricing import LARGEST_TOKENS, price_tokens

PRICES = st.decimals(0, 1_000_000, places=6)
TOKENS = st.integers(0, LARGEST_TOKENS)
MINIMA = st.none() | st.decimals(0, 1_000, places=6)


def test_the_provider_s_own_example() -> None:
    # docs.ori.co: 5 million tokens × 3 epochs + 1 million of validation, at 0.46 a million.
    assert price_tokens(Decimal("0.46"), 16_000_000) == Decimal("7.36")


def test_an_amount_is_exact() -> None:
    assert price_tokens(Decimal("0.000001"), 1) == Decimal("0.000000000001")
    assert price_tokens(Decimal("999999.999999"), LARGEST_TOKENS) == Decimal(999_999_999_999_000)


def test_a_minimum_is_charged_for_less_than_it() -> None:
    assert price_tokens(Decimal("0.48"), 1_000_000, Decimal(4)) == Decimal(4)
    assert price_tokens(Decimal("0.48"), 10_000_000, Decimal(4)) == Decimal("4.80")


@pytest.mark.parametrize(
    ("price", "tokens", "minimum"),
    [("-1", 1, None), ("1", -1, None), ("1", 1, "-1"), ("1", LARGEST_TOKENS + 1, None)],
)
def test_what_cannot_be_billed_is_refused(price: str, tokens: int, minimum: str | None) -> None:
    with pytest.raises(ValueError, match=r"negative|no job"):
        price_tokens(Decimal(price), tokens, None if minimum is None else Decimal(minimum))


@given(PRICES, TOKENS, TOKENS, MINIMA)
def test_more_tokens_never_cost_less(price: Decimal, tokens: int, others: int, minimum: Decimal | None) -> None:
    fewer, more = sorted((tokens, others))
    assert price_tokens(price, fewer, minimum) <= price_tokens(price, more, minimum)


@given(PRICES, TOKENS, MINIMA)
def test_the_cost_is_never_below_the_minimum(price: Decimal, tokens: int, minimum: Decimal | None) -> None:
    assert price_tokens(price, tokens, minimum) >= (minimum or 0)


@given(PRICES, TOKENS)
def test_a_million_times_the_cost_is_a_whole_number_of_micro_units(price: Decimal, tokens: int) -> None:
    amount = price_tokens(price, tokens)
    assert int(amount.scaleb(6).scaleb(6)) == int(price.scaleb(6)) * tokens
