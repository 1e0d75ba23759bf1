"""The terms of an offer as the price that ``price_run`` counts with."""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from app.catalog.models import Offer
from app.catalog.pricing import Pricing, Tier
from app.time import MICROSECONDS_PER_HOUR

_MICROSECONDS_PER_MINUTE = MICROSECONDS_PER_HOUR // 60
_PERCENT = Decimal(100)


def terms_of(offer: Offer, day: date) -> Pricing:
    """What an instance costs that starts on ``day``: minimum, granularity and tiers, and the discount of that day.

    Free trial hours are no part of it: whether they are left, only the provider knows. Raises ValueError for an offer
    without a price.
    """
    if offer.price_per_hour is None:
        raise ValueError(f"the offer {offer.id} has no price")
    return pricing_of(offer.price_per_hour, terms_document(offer, day))


def terms_document(offer: Offer, day: date) -> dict[str, Any] | None:
    """What an offer says beside its price to an instance that starts on ``day``, as a record keeps it, or None."""
    discount = discount_on(offer, day) * _PERCENT
    document = {
        "billing_minimum_minutes": offer.billing_minimum_minutes,
        "billing_granularity_minutes": offer.billing_granularity_minutes,
        "tiers": offer.tiers,
        "discount_percent": f"{discount.normalize():f}" if discount else None,
    }
    return {name: value for name, value in document.items() if value} or None


def pricing_of(price_per_hour: Decimal, document: Mapping[str, Any] | None) -> Pricing:
    """A price under terms that a record has kept."""
    terms = document or {}
    return Pricing(
        price_per_hour,
        minimum_us=terms.get("billing_minimum_minutes", 0) * _MICROSECONDS_PER_MINUTE,
        granularity_us=terms.get("billing_granularity_minutes", 0) * _MICROSECONDS_PER_MINUTE or 1,
        tiers=tiers_of(terms.get("tiers", ())),
        discount=Decimal(terms.get("discount_percent", 0)) / _PERCENT,
    )


def discount_on(offer: Offer, day: date) -> Decimal:
    """The share that is taken off on ``day``, both days of the discount included; 0 outside them."""
    begins, ends = offer.discount_valid_from, offer.discount_valid_until
    is_valid = (begins is None or begins <= day) and (ends is None or day <= ends)
    return (offer.discount_percent or Decimal(0)) / _PERCENT if is_valid else Decimal(0)


def tiers_of(tiers: Iterable[Mapping[str, Any]]) -> tuple[Tier, ...]:
    """Tiers as they are stored or sent (``from_hours``, ``percent``), in the units of a price."""
    return tuple(
        Tier(_microseconds(tier["from_hours"]), Decimal(str(tier["percent"])) / _PERCENT) for tier in tiers
    )


def _microseconds(hours: float) -> int:
    return int((Decimal(str(hours)) * MICROSECONDS_PER_HOUR).to_integral_value(ROUND_HALF_UP))
