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
    return Pricing(
        offer.price_per_hour,
        minimum_us=(offer.billing_minimum_minutes or 0) * _MICROSECONDS_PER_MINUTE,
        granularity_us=(offer.billing_granularity_minutes or 0) * _MICROSECONDS_PER_MINUTE or 1,
        tiers=tiers_of(offer.tiers or ()),
        discount=discount_on(offer, day),
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
