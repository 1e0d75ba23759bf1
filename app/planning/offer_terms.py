"""What an offer says of a job's price and of its interruptions."""

from decimal import Decimal

from app.catalog.interruptions import interruptions_per_hour
from app.catalog.models import Offer
from app.evidence.service import SpotHistories
from app.evidence.spot_rate import expected_interruptions_per_hour
from app.money import format_unit_price
from app.planning.inputs import EstimatePriceInput, SpotInput


def price_of_offer(offer: Offer, instances: int = 1) -> EstimatePriceInput | None:
    """What so many instances cost an hour together; None where nobody knows the offer's price."""
    if offer.price_per_hour is None:
        return None
    return EstimatePriceInput.model_construct(
        per_hour=Decimal(format_unit_price(offer.price_per_hour * instances, offer.currency)),
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
