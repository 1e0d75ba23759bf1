"""Brings the packaged offers into the database, where plans and runs refer to them."""

from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlmodel import Session, col, select

from app.catalog.gpus import find_gpu
from app.catalog.models import CatalogState, Offer
from app.catalog.packaged_offers import PackagedOffer, list_packaged_offers, offers_digest

_STATE_ID = 1


def sync_packaged_offers(session: Session, now: datetime) -> bool:
    """Adds, changes and hides packaged offers until the database holds those of this version; says whether it did any.

    Does nothing when the database holds them already; offers of teams are never touched.
    """
    if _holds_current(session):
        return False
    _wait_for_others(session)
    state = session.get(CatalogState, _STATE_ID, populate_existing=True)
    if state is not None and state.offers_digest == offers_digest():
        return False
    _bring_in(session, now)
    if state is None:
        session.add(CatalogState(id=_STATE_ID, offers_digest=offers_digest()))
    else:
        state.offers_digest = offers_digest()
    session.flush()
    return True


def _holds_current(session: Session) -> bool:
    state = session.get(CatalogState, _STATE_ID)
    return state is not None and state.offers_digest == offers_digest()


def _wait_for_others(session: Session) -> None:
    # On SQLite a writing transaction has the database for itself.
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(7425114)"))


def _bring_in(session: Session, now: datetime) -> None:
    stored = {
        offer.packaged_id: offer for offer in session.exec(select(Offer).where(col(Offer.team_id).is_(None))).all()
    }
    for packaged in list_packaged_offers():
        offer = stored.pop(packaged.id, None)
        if offer is None:
            session.add(Offer(packaged_id=packaged.id, created_at=now, **_columns(packaged)))
        else:
            _change(offer, _columns(packaged) | {"deleted_at": None})
    for gone in stored.values():
        _change(gone, {"deleted_at": gone.deleted_at or now})


def _change(offer: Offer, columns: dict[str, Any]) -> None:
    changed = {name: value for name, value in columns.items() if getattr(offer, name) != value}
    for name, value in changed.items():
        setattr(offer, name, value)
    offer.version += 1 if changed else 0


def _columns(packaged: PackagedOffer) -> dict[str, Any]:
    gpu = find_gpu(packaged.gpu)
    if gpu is None:
        raise ValueError(f"the packaged offer {packaged.id} names an unknown GPU {packaged.gpu}")
    return {
        "provider": packaged.provider,
        "instance_type": packaged.instance_type,
        "gpu": gpu.id,
        "gpu_label": packaged.gpu_label,
        "gpu_count": packaged.gpu_count,
        "region": packaged.region,
        "billing": packaged.billing,
        "currency": packaged.currency,
        "price_per_hour": packaged.price_per_hour,
        "as_of": packaged.as_of,
        "source": packaged.source or "",
        "note": packaged.notes,
    }
