"""The form of a hosted price: what it is filled with, and what it sends.

A size is written in billions of parameters, as people call it; a minimum has the currency of the price.
"""

from collections.abc import Mapping
from decimal import Decimal
from zoneinfo import ZoneInfo

from app.catalog.hosted.inputs import HostedInput
from app.catalog.models import HostedPrice
from app.money import AmountError, format_unit_price, parse_amount
from app.web.forms import read_form

BILLION = 10**9
_SIZES = ("smallest_parameters", "largest_parameters")


def values_of(price: HostedPrice) -> dict[str, str]:
    """The form's values of a price as it is."""
    plain = ("provider", "service", "model", "method", "as_of", "source", "note")
    minimum = price.minimum_charge
    return {
        "version": str(price.version),
        "price_per_million_tokens.amount": format_unit_price(price.price_per_million_tokens, price.currency),
        "price_per_million_tokens.currency": price.currency,
        "minimum_charge.amount": "" if minimum is None else format_unit_price(minimum, price.currency),
        **{name: _text(getattr(price, name)) for name in plain},
        **{name: _in_billions(getattr(price, name)) for name in _SIZES},
    }


def read_hosted(values: Mapping[str, str], zone: ZoneInfo) -> HostedInput:
    """The price that a form describes. Raises InvalidInput with the fields that are wrong."""
    read = dict(values) | {name: _from_billions(values.get(name, "")) for name in _SIZES}
    if values.get("minimum_charge.amount", "").strip():
        read["minimum_charge.currency"] = values.get("price_per_million_tokens.currency", "")
    return read_form(HostedInput, read, zone)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _in_billions(parameters: int | None) -> str:
    return "" if parameters is None else f"{(Decimal(parameters) / BILLION).normalize():f}"


def _from_billions(text: str) -> str:
    """Whole parameters; what is no number stays as it is, and is refused as such."""
    try:
        parameters = parse_amount(text.strip()) * BILLION
    except AmountError:
        return text
    return f"{int(parameters)}"
