"""Hosted fine-tuning that a team sees: the packaged prices and its own, which it may add, change and delete."""

from collections.abc import Mapping
from typing import Any

from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.catalog.hosted.inputs import HostedChange, HostedInput
from app.catalog.hosted.packaged import Hosted, list_packaged_hosted
from app.catalog.known_models import find_model
from app.catalog.models import HostedPrice
from app.errors import FieldError, InvalidInput, NotFound
from app.i18n import Message
from app.versions import Precondition

# A price of tomorrow is still today somewhere else.
_DAYS_AHEAD = 1


def _own_prices(team_id: int) -> SelectOfScalar[HostedPrice]:
    """The team's own prices without the deleted ones."""
    return select(HostedPrice).where(col(HostedPrice.team_id) == team_id, col(HostedPrice.deleted_at).is_(None))


def list_hosted(session: Session, team_id: int) -> list[Hosted]:
    """The packaged prices, then the team's own by id."""
    own = session.exec(_own_prices(team_id).order_by(col(HostedPrice.id))).all()
    return [*list_packaged_hosted(), *map(hosted_of, own)]


def get_hosted_price(session: Session, team_id: int, hosted_id: int) -> HostedPrice:
    """One of the team's own prices. Raises NotFound, for another team's alike."""
    price = session.exec(_own_prices(team_id).where(col(HostedPrice.id) == hosted_id)).first()
    if price is None:
        raise NotFound
    return price


def get_hosted_price_to_change(session: Session, actor: Actor, hosted_id: int) -> HostedPrice:
    """One of the team's own prices, locked for a change. Raises NotFound, then Forbidden for the role."""
    statement = _own_prices(actor.team_id).where(col(HostedPrice.id) == hosted_id)
    price = session.exec(statement.with_for_update()).first()
    if price is None:
        raise NotFound
    actor.require("editor")
    return price


def create_hosted_price(session: Session, actor: Actor, data: HostedInput) -> HostedPrice:
    """Adds a price of the team's own. Raises InvalidInput."""
    actor.require("editor")
    columns = _checked_columns(actor, data)
    price = HostedPrice(team_id=actor.team_id, created_at=actor.clock(), **columns)
    session.add(price)
    session.flush()
    known = {name: value for name, value in columns.items() if value is not None}
    record_event(session, actor, "created", "hosted_price", _id(price), **_plain(known))
    return price


def change_hosted_price(
    session: Session, actor: Actor, price: HostedPrice, change: HostedChange, precondition: Precondition
) -> HostedPrice:
    """Changes what was sent. Raises InvalidInput, then what the precondition raises."""
    sent = _checked_columns(actor, change, price)
    precondition.check(price.version)
    changed = {name: value for name, value in sent.items() if getattr(price, name) != value}
    if not changed:
        return price
    before = {name: getattr(price, name) for name in changed}
    for name, value in changed.items():
        setattr(price, name, value)
    price.version += 1
    session.flush()
    record_event(session, actor, "changed", "hosted_price", _id(price), before=_plain(before), after=_plain(changed))
    return price


def delete_hosted_price(session: Session, actor: Actor, price: HostedPrice, precondition: Precondition) -> None:
    """Hides a price of the team's own."""
    precondition.check(price.version)
    price.deleted_at = actor.clock()
    price.version += 1
    session.flush()
    record_event(session, actor, "deleted", "hosted_price", _id(price))


def restore_hosted_price(session: Session, actor: Actor, hosted_id: int) -> HostedPrice:
    """Brings back one of the team's own prices that was deleted. Raises NotFound, then Forbidden."""
    statement = select(HostedPrice).where(
        col(HostedPrice.id) == hosted_id,
        col(HostedPrice.team_id) == actor.team_id,
        col(HostedPrice.deleted_at).is_not(None),
    )
    price = session.exec(statement.with_for_update()).first()
    if price is None:
        raise NotFound
    actor.require("editor")
    price.deleted_at = None
    price.version += 1
    session.flush()
    record_event(session, actor, "restored", "hosted_price", _id(price))
    return price


def hosted_of(price: HostedPrice) -> Hosted:
    """A price of the team's own beside the packaged ones; what people wrote is the same in every language."""
    return Hosted(
        id=_id(price),
        provider=price.provider,
        service={"en": price.service, "zh_CN": price.service},
        model=price.model,
        smallest_parameters=price.smallest_parameters,
        largest_parameters=price.largest_parameters,
        method=price.method,  # type: ignore[arg-type]
        price_per_million_tokens=price.price_per_million_tokens,
        currency=price.currency,
        minimum_charge=price.minimum_charge,
        as_of=price.as_of,
        source=price.source,
        note={"en": price.note, "zh_CN": price.note},
        version=price.version,
    )


def _id(price: HostedPrice) -> int:
    if price.id is None:
        raise ValueError("the price is not stored yet")
    return price.id


def _checked_columns(
    actor: Actor, data: HostedInput | HostedChange, price: HostedPrice | None = None
) -> dict[str, Any]:
    """The columns of what was sent, for a new price or for a change of ``price``. Raises InvalidInput."""
    columns = data.model_dump(exclude_unset=price is not None, exclude={"price_per_million_tokens", "minimum_charge"})
    known = None if price is None else price.model_dump()
    if data.price_per_million_tokens is not None:
        columns["price_per_million_tokens"] = data.price_per_million_tokens.amount
        columns["currency"] = data.price_per_million_tokens.currency
    if price is None or "minimum_charge" in data.model_fields_set:
        columns["minimum_charge"] = None if data.minimum_charge is None else data.minimum_charge.amount
    if columns.get("model") and (model := find_model(columns["model"])):
        columns["model"] = model.id
    errors = [*_errors(columns, actor), *_errors_between((known or {}) | columns, data, known)]
    if errors:
        raise InvalidInput(*errors)
    return columns


def _errors(columns: Mapping[str, Any], actor: Actor) -> list[FieldError]:
    """What is wrong with a single field."""
    errors = []
    if columns.get("model") and find_model(columns["model"]) is None:
        errors.append(FieldError("model", Message("There is no such model in the catalogue.")))
    if columns.get("price_per_million_tokens") == 0:
        errors.append(
            FieldError("price_per_million_tokens.amount", Message("A price must be greater than zero."))
        )
    if columns.get("as_of") and (columns["as_of"] - actor.today).days > _DAYS_AHEAD:
        errors.append(FieldError("as_of", Message("This day lies ahead.")))
    return errors


def _errors_between(
    values: Mapping[str, Any], data: HostedInput | HostedChange, known: Mapping[str, Any] | None
) -> list[FieldError]:
    """What does not go together in the price as it will be."""
    errors = []
    smallest, largest = values.get("smallest_parameters"), values.get("largest_parameters")
    if smallest is not None and largest is not None and largest < smallest:
        errors.append(FieldError("largest_parameters", Message("The largest is smaller than the smallest.")))
    # What stays of an earlier minimum is in the earlier currency.
    minimum = data.minimum_charge.currency if data.minimum_charge else known and known["currency"]
    if values.get("minimum_charge") is not None and minimum != values["currency"]:
        errors.append(
            FieldError("minimum_charge.currency", Message("The minimum must be in the currency of the price."))
        )
    return errors


def _plain(values: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: None if value is None else str(value) for name, value in values.items()}
