"""What hosted fine-tuning costs by the token: max(minimum charge, tokens × price per million / 10⁶); pure and exact."""

from decimal import Context, Decimal

LARGEST_TOKENS = 10**15

# More digits than the largest price times the largest number of tokens has, so that nothing is rounded.
_EXACT = Context(prec=60)
_PER_MILLION = Decimal("0.000001")


def price_tokens(price_per_million_tokens: Decimal, tokens: int, minimum_charge: Decimal | None = None) -> Decimal:
    """The exact amount, not rounded. Raises ValueError for what cannot be billed: less than nothing, or too much."""
    if price_per_million_tokens < 0 or (minimum_charge or 0) < 0:
        raise ValueError("a price cannot be negative")
    if not 0 <= tokens <= LARGEST_TOKENS:
        raise ValueError("so many tokens are no job")
    amount = _EXACT.multiply(_EXACT.multiply(price_per_million_tokens, Decimal(tokens)), _PER_MILLION)
    return amount if minimum_charge is None else max(amount, minimum_charge)
