"""What an offer says of a job's price and of its interruptions."""

from datetime import date
from decimal import Decimal

from app.catalog.interruptions import interruptions_per_hour
from app.catalog.models import Offer
from app.catalog.terms import discount_on
from app.evidence.service import SpotHistories
from app.evidence.spot_rate import expected_interruptions_per_hour
from app.money import format_unit_price, round_to_micro
from app.planning.inputs import EstimatePriceInput, SpotInput


def price_of_offer(offer: Offer, day: date, instances: int = 1) -> EstimatePriceInput | None:
    """What so many instances cost an hour together with the discount of the day; None where no price is known.

    Minimum, granularity and tiers come in when runs are logged: how long an instance stays up is not known before.
    """
    if offer.price_per_hour is None:
        return None
    per_hour = round_to_micro(offer.price_per_hour * (1 - discount_on(offer, day))) * instances
    return EstimatePriceInput.model_construct(
        per_hour=Decimal(format_unit_price(per_hour, offer.currency)),
        currency=offer.currency,
        billing=offer.billing,  # type: ignore[arg-type]
    )


def spot_of_offer(
    given: SpotInput | None, offer: Offer, instances: int, histories: SpotHistories
) -> SpotInput | None:
    """As entered, else from what its provider publishes and what the team has seen of it.

    An instance that is not a spot one is not taken away; of several, each can be, and the job then waits for it.
    """
    if offer.billing != "spot":
        return None
    if given is not None and given.interruptions_per_hour is not None:
        return given
    published = interruptions_per_hour(offer.provider, offer.instance_type)
    seen = histories.get((offer.provider, offer.instance_type))
    rate = expected_interruptions_per_hour(published, seen)
    if rate is None:
        return given
    return (given or SpotInput()).model_copy(update={"interruptions_per_hour": min(60.0, rate * instances)})
