"""The packaged offers get into the database once, follow the data, and leave teams' offers alone."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.catalog import packaged_offers, sync
from app.catalog.models import CatalogState, Offer
from app.catalog.packaged_offers import list_packaged_offers
from app.catalog.service import find_offer, list_offers
from app.catalog.sync import sync_packaged_offers

LATER = datetime(2027, 1, 1, tzinfo=UTC)


def offer_of(session: Session, packaged_id: int) -> Offer:
    return session.exec(select(Offer).where(col(Offer.packaged_id) == packaged_id)).one()


def forget(session: Session) -> None:
    """As if the database held an older version's offers."""
    state = session.exec(select(CatalogState)).one()
    state.offers_digest = "older"
    session.flush()


def test_the_database_holds_every_packaged_offer(session: Session) -> None:
    offers = session.exec(select(Offer)).all()
    assert {offer.packaged_id for offer in offers} == {offer.id for offer in list_packaged_offers()}
    assert all(offer.team_id is None for offer in offers)


def test_a_second_time_does_nothing(session: Session) -> None:
    assert sync_packaged_offers(session, LATER) is False


def test_a_newer_version_changes_what_differs_and_nothing_else(session: Session) -> None:
    offer_of(session, 1).price_per_hour = Decimal("1.23")
    untouched = offer_of(session, 2).version
    forget(session)
    assert sync_packaged_offers(session, LATER) is True
    assert offer_of(session, 1).price_per_hour == Decimal("61.88")
    assert offer_of(session, 1).version == 2
    assert offer_of(session, 2).version == untouched


def test_an_offer_that_is_no_longer_packaged_is_hidden_and_comes_back(
    session: Session, viewer: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = offer_of(session, 1)
    assert gone.id is not None
    with monkeypatch.context() as patch:
        patch.setattr(sync, "list_packaged_offers", lambda: packaged_offers.list_packaged_offers()[1:])
        forget(session)
        sync_packaged_offers(session, LATER)
    assert find_offer(session, viewer.team_id, gone.id) is None
    forget(session)
    sync_packaged_offers(session, LATER)
    assert find_offer(session, viewer.team_id, gone.id) is gone


def test_a_team_s_offer_is_left_alone(session: Session, editor: Actor) -> None:
    own = Offer(
        team_id=editor.team_id,
        provider="here",
        instance_type="box",
        gpu="a10",
        gpu_count=Decimal(1),
        region="",
        billing="on_demand",
        currency="CNY",
        price_per_hour=Decimal(1),
        created_at=LATER,
    )
    session.add(own)
    forget(session)
    sync_packaged_offers(session, LATER)
    assert own in list_offers(session, editor.team_id)
    assert own.version == 1
