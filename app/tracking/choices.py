"""What the forms of runs and charges offer to choose from, and what a new run most likely is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session, col

from app.accounts.access import Actor
from app.catalog.gpus import Gpu, list_gpus
from app.catalog.models import Offer
from app.catalog.service import list_offers
from app.money import CURRENCIES, format_unit_price
from app.planning.models import Plan
from app.planning.service import list_plans
from app.projects.models import Project
from app.tracking.models import Run
from app.tracking.runs import live_runs

_LAST_NUMBER = re.compile(r"\d{1,9}$")


@dataclass(frozen=True, slots=True)
class Choices:
    """The lists of the forms."""

    offers: Sequence[Offer]
    plans: Sequence[Plan]
    gpus: Sequence[Gpu]
    currencies: Sequence[str]


def list_choices(session: Session, actor: Actor, project: Project) -> Choices:
    """Offers with a price, the team's own first; the project's plans; every GPU and currency."""
    priced = [offer for offer in list_offers(session, actor.team_id) if offer.price_per_hour is not None]
    offers = sorted(priced, key=lambda one: (one.team_id is None, one.gpu, one.instance_type, one.billing))
    return Choices(offers, list_plans(session, project), list_gpus(), sorted(CURRENCIES))


def likely_run(session: Session, project: Project, choices: Choices) -> dict[str, str]:
    """What the form of a new run begins with: the last run's instance and price, else the baseline's."""
    last = session.exec(
        live_runs(project).order_by(col(Run.started_at).desc(), col(Run.id).desc()).limit(1)
    ).first()
    baseline = next((plan for plan in choices.plans if plan.is_baseline), None)
    values = {"price_per_hour.currency": project.currency, "name": "sft-1"}
    if last is not None:
        values |= _after(last) | _priced(choices, last)
    elif baseline is not None:
        values |= _priced(choices, baseline)
    if baseline is not None:
        values["plan_id"] = str(baseline.id)
    return values


def _priced(choices: Choices, before: Run | Plan) -> dict[str, str]:
    """An offer that still stands brings its price, GPU and billing of today; otherwise all is said as it was."""
    if any(offer.id == before.offer_id for offer in choices.offers):
        return {"offer_id": str(before.offer_id)}
    if before.price_per_hour is None or before.currency is None:
        return {}
    values = {
        "price_per_hour.amount": format_unit_price(before.price_per_hour, before.currency),
        "price_per_hour.currency": before.currency,
        "billing": before.billing or "on_demand",
    }
    if isinstance(before, Run):
        values |= {"gpu": before.gpu or "", "gpus_per_instance": f"{before.gpus_per_instance:f}"}
    return values


def _after(last: Run) -> dict[str, str]:
    values = {
        "name": _next_name(last.name),
        "instance": last.instance,
        "instance_count": str(last.instance_count),
        "steps_started": "" if last.steps_done is None else str(last.steps_done),
        "steps_total": "" if last.steps_total is None else str(last.steps_total),
    }
    return values if last.plan_id is None else values | {"plan_id": str(last.plan_id)}


def _next_name(name: str) -> str:
    """``sft-9`` is followed by ``sft-10``; a name without a number by itself."""
    return _LAST_NUMBER.sub(lambda number: str(int(number[0]) + 1).zfill(len(number[0])), name)
