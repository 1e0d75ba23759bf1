"""Parameter types of the catalogue's routes."""

from typing import Annotated

from fastapi import Depends, Query
from pydantic import BeforeValidator

from app.accounts.access import PathId, Viewer
from app.catalog.models import Offer
from app.catalog.packaged_offers import Billing
from app.catalog.service import OfferFilter, get_offer, get_offer_to_change, require_own, restore_offer
from app.db import ReadSession, WriteSession


def _seen_offer(offer_id: PathId, actor: Viewer, session: ReadSession) -> Offer:
    return get_offer(session, actor.team_id, offer_id)


def _own_offer(offer: Annotated[Offer, Depends(_seen_offer)], actor: Viewer) -> Offer:
    require_own(actor, offer)
    return offer


def _offer_to_change(offer_id: PathId, actor: Viewer, session: WriteSession) -> Offer:
    return get_offer_to_change(session, actor, offer_id)


def _restored_offer(offer_id: PathId, actor: Viewer, session: WriteSession) -> Offer:
    return restore_offer(session, actor, offer_id)


SeenOffer = Annotated[Offer, Depends(_seen_offer)]
OwnOffer = Annotated[Offer, Depends(_own_offer)]
# In the writing session and locked, so that what is changed is what was looked up.
OfferToChange = Annotated[Offer, Depends(_offer_to_change)]
RestoredOffer = Annotated[Offer, Depends(_restored_offer)]


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


def _offer_filter(
    gpu: Annotated[str, Query()] = "",
    provider: Annotated[str, Query()] = "",
    region: Annotated[str, Query()] = "",
    billing: Annotated[Billing | None, BeforeValidator(_none_if_empty), Query()] = None,
) -> OfferFilter:
    return OfferFilter(gpu, provider, region, billing or "")


OfferQuery = Annotated[OfferFilter, Depends(_offer_filter)]
