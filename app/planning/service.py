"""What a member of a team can do with plans."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.catalog.models import Offer
from app.catalog.pricing import Pricing, price_run
from app.catalog.rates import convert_rate
from app.catalog.service import find_offer
from app.catalog.terms import terms_document
from app.errors import Conflict, InvalidInput, NotFound
from app.estimator import ESTIMATOR_VERSION
from app.evidence.service import spot_histories
from app.fields import field_errors
from app.i18n import Message
from app.money import LARGEST_AMOUNT, format_unit_price, round_to_micro
from app.planning.estimates import kept_answer
from app.planning.inputs import (
    HOURS_A_WEEK,
    LONGEST_PLANNED_HOURS,
    EstimateInput,
    EstimatePriceInput,
    PlanInput,
    PlanPatch,
)
from app.planning.models import Plan
from app.planning.offer_terms import price_of_offer, spot_of_offer
from app.planning.versions import Reason, keep_version
from app.projects.ledger import lock_project, post_reservation, remove_reservation
from app.projects.models import Project
from app.projects.schedule import Schedule
from app.time import microseconds_of_hours
from app.versions import Precondition


def live_plans(project: Project) -> Any:
    """The select of a project's plans, to be narrowed or paged."""
    return select(Plan).where(
        col(Plan.team_id) == project.team_id,
        col(Plan.project_id) == project.id,
        col(Plan.deleted_at).is_(None),
    )


def list_plans(session: Session, project: Project) -> Sequence[Plan]:
    """The project's plans, the baseline first, then the newest."""
    plans: Sequence[Plan] = session.exec(
        live_plans(project).order_by(col(Plan.is_baseline).desc(), col(Plan.id).desc())
    ).all()
    return plans


def get_plan(session: Session, project: Project, plan_id: int) -> Plan:
    """The project's plan. Raises NotFound."""
    plan: Plan | None = session.exec(live_plans(project).where(col(Plan.id) == plan_id)).first()
    if plan is None:
        raise NotFound
    return plan


def find_baseline(session: Session, project: Project) -> Plan | None:
    """The plan that the projection follows."""
    plan: Plan | None = session.exec(live_plans(project).where(col(Plan.is_baseline).is_(True))).first()
    return plan


def schedule_of(plan: Plan) -> Schedule | None:
    """The plan's cost over days; None for a plan without planned hours or a price."""
    if plan.planned_hours is None or plan.planned_cost is None:
        return None
    return Schedule(plan.starts_on, plan.planned_hours, plan.hours_per_week, plan.planned_cost)


def create_plan(session: Session, actor: Actor, project: Project, wanted: PlanInput) -> Plan:
    """A new plan with its estimate as it is now. Raises InvalidInput."""
    actor.require("editor")
    fields = _fields(session, actor, project, wanted)
    plan = Plan(
        team_id=project.team_id,
        project_id=project.id or 0,
        created_at=actor.clock(),
        created_by=actor.name,
        **fields,
    )
    session.add(plan)
    session.flush()
    keep_version(session, actor, plan, "created")
    record_event(session, actor, "created", "plan", plan.id or 0, name=plan.name)
    return plan


def update_plan(
    session: Session, actor: Actor, project: Project, plan: Plan, patch: PlanPatch, precondition: Precondition
) -> Plan:
    """Changes what the patch names and estimates anew; what an approved plan reserves follows it."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(plan)
    return replace_plan(session, actor, project, plan, _merged(plan, patch), precondition)


def replace_plan(
    session: Session,
    actor: Actor,
    project: Project,
    plan: Plan,
    wanted: PlanInput,
    precondition: Precondition,
    reason: Reason = "changed",
) -> Plan:
    """The plan as wanted, estimated anew; what an approved plan reserves follows it, and the earlier version stays."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(plan)
    fields = _fields(session, actor, project, wanted)
    if plan.approved_at is not None and fields["planned_cost"] is None:
        raise InvalidInput.at("planned_hours", Message("An approved plan needs planned hours and a price."))
    precondition.check(plan.version)
    changed = sorted(name for name, value in fields.items() if getattr(plan, name) != value)
    for name in changed:
        setattr(plan, name, fields[name])
    plan.version += 1
    if plan.approved_at is not None:
        remove_reservation(session, project, plan.id or 0)
        _reserve(session, actor, project, plan)
    session.add(plan)
    keep_version(session, actor, plan, reason)
    record_event(session, actor, reason, "plan", plan.id or 0, fields=changed)
    session.flush()
    return plan


def reprice_plan(
    session: Session, actor: Actor, project: Project, plan: Plan, precondition: Precondition
) -> Plan:
    """The plan at its offer's price of now, by the estimator of now; the earlier version stays beside it.

    A price that was entered for the plan itself stays. Raises InvalidInput where the offer is gone or has no price.
    """
    actor.require("editor")
    lock_project(session, project)
    session.refresh(plan)
    document = _document(plan)
    if plan.offer_id is not None and not _has_own_price(plan):
        document.pop("price", None)
    return replace_plan(session, actor, project, plan, _read_plan(document), precondition, "re-priced")


def _has_own_price(plan: Plan) -> bool:
    """Whether the plan's price is not what its offer cost then, for the instances that the job takes."""
    offer = plan.offer or {}
    listed, count = offer.get("price_per_hour"), offer.get("gpu_count")
    if plan.price_per_hour is None or listed is None or not count:
        return plan.price_per_hour is not None
    instances = max(1, -int(-float(plan.request.get("gpu_count", count)) / float(count) // 1))
    taken_off = Decimal(offer.get("discount_percent") or 0) / 100
    asked = round_to_micro(Decimal(listed["amount"]) * (1 - taken_off)) * instances
    return plan.price_per_hour != asked or plan.currency != listed["currency"]


def delete_plan(
    session: Session, actor: Actor, project: Project, plan: Plan, precondition: Precondition
) -> None:
    """Hides the plan and frees what it reserved."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(plan)
    precondition.check(plan.version)
    plan.deleted_at = actor.clock()
    plan.is_baseline = False
    plan.version += 1
    remove_reservation(session, project, plan.id or 0)
    record_event(session, actor, "deleted", "plan", plan.id or 0, name=plan.name)
    session.flush()


def make_baseline(session: Session, actor: Actor, project: Project, plan: Plan) -> Plan:
    """The projection follows this plan from now on."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(plan)
    if plan.is_baseline:
        return plan
    earlier = find_baseline(session, project)
    if earlier is not None:
        earlier.is_baseline = False
        earlier.version += 1
        session.add(earlier)
        # The index allows one baseline, so the earlier one steps down first.
        session.flush()
    plan.is_baseline = True
    plan.version += 1
    session.add(plan)
    record_event(session, actor, "made baseline", "plan", plan.id or 0, name=plan.name)
    session.flush()
    return plan


def approve_plan(session: Session, actor: Actor, project: Project, plan: Plan) -> Plan:
    """Sets the plan's cost aside. Raises Conflict when it has none, or a blocking budget has not so much free."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(plan)
    if plan.approved_at is not None:
        return plan
    _reserve(session, actor, project, plan)
    plan.approved_at = actor.clock()
    plan.approved_by = actor.name
    plan.version += 1
    session.add(plan)
    record_event(
        session, actor, "approved", "plan", plan.id or 0, name=plan.name, cost=str(plan.planned_cost)
    )
    session.flush()
    return plan


def _reserve(session: Session, actor: Actor, project: Project, plan: Plan) -> None:
    schedule = schedule_of(plan)
    if schedule is None:
        raise Conflict(
            Message("A plan without planned hours and a price cannot be approved."), "plan-without-cost"
        )
    post_reservation(session, project, plan.id or 0, schedule, actor.today)


def _document(plan: Plan) -> dict[str, Any]:
    """The plan as the body that would create it."""
    document: dict[str, Any] = {**plan.request, "name": plan.name, "offer_id": plan.offer_id}
    return document | {"starts_on": plan.starts_on.isoformat(), "hours_per_week": plan.hours_per_week}


def _merged(plan: Plan, patch: PlanPatch) -> PlanInput:
    changes = patch.model_dump(mode="json", exclude_unset=True)
    document = _document(plan)
    if changes.get("offer_id") is not None and changes["offer_id"] != plan.offer_id:
        # Another offer brings its own GPU and price.
        for name in ("gpu", "gpu_count", "price"):
            if name not in changes:
                document.pop(name, None)
    return _read_plan(document | changes)


def _read_plan(document: dict[str, Any]) -> PlanInput:
    try:
        return PlanInput.model_validate(document)
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


@dataclass(frozen=True, slots=True)
class _PlannedCost:
    amount: Decimal | None = None
    rate: Decimal | None = None
    day: date | None = None
    source: str | None = None


def _fields(session: Session, actor: Actor, project: Project, wanted: PlanInput) -> dict[str, Any]:
    offer = find_plan_offer(session, actor, wanted)
    body = estimate_body(session, actor, wanted, offer)
    result = kept_answer(body, actor.language)
    starts_on = wanted.starts_on or actor.today
    hours = wanted.planned_hours or result["time"]["hours"]
    cost = _planned_cost(session, project, body.price, hours, min(starts_on, actor.today))
    request = body.model_dump(mode="json", exclude_none=True)
    if wanted.planned_hours is not None:
        request["planned_hours"] = wanted.planned_hours
    return {
        "name": wanted.name,
        "request": request,
        "result": result,
        "estimator_version": ESTIMATOR_VERSION,
        "offer_id": wanted.offer_id,
        "offer": None if offer is None else _snapshot(offer, starts_on),
        "price_per_hour": body.price and body.price.per_hour,
        "currency": body.price and body.price.currency,
        "billing": body.price and body.price.billing,
        "exchange_rate": cost.rate,
        "exchange_rate_day": cost.day,
        "exchange_rate_source": cost.source,
        "starts_on": starts_on,
        "hours_per_week": wanted.hours_per_week or float(HOURS_A_WEEK),
        "planned_hours": hours,
        "planned_cost": cost.amount,
    }


def find_plan_offer(session: Session, actor: Actor, wanted: PlanInput) -> Offer | None:
    """The offer that the plan names. Raises InvalidInput for one that is not there or does not match."""
    if wanted.offer_id is None:
        return None
    offer = find_offer(session, actor.team_id, wanted.offer_id)
    if offer is None:
        raise InvalidInput.at("offer_id", Message("There is no such offer."))
    if offer.price_per_hour is None and wanted.price is None:
        raise InvalidInput.at("offer_id", Message("This offer has no price; give one."))
    if wanted.gpu is not None and wanted.gpu != offer.gpu:
        raise InvalidInput.at("gpu", Message("The offer has another GPU."))
    return offer


def estimate_body(session: Session, actor: Actor, wanted: PlanInput, offer: Offer | None) -> EstimateInput:
    """The estimate's part of a plan, with the offer's GPU, count and price where the plan names none."""
    values = {name: getattr(wanted, name) for name in EstimateInput.model_fields}
    if offer is not None:
        count = float(offer.gpu_count)
        values["gpu"] = offer.gpu
        if wanted.data_region is not None and offer.region:
            values["region"] = wanted.region or offer.region
        values["gpu_count"] = wanted.gpu_count or count
        # A job on several instances pays for each, also for one it fills in part.
        instances = max(1, -int(-values["gpu_count"] / count // 1))
        if wanted.price is None:
            histories = spot_histories(session, actor.team_id)
            values["price"] = price_of_offer(offer, wanted.starts_on or actor.today, instances)
            values["spot"] = spot_of_offer(wanted.spot, offer, instances, histories)
    return EstimateInput.model_construct(**values)


def _planned_cost(
    session: Session, project: Project, price: EstimatePriceInput | None, hours: float | None, day: date
) -> _PlannedCost:
    """Hours × price, in the project's currency at the rate of the day."""
    if price is None or hours is None:
        return _PlannedCost()
    if hours > LONGEST_PLANNED_HOURS:
        raise InvalidInput.at("workload", Message("This job would take longer than a hundred years."))
    amount = price_run(Pricing(price.per_hour), microseconds_of_hours(hours), 1)
    if price.currency == project.currency:
        return _PlannedCost(_storable(amount))
    try:
        found = convert_rate(session, project.team_id, price.currency, project.currency, day)
    except InvalidInput as error:
        message = Message(
            "There is no exchange rate of the last seven days for this price; "
            "enter one under Catalogue, Exchange rates."
        )
        raise InvalidInput.at("price.currency", message) from error
    return _PlannedCost(_storable(round_to_micro(amount * found.rate)), found.rate, found.day, found.source)


def _storable(amount: Decimal) -> Decimal:
    if amount > LARGEST_AMOUNT:
        raise InvalidInput.at("price.per_hour", Message("This amount is too large."))
    return amount


def _snapshot(offer: Offer, day: date) -> dict[str, Any]:
    """The offer as it is now, in plain values, with the discount of the day."""
    return {
        "id": offer.id,
        "provider": offer.provider,
        "instance_type": offer.instance_type,
        "gpu": offer.gpu,
        "gpu_count": float(offer.gpu_count),
        "region": offer.region,
        "billing": offer.billing,
        "price_per_hour": None
        if offer.price_per_hour is None
        else {"amount": format_unit_price(offer.price_per_hour, offer.currency), "currency": offer.currency},
        "discount_percent": (terms_document(offer, day) or {}).get("discount_percent"),
        "as_of": None if offer.as_of is None else offer.as_of.isoformat(),
        "source": offer.source,
    }
