"""The form of an offer: what it is filled with, and what it sends."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from app.catalog.inputs import MOST_TIERS, OfferInput, TierInput
from app.catalog.models import Offer
from app.errors import FieldError, InvalidInput
from app.fields import field_errors
from app.money import format_unit_price
from app.web.forms import form_document

TIER_ROWS = 3
_TERM_FIELDS = (
    "billing_minimum_minutes",
    "billing_granularity_minutes",
    "discount_percent",
    "discount_valid_from",
    "discount_valid_until",
    "free_trial_hours",
    "availability",
    "availability_on",
    "availability_note",
)


def values_of(offer: Offer) -> dict[str, str]:
    """The form's values of an offer as it is."""
    price = offer.price_per_hour
    plain = ("provider", "instance_type", "gpu", "gpu_count", "region", "billing", "as_of", "source", "note")
    return {
        "version": str(offer.version),
        "price_per_hour.amount": "" if price is None else format_unit_price(price, offer.currency),
        "price_per_hour.currency": offer.currency,
        **{name: _text(getattr(offer, name)) for name in (*plain, *_TERM_FIELDS)},
        **{
            f"tiers.{number}.{name}": _text(value)
            for number, tier in enumerate(offer.tiers or ())
            for name, value in tier.items()
        },
    }


def tier_rows(values: Mapping[str, str]) -> int:
    """How many rows for tiers the form has: those that are filled and one more, at least three."""
    filled = [number for number in range(MOST_TIERS) if values.get(f"tiers.{number}.from_hours")]
    return min(MOST_TIERS, max(TIER_ROWS, max(filled, default=0) + 2))


def has_wrong_terms(errors: Mapping[str, str]) -> bool:
    """Whether something is wrong in the part of the form that is closed at first."""
    return any(name in _TERM_FIELDS or name.startswith("tiers") for name in errors)


def read_offer(values: Mapping[str, str], zone: ZoneInfo) -> OfferInput:
    """The offer that a form describes. Raises InvalidInput with the fields that are wrong."""
    document = form_document(OfferInput, values, zone)
    tiers = _tiers(values, zone)
    if tiers:
        document["tiers"] = list(tiers.values())
    try:
        return OfferInput.model_validate(document)
    except ValidationError as error:
        raise InvalidInput(*_in_rows(field_errors(error.errors()), list(tiers))) from error


def _tiers(values: Mapping[str, str], zone: ZoneInfo) -> dict[int, dict[str, Any]]:
    """The tiers by the row of the form; an empty row says nothing."""
    rows = {number: form_document(TierInput, values, zone, f"tiers.{number}.") for number in range(MOST_TIERS)}
    return {number: row for number, row in rows.items() if row}


def _in_rows(errors: list[FieldError], rows: list[int]) -> list[FieldError]:
    """Errors of a tier at the row in which it stands."""
    found = []
    for error in errors:
        parts = error.field.split(".")
        if parts[0] == "tiers" and len(parts) > 1:
            parts[1] = str(rows[int(parts[1])])
        found.append(FieldError(".".join(parts), error.message))
    return found


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:f}" if isinstance(value, Decimal) else str(value)
