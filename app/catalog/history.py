"""The earlier prices of a team's own offers; kept in the transaction that changes the price."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.api.pagination import Page, PageRequest, page_of_query
from app.catalog.models import Offer, OfferPrice

# A change of one of these is a new price.
PRICE_COLUMNS = frozenset({"price_per_hour", "currency", "as_of"})


def record_price(session: Session, actor: Actor, offer: Offer) -> None:
    """Adds the price that a stored offer of the team's own has now; one without a price has none to keep."""
    if offer.id is None or offer.team_id is None or offer.price_per_hour is None:
        return
    session.add(
        OfferPrice(
            team_id=offer.team_id,
            offer_id=offer.id,
            price_per_hour=offer.price_per_hour,
            currency=offer.currency,
            as_of=offer.as_of,
            source=offer.source,
            changed_at=actor.clock(),
            changed_by=actor.name,
        )
    )


def list_prices_page(session: Session, team_id: int, offer: Offer, page: PageRequest) -> Page[OfferPrice]:
    """A page of an offer's prices, the oldest first; a packaged offer has none."""
    statement = select(OfferPrice).where(
        col(OfferPrice.team_id) == team_id, col(OfferPrice.offer_id) == offer.id
    )
    return page_of_query(session, statement, col(OfferPrice.id), page)


def list_prices(session: Session, team_id: int, offers: Iterable[Offer]) -> Mapping[int, Sequence[OfferPrice]]:
    """The prices of the team's own offers among these, by the offer's id, the latest first."""
    own = [offer.id for offer in offers if offer.team_id is not None]
    found: defaultdict[int, list[OfferPrice]] = defaultdict(list)
    if own:
        statement = select(OfferPrice).where(
            col(OfferPrice.team_id) == team_id, col(OfferPrice.offer_id).in_(own)
        )
        for price in session.exec(statement.order_by(col(OfferPrice.id).desc())):
            found[price.offer_id].append(price)
    return found
