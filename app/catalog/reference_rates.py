"""Euro foreign exchange reference rates of the European Central Bank, as CurrencyConverter packages them; offline."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache
from importlib.metadata import version

from currency_converter import CurrencyConverter, RateNotFoundError  # type: ignore[import-untyped]

LARGEST_AGE_DAYS = 7
# More digits than the bank publishes, few enough to read.
_DIGITS = Context(prec=10, rounding=ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class ConversionRate:
    """One unit of the first currency is ``rate`` units of the second, on ``day``, says ``source``."""

    rate: Decimal
    day: date
    source: str


@cache
def _converter() -> CurrencyConverter:
    # Reads twenty-seven years of rates: a quarter of a second, only when first needed.
    return CurrencyConverter(decimal=True)


def find_reference_rate(
    from_currency: str, to_currency: str, on_day: date, largest_age_days: int = LARGEST_AGE_DAYS
) -> ConversionRate | None:
    """The cross rate of the last day with both rates, at most so long before ``on_day``; None where there is none."""
    converter = _converter()
    if not {from_currency, to_currency} <= converter.currencies:
        return None
    for age_days in range(largest_age_days + 1):
        day = on_day - timedelta(days=age_days)
        try:
            rate = converter.convert(Decimal(1), from_currency, to_currency, day)
        except RateNotFoundError:
            continue
        return ConversionRate(rounded_rate(rate), day, _source())
    return None


def rounded_rate(rate: Decimal) -> Decimal:
    """To ten digits that count, half up: what stays on a record."""
    return _DIGITS.plus(rate).normalize()


def _source() -> str:
    return f"ECB reference rate (CurrencyConverter {version('CurrencyConverter')})"
