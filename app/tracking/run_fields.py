"""From what was sent to what is stored of a run: defaults, checks, price and rate."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.catalog.gpus import find_gpu
from app.catalog.models import Offer
from app.catalog.pricing import Pricing, price_run
from app.catalog.service import find_offer
from app.errors import FieldError, InvalidInput
from app.i18n import Message
from app.money import Money
from app.planning.models import Plan
from app.projects.models import Project
from app.time import LARGEST_CLOCK_SKEW, hours_of, local_day, microseconds_between, microseconds_of_hours
from app.tracking.conversion import conversion_for
from app.tracking.inputs import RunInput
from app.tracking.models import Run

_PLAIN = (
    "name",
    "external_id",
    "plan_id",
    "offer_id",
    "instance",
    "instance_count",
    "started_at",
    "interruptions",
    "lost_hours",
    "steps_started",
    "steps_done",
    "steps_total",
    "peak_memory_bytes",
    "tokens_per_second",
    "out_of_memory",
    "note",
)


def run_fields(
    session: Session, actor: Actor, project: Project, wanted: RunInput, kept: Run | None = None
) -> dict[str, Any]:
    """The columns of a run. ``kept`` is the run as it was: what it was priced at stays where nothing else is said.

    Raises InvalidInput naming every field that is wrong.
    """
    errors: list[FieldError] = []
    offer = _offer(session, actor, wanted, errors)
    _check_plan(session, project, wanted, errors)
    ended_at = _end(wanted, errors)
    state = wanted.state or ("running" if ended_at is None else "finished")
    _check_state(wanted, state, ended_at, errors)
    _check_clock(actor, wanted, ended_at, errors)
    _check_progress(wanted, ended_at, errors)
    gpu = wanted.gpu or (offer.gpu if offer else None)
    if wanted.gpu is not None and find_gpu(wanted.gpu) is None:
        errors.append(FieldError("gpu", Message("There is no such GPU in the catalogue.")))
    price = _price(wanted, offer, errors)
    if errors or price is None:
        raise InvalidInput(*errors)
    day = local_day(wanted.started_at, actor.zone)
    rate = conversion_for(session, project, price.currency, wanted.exchange_rate, day)
    fields = {name: getattr(wanted, name) for name in _PLAIN} | {
        "gpu": gpu,
        "gpus_per_instance": _gpus(wanted, offer),
        "billing": wanted.billing or (offer.billing if offer else "on_demand"),
        "price_per_hour": price.amount,
        "currency": price.currency,
        "exchange_rate": rate.rate,
        "exchange_rate_day": rate.day,
        "exchange_rate_source": rate.source,
        "ended_at": ended_at,
        "state": state,
        "cost": run_cost(wanted.started_at, ended_at, price.amount, wanted.instance_count),
    }
    return fields if kept is None else _with_kept_rate(fields, kept, wanted)


def run_cost(started_at: datetime, ended_at: datetime | None, price: Decimal, instance_count: int) -> Decimal:
    """The price of the run's hours in its own currency; nothing while it has no end."""
    elapsed = 0 if ended_at is None else microseconds_between(started_at, ended_at)
    return price_run(Pricing(price), elapsed, instance_count)


def _with_kept_rate(fields: dict[str, Any], kept: Run, wanted: RunInput) -> dict[str, Any]:
    """A rate stays with its record, unless another one is given or another currency is."""
    if wanted.exchange_rate is None and fields["currency"] == kept.currency:
        for name in ("exchange_rate", "exchange_rate_day", "exchange_rate_source"):
            fields[name] = getattr(kept, name)
    return fields


def _offer(session: Session, actor: Actor, wanted: RunInput, errors: list[FieldError]) -> Offer | None:
    if wanted.offer_id is None:
        return None
    offer = find_offer(session, actor.team_id, wanted.offer_id)
    if offer is None:
        errors.append(FieldError("offer_id", Message("There is no such offer.")))
    return offer


def _check_plan(session: Session, project: Project, wanted: RunInput, errors: list[FieldError]) -> None:
    if wanted.plan_id is None:
        return
    statement = select(Plan.id).where(
        col(Plan.id) == wanted.plan_id,
        col(Plan.team_id) == project.team_id,
        col(Plan.project_id) == project.id,
        col(Plan.deleted_at).is_(None),
    )
    if session.exec(statement).first() is None:
        errors.append(FieldError("plan_id", Message("The project has no such plan.")))


def _price(wanted: RunInput, offer: Offer | None, errors: list[FieldError]) -> Money | None:
    if wanted.price_per_hour is not None:
        return wanted.price_per_hour.money
    if wanted.offer_id is None:
        errors.append(FieldError("price_per_hour", Message("Give a price or an offer.")))
    elif offer is not None and offer.price_per_hour is None:
        errors.append(FieldError("offer_id", Message("This offer has no price; give one.")))
    elif offer is not None and offer.price_per_hour is not None:
        return Money(offer.price_per_hour, offer.currency)
    return None


def _gpus(wanted: RunInput, offer: Offer | None) -> Decimal:
    if wanted.gpus_per_instance is not None:
        return Decimal(repr(wanted.gpus_per_instance)).normalize()
    return offer.gpu_count if offer is not None else Decimal(1)


def _end(wanted: RunInput, errors: list[FieldError]) -> datetime | None:
    if wanted.hours is None:
        if wanted.ended_at is not None and wanted.ended_at < wanted.started_at:
            errors.append(FieldError("ended_at", Message("The end lies before the start.")))
        return wanted.ended_at
    if wanted.ended_at is not None:
        errors.append(FieldError("hours", Message("Give either the hours or the end.")))
        return wanted.ended_at
    return wanted.started_at + timedelta(microseconds=microseconds_of_hours(wanted.hours))


def _check_state(wanted: RunInput, state: str, ended_at: datetime | None, errors: list[FieldError]) -> None:
    if state == "running" and ended_at is not None:
        errors.append(FieldError("state", Message("A run with an end is not running.")))
    if state != "running" and ended_at is None:
        errors.append(FieldError("ended_at", Message("Give the end or the hours of a run that is over.")))


def _check_clock(actor: Actor, wanted: RunInput, ended_at: datetime | None, errors: list[FieldError]) -> None:
    latest = actor.clock() + LARGEST_CLOCK_SKEW
    message = Message("This lies ahead of the server's clock.")
    if wanted.started_at > latest:
        errors.append(FieldError("started_at", message))
    elif ended_at is not None and ended_at > latest:
        errors.append(FieldError("ended_at" if wanted.hours is None else "hours", message))


def _check_progress(wanted: RunInput, ended_at: datetime | None, errors: list[FieldError]) -> None:
    if ended_at is not None and wanted.lost_hours > hours_of(
        microseconds_between(wanted.started_at, ended_at)
    ):
        errors.append(FieldError("lost_hours", Message("More hours are lost than were run.")))
    if wanted.steps_done is None:
        return
    if wanted.steps_started is not None and wanted.steps_done < wanted.steps_started:
        errors.append(FieldError("steps_done", Message("Fewer steps are done than the run started from.")))
    if wanted.steps_total is not None and wanted.steps_done > wanted.steps_total:
        errors.append(FieldError("steps_done", Message("More steps are done than there are in all.")))
