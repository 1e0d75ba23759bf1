"""From what was sent to what is stored of a run: defaults, checks, price and rate."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.catalog.gpus import find_gpu
from app.catalog.models import Offer
from app.catalog.pricing import Pricing
from app.catalog.service import find_offer
from app.catalog.terms import pricing_of, terms_document
from app.errors import FieldError, InvalidInput
from app.i18n import Message
from app.money import Money
from app.planning.models import Plan
from app.projects.models import Project
from app.time import local_day
from app.tracking.conversion import Conversion, KeptConversion, conversion_for
from app.tracking.hours import RunTime
from app.tracking.inputs import RunInput
from app.tracking.models import Run
from app.tracking.run_cost import run_cost
from app.tracking.run_rules import end_of, run_faults, size_faults, state_of

_AS_SENT = (
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


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run takes over where nothing else is said: an offer's price and hardware, or what it had."""

    price: Money | None = None
    gpu: str | None = None
    gpus_per_instance: Decimal = Decimal(1)
    billing: str = "on_demand"
    # Minimum, granularity, tiers and discount; they belong to the price.
    price_terms: dict[str, Any] | None = None


def run_fields(
    session: Session,
    actor: Actor,
    project: Project,
    wanted: RunInput,
    kept: Run | None = None,
    kept_rate: KeptConversion | None = None,
    *,
    is_whole: bool = False,
) -> dict[str, Any]:
    """The columns of a run. ``kept`` is the run as it was: its price stays where nothing else is said, as does its
    rate when ``kept_rate`` is given. ``is_whole``: the input says all there is to say, so that nothing is taken over.

    Raises InvalidInput naming every field that is wrong.
    """
    errors = run_faults(wanted, actor.clock())
    terms = Terms() if is_whole else _terms(session, actor, wanted, kept, errors)
    _check_ids(session, project, wanted, kept, errors)
    price, price_terms = terms.price, terms.price_terms
    if wanted.price_per_hour is not None:
        price = wanted.price_per_hour.money
        # A price that is entered is the whole price, unless it is the one that the run has.
        price_terms = kept.price_terms if kept is not None and _is_priced_so(kept, wanted, price) else None
    if price is None and not errors:
        errors.append(FieldError("price_per_hour", Message("Give a price or an offer.")))
    if errors or price is None:
        raise InvalidInput(*errors)
    rate = conversion_for(
        session,
        actor,
        project,
        price.currency,
        local_day(wanted.started_at, actor.zone),
        wanted.exchange_rate,
        kept_rate,
    )
    return _columns(wanted, terms, pricing_of(price.amount, price_terms), rate) | {
        "currency": price.currency,
        "price_terms": price_terms,
    }


def run_time(run: Run) -> RunTime:
    """The run's time and what runs in it."""
    return RunTime(run.started_at, run.ended_at, run.instance_count, run.gpus_per_instance)


def run_pricing(run: Run) -> Pricing:
    """The run's price under the terms it was logged at."""
    return pricing_of(run.price_per_hour, run.price_terms)


def cost_in_project(run: Run) -> Decimal:
    """The run's cost in its project's currency, as the ledger has it."""
    return run_cost(run_time(run), run_pricing(run), run.exchange_rate or Decimal(1))


def _price_of(run: Run) -> Money:
    return Money(run.price_per_hour, run.currency)


def _is_priced_so(run: Run, wanted: RunInput, price: Money) -> bool:
    return run.offer_id == wanted.offer_id and price == _price_of(run)


def _columns(wanted: RunInput, terms: Terms, pricing: Pricing, rate: Conversion) -> dict[str, Any]:
    shared = terms.gpus_per_instance
    if wanted.gpus_per_instance is not None:
        shared = Decimal(repr(wanted.gpus_per_instance)).normalize()
    time = RunTime(wanted.started_at, end_of(wanted), wanted.instance_count, shared)
    cost = run_cost(time, pricing)
    faults = size_faults(time, [cost, run_cost(time, pricing, rate.rate or Decimal(1))])
    if faults:
        raise InvalidInput(*faults)
    return {
        **{name: getattr(wanted, name) for name in _AS_SENT},
        **rate.columns,
        "gpu": wanted.gpu.lower() if wanted.gpu is not None else terms.gpu,
        "gpus_per_instance": shared,
        "billing": wanted.billing or terms.billing,
        "price_per_hour": pricing.price_per_hour,
        "ended_at": time.ended_at,
        "state": state_of(wanted),
        "cost": cost,
    }


def _terms(
    session: Session, actor: Actor, wanted: RunInput, kept: Run | None, errors: list[FieldError]
) -> Terms:
    if wanted.offer_id is None:
        return Terms()
    if kept is not None and kept.offer_id == wanted.offer_id:
        # The price was kept when the run was logged: what happened to the offer since moves nothing.
        return Terms(
            _price_of(kept), kept.gpu, kept.gpus_per_instance, kept.billing, kept.price_terms
        )
    offer = find_offer(session, actor.team_id, wanted.offer_id)
    if offer is None:
        errors.append(FieldError("offer_id", Message("There is no such offer.")))
        return Terms()
    return _terms_of(offer, wanted, local_day(wanted.started_at, actor.zone), errors)


def _terms_of(offer: Offer, wanted: RunInput, day: date, errors: list[FieldError]) -> Terms:
    if offer.price_per_hour is None:
        if wanted.price_per_hour is None:
            errors.append(FieldError("offer_id", Message("This offer has no price; give one.")))
        return Terms(None, offer.gpu, offer.gpu_count, offer.billing)
    price = Money(offer.price_per_hour, offer.currency)
    return Terms(price, offer.gpu, offer.gpu_count, offer.billing, terms_document(offer, day))


def _check_ids(
    session: Session, project: Project, wanted: RunInput, kept: Run | None, errors: list[FieldError]
) -> None:
    if wanted.gpu is not None and find_gpu(wanted.gpu.lower()) is None:
        errors.append(FieldError("gpu", Message("There is no such GPU in the catalogue.")))
    is_new_plan = kept is None or kept.plan_id != wanted.plan_id
    if wanted.plan_id is not None and is_new_plan and not _has_plan(session, project, wanted.plan_id):
        errors.append(FieldError("plan_id", Message("The project has no such plan.")))


def _has_plan(session: Session, project: Project, plan_id: int) -> bool:
    statement = select(Plan.id).where(
        col(Plan.id) == plan_id,
        col(Plan.team_id) == project.team_id,
        col(Plan.project_id) == project.id,
        col(Plan.deleted_at).is_(None),
    )
    return session.exec(statement).first() is not None


def kept_rate_of(kept: Run, actor: Actor) -> KeptConversion:
    """The rate that the run has, for as long as it fits."""
    conversion = Conversion(kept.exchange_rate, kept.exchange_rate_day, kept.exchange_rate_source)
    return KeptConversion(conversion, kept.currency, local_day(kept.started_at, actor.zone))
