"""Other instances for the same job: where it fits, and what changes against the one that was chosen."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlmodel import Session

from app.accounts.access import Actor
from app.catalog.models import Offer
from app.planning.inputs import EstimateInput, JobOptions, SearchInput
from app.planning.search import Option, search

MOST_INSTANCES = 6


@dataclass(frozen=True, slots=True)
class OtherInstance:
    """An offer that the job fits; against the instance of now, where both are known and in one currency.

    ``change``: the plan's fields that choose it.
    """

    offer: Offer
    change: Mapping[str, Any]
    hours: float | None
    amount: Decimal | None
    adds_hours: float | None
    saves_cost: Decimal | None


def other_instances(
    session: Session, actor: Actor, body: EstimateInput, result: Mapping[str, Any], chosen: int | None
) -> list[OtherInstance]:
    """The cheapest, and only cheaper ones where the job fits already; each by the search's own figures."""
    found = search(session, actor, _same_job(body, result))
    fits = [one for one in found.options if one.fits and one.amount is not None and one.offer.id != chosen]
    others = [_compared(one, result) for one in fits]
    if result["memory"]["fits"] is True and result["cost"] is not None:
        others = [one for one in others if one.saves_cost is not None and one.saves_cost > 0]
    return others[:MOST_INSTANCES]


def _same_job(body: EstimateInput, result: Mapping[str, Any]) -> SearchInput:
    """Nothing of the recipe varies, what was assumed included."""
    assumed = {one["field"]: one["value"] for one in result["assumptions"]}
    fields: dict[str, Any] = {name: getattr(body, name) for name in JobOptions.model_fields}
    fields = {name: assumed.get(name) if value is None else value for name, value in fields.items()}
    fields["currency"] = None if body.price is None else body.price.currency
    stated = {name for name, value in fields.items() if value is not None}
    return SearchInput.model_construct(stated | {"model", "method"}, **fields, model=body.model, method=body.method)


def _compared(option: Option, result: Mapping[str, Any]) -> OtherInstance:
    time, cost = result["time"], result["cost"]
    hours = saved = None
    if option.hours is not None and time["hours"] is not None:
        hours = option.hours - time["hours"]
    if option.amount is not None and cost is not None and cost["currency"] == option.offer.currency:
        saved = Decimal(cost["amount"]) - option.amount
    count = option.trial.body.gpu_count if option.place.instances > 1 else None
    change = {"offer_id": option.offer.id, "gpu": None, "gpu_count": count, "price": None}
    return OtherInstance(option.offer, change, option.hours, option.amount, hours, saved)
