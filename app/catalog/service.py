"""Offers that a team sees: the packaged catalogue's and its own, which it may add, change and delete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, col, or_, select
from sqlmodel.sql.expression import SelectOfScalar

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.api.pagination import Page, PageRequest, page_of_query
from app.catalog.gpus import find_gpu
from app.catalog.history import PRICE_COLUMNS, record_price
from app.catalog.inputs import OfferChange, OfferInput
from app.catalog.models import Offer
from app.catalog.terms import tiers_of
from app.errors import FieldError, Forbidden, InvalidInput, NotFound
from app.i18n import Message
from app.versions import Precondition

# A price of tomorrow is still today somewhere else.
_DAYS_AHEAD = 1


@dataclass(frozen=True, slots=True)
class OfferFilter:
    """What a list of offers is narrowed to; an empty word narrows nothing."""

    gpu: str = ""
    provider: str = ""
    region: str = ""
    billing: str = ""


def _visible_offers(team_id: int) -> SelectOfScalar[Offer]:
    """The packaged offers and the team's own, without the deleted ones: what every query of offers begins with."""
    mine = or_(col(Offer.team_id).is_(None), col(Offer.team_id) == team_id)
    return select(Offer).where(mine, col(Offer.deleted_at).is_(None))


def _narrowed(team_id: int, wanted: OfferFilter) -> SelectOfScalar[Offer]:
    statement = _visible_offers(team_id)
    for column, word in (
        (Offer.gpu, wanted.gpu),
        (Offer.provider, wanted.provider),
        (Offer.region, wanted.region),
        (Offer.billing, wanted.billing),
    ):
        if word:
            statement = statement.where(func.lower(col(column)) == word.lower())
    return statement


def list_offers_page(session: Session, team_id: int, wanted: OfferFilter, page: PageRequest) -> Page[Offer]:
    """A page of the offers that the team sees, by id."""
    return page_of_query(session, _narrowed(team_id, wanted), col(Offer.id), page)


def list_offers(session: Session, team_id: int, wanted: OfferFilter | None = None) -> list[Offer]:
    """All offers that the team sees, by id."""
    statement = _narrowed(team_id, wanted or OfferFilter())
    return list(session.exec(statement.order_by(col(Offer.id))).all())


def list_own_offers(session: Session, team_id: int, *, to_change: bool = False) -> list[Offer]:
    """The team's own offers, by id; locked when they are to be changed."""
    statement = _visible_offers(team_id).where(col(Offer.team_id) == team_id).order_by(col(Offer.id))
    return list(session.exec(statement.with_for_update() if to_change else statement).all())


def find_offer(session: Session, team_id: int, offer_id: int) -> Offer | None:
    """The offer that the team may use, or None: for an id in a body."""
    return session.exec(_visible_offers(team_id).where(col(Offer.id) == offer_id)).first()


def get_offer(session: Session, team_id: int, offer_id: int) -> Offer:
    """The offer of a path. Raises NotFound, for another team's alike."""
    offer = find_offer(session, team_id, offer_id)
    if offer is None:
        raise NotFound
    return offer


def get_offer_to_change(session: Session, actor: Actor, offer_id: int) -> Offer:
    """The team's own offer, locked for a change. Raises NotFound, then Forbidden for the role or a packaged offer."""
    statement = _visible_offers(actor.team_id).where(col(Offer.id) == offer_id).with_for_update()
    offer = session.exec(statement).first()
    if offer is None:
        raise NotFound
    require_own(actor, offer)
    return offer


def restore_offer(session: Session, actor: Actor, offer_id: int) -> Offer:
    """Brings back one of the team's own offers that was deleted. Raises NotFound, then Forbidden."""
    statement = select(Offer).where(
        col(Offer.id) == offer_id, col(Offer.team_id) == actor.team_id, col(Offer.deleted_at).is_not(None)
    )
    offer = session.exec(statement.with_for_update()).first()
    if offer is None:
        raise NotFound
    require_own(actor, offer)
    offer.deleted_at = None
    offer.version += 1
    session.flush()
    record_event(session, actor, "restored", "offer", _id(offer))
    return offer


def require_own(actor: Actor, offer: Offer) -> None:
    """Raises Forbidden when the role may not change offers, or nobody may change this one."""
    actor.require("editor")
    if offer.team_id is None:
        raise Forbidden(Message("This offer belongs to the packaged catalogue. Add an offer of your own instead."))


def create_offer(session: Session, actor: Actor, data: OfferInput) -> Offer:
    """Adds an offer of the team's own. Raises InvalidInput."""
    actor.require("editor")
    (offer,) = store_offers(session, actor, [checked_columns(actor, data)])
    return offer


def change_offer(
    session: Session, actor: Actor, offer: Offer, change: OfferChange, precondition: Precondition
) -> Offer:
    """Changes what was sent; runs keep their price. Raises InvalidInput, then what the precondition raises."""
    sent = checked_columns(actor, change, offer)
    precondition.check(offer.version)
    store_change(session, actor, offer, differences(offer, sent))
    session.flush()
    return offer


def checked_columns(actor: Actor, data: OfferInput | OfferChange, offer: Offer | None = None) -> dict[str, Any]:
    """The columns of what was sent, for a new offer or for a change of ``offer``. Raises InvalidInput."""
    columns = _columns(data.model_dump(exclude_unset=offer is not None), data)
    _check(columns, actor)
    _check_terms(columns if offer is None else offer.model_dump() | columns, actor)
    return columns


def differences(offer: Offer, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the columns in which the offer is another."""
    return {name: value for name, value in columns.items() if getattr(offer, name) != value}


def store_offers(session: Session, actor: Actor, rows: Sequence[Mapping[str, Any]]) -> list[Offer]:
    """Adds offers of checked columns, each with the first price of its history."""
    offers = [Offer(team_id=actor.team_id, created_at=actor.clock(), **columns) for columns in rows]
    session.add_all(offers)
    session.flush()
    for offer, columns in zip(offers, rows, strict=True):
        record_price(session, actor, offer)
        known = {name: value for name, value in columns.items() if value is not None}
        record_event(session, actor, "created", "offer", _id(offer), **_plain(known))
    session.flush()
    return offers


def store_change(session: Session, actor: Actor, offer: Offer, changed: Mapping[str, Any]) -> None:
    """Writes columns that differ into an offer; another price is added to its history. The caller flushes."""
    if not changed:
        return
    before = {name: getattr(offer, name) for name in changed}
    for name, value in changed.items():
        setattr(offer, name, value)
    offer.version += 1
    if PRICE_COLUMNS & changed.keys():
        record_price(session, actor, offer)
    record_event(session, actor, "changed", "offer", _id(offer), before=_plain(before), after=_plain(changed))


def delete_offer(session: Session, actor: Actor, offer: Offer, precondition: Precondition) -> None:
    """Hides an offer of the team's own; plans and runs that name it keep what they stored."""
    precondition.check(offer.version)
    offer.deleted_at = actor.clock()
    offer.version += 1
    session.flush()
    record_event(session, actor, "deleted", "offer", _id(offer))


def _id(offer: Offer) -> int:
    if offer.id is None:
        raise ValueError("the offer is not stored yet")
    return offer.id


def _columns(values: dict[str, Any], data: OfferInput | OfferChange) -> dict[str, Any]:
    """The columns of the fields that were sent: a price is two of them, a count is exact."""
    if values.pop("price_per_hour", None) is not None and data.price_per_hour is not None:
        values["price_per_hour"] = data.price_per_hour.amount
        values["currency"] = data.price_per_hour.currency
    if values.get("gpu_count") is not None:
        values["gpu_count"] = _exact(values["gpu_count"])
    if values.get("gpu"):
        gpu = find_gpu(values["gpu"].lower())
        values |= {"gpu": gpu.id, "gpu_label": gpu.name} if gpu else {}
    return values | _term_columns(values)


def _term_columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Terms as they are stored: exact numbers, and nothing where nothing is said."""
    columns: dict[str, Any] = {
        name: None if values[name] is None else _exact(values[name])
        for name in ("discount_percent", "free_trial_hours")
        if name in values
    }
    if "tiers" in values:
        columns["tiers"] = [_plain_numbers(tier) for tier in values["tiers"] or ()] or None
    if "availability_note" in values:
        columns["availability_note"] = values["availability_note"] or None
    return columns


def _exact(value: float) -> Decimal:
    return Decimal(repr(value)).normalize() + 0


def _plain_numbers(tier: Mapping[str, float]) -> dict[str, int | float]:
    return {name: int(value) if value == int(value) else value for name, value in tier.items()}


def _check(values: Mapping[str, Any], actor: Actor) -> None:
    errors = []
    if "gpu" in values and find_gpu(values["gpu"]) is None:
        errors.append(FieldError("gpu", Message("The catalogue has no GPU named %(gpu)s.", gpu=values["gpu"])))
    count = values.get("gpu_count", Decimal(1))
    if count > 1 and count != int(count):
        errors.append(FieldError("gpu_count", Message("Write a whole number, or a share of one card below 1.")))
    if values.get("price_per_hour") == 0:
        errors.append(FieldError("price_per_hour.amount", Message("A price must be greater than zero.")))
    if values.get("as_of") and (values["as_of"] - actor.today).days > _DAYS_AHEAD:
        errors.append(FieldError("as_of", Message("This day lies ahead.")))
    if errors:
        raise InvalidInput(*errors)


def _check_terms(values: Mapping[str, Any], actor: Actor) -> None:
    """What holds between the terms of an offer as it will be."""
    errors = []
    starts = [0, *(tier.from_us for tier in tiers_of(values.get("tiers") or ()))]
    if any(later <= earlier for earlier, later in pairwise(starts)):
        errors.append(FieldError("tiers", Message("Each tier begins after more hours than the one before it.")))
    begins, ends = values.get("discount_valid_from"), values.get("discount_valid_until")
    if begins and ends and ends < begins:
        errors.append(FieldError("discount_valid_until", Message("The end lies before the beginning.")))
    if (begins or ends) and not values.get("discount_percent"):
        errors.append(FieldError("discount_percent", Message("Say how many percent are taken off.")))
    seen_on = values.get("availability_on")
    if seen_on and (seen_on - actor.today).days > _DAYS_AHEAD:
        errors.append(FieldError("availability_on", Message("This day lies ahead.")))
    if errors:
        raise InvalidInput(*errors)


def _plain(values: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: None if value is None else str(value) for name, value in values.items()}
