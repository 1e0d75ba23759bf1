"""What the project page shows of runs and charges."""

from dataclasses import dataclass, field
from typing import Any

from sqlmodel import Session

from app.accounts.access import Actor
from app.catalog.models import Offer
from app.catalog.service import list_offers
from app.money import format_unit_price
from app.planning.models import Plan
from app.planning.service import list_plans
from app.projects.models import Project
from app.tracking.answers import run_flags, run_hours
from app.tracking.charges import list_charges
from app.tracking.models import Charge, Run
from app.tracking.runs import count_runs, list_newest_runs, overlapping_ids
from app.web.forms import Form

RUNS_A_PAGE = 50
CHARGES_SHOWN = 200


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the table shows it."""

    run: Run
    hours: float
    flags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RunsSection:
    """A page of the project's runs, newest first."""

    rows: list[RunRow]
    count: int
    page: int

    @property
    def next_page(self) -> int | None:
        """The number of the next page."""
        return self.page + 1 if self.page * RUNS_A_PAGE < self.count else None


def runs_section(session: Session, project: Project, page: int = 1) -> RunsSection:
    """The page's runs; a page past the last one is empty."""
    runs = list_newest_runs(session, project, RUNS_A_PAGE, (page - 1) * RUNS_A_PAGE)
    overlapping = overlapping_ids(session, runs)
    rows = [RunRow(run, run_hours(run), run_flags(run, overlaps=run.id in overlapping)) for run in runs]
    return RunsSection(rows, count_runs(session, project), page)


def charges_section(session: Session, project: Project) -> list[Charge]:
    """The newest charges."""
    return list(list_charges(session, project, CHARGES_SHOWN))


def run_form(actor: Actor, plan: Plan | None, last: Run | None) -> Form:
    """An empty form, filled with what the last run or the baseline has."""
    values: dict[str, Any] = {"name": "", "instance_count": 1, "state": ""}
    if last is not None:
        values |= _values_of_price(last)
        values |= {
            "instance": last.instance,
            "instance_count": last.instance_count,
            "plan_id": last.plan_id or "",
        }
        values |= {"offer_id": last.offer_id or "", "steps_started": _shown(last.steps_done)}
        values["steps_total"] = _shown(last.steps_total)
        values["name"] = _next_name(last.name)
    elif plan is not None:
        values |= {"plan_id": plan.id, "offer_id": plan.offer_id or ""}
        if plan.price_per_hour is not None and plan.currency is not None:
            values["price_per_hour.amount"] = format_unit_price(plan.price_per_hour, plan.currency)
            values["price_per_hour.currency"] = plan.currency
            values["billing"] = plan.billing
    values.setdefault("price_per_hour.currency", actor.team.currency)
    return Form(values)


def run_values(run: Run, actor: Actor) -> dict[str, Any]:
    """The form of a run as it is."""
    values = {
        name: _shown(getattr(run, name))
        for name in (
            "name", "instance", "instance_count", "plan_id", "offer_id", "gpu", "state", "interruptions", "lost_hours",
            "steps_started", "steps_done", "steps_total", "tokens_per_second", "note", "version", "external_id",
            "peak_memory_bytes",
        )
    }  # fmt: skip
    values |= _values_of_price(run)
    values["gpus_per_instance"] = f"{run.gpus_per_instance:f}"
    values["out_of_memory"] = run.out_of_memory
    values["started_at"] = f"{run.started_at.astimezone(actor.zone):%Y-%m-%dT%H:%M}"
    values["ended_at"] = (
        "" if run.ended_at is None else f"{run.ended_at.astimezone(actor.zone):%Y-%m-%dT%H:%M}"
    )
    return values


def charge_values(charge: Charge, actor: Actor) -> dict[str, Any]:
    """The form of a charge as it is."""
    return {
        "category": charge.category,
        "service": charge.service,
        "amount.amount": format_unit_price(charge.amount, charge.currency),
        "amount.currency": charge.currency,
        "period_start": f"{charge.period_start.astimezone(actor.zone):%Y-%m-%dT%H:%M}",
        "period_end": f"{charge.period_end.astimezone(actor.zone):%Y-%m-%dT%H:%M}",
        "note": charge.note,
        "version": charge.version,
    }


def run_form_choices(session: Session, actor: Actor, project: Project) -> dict[str, Any]:
    """The plans and the team's own offers to choose from, the packaged ones after them."""
    offers = [offer for offer in list_offers(session, actor.team_id) if offer.price_per_hour is not None]
    own_first = sorted(offers, key=lambda offer: offer.team_id is None)
    return {
        "plan_options": [("", "–"), *((plan.id, plan.name) for plan in list_plans(session, project))],
        "offer_options": [("", "–"), *((offer.id, offer_label(offer)) for offer in own_first)],
    }


def offer_label(offer: Offer) -> str:
    """One line that tells an offer from the others."""
    price = "" if offer.price_per_hour is None else format_unit_price(offer.price_per_hour, offer.currency)
    count = (
        f"{offer.gpu_count:f}".rstrip("0").rstrip(".")
        if "." in f"{offer.gpu_count:f}"
        else f"{offer.gpu_count}"
    )
    parts = (offer.provider, offer.instance_type, f"{offer.gpu}×{count}", offer.region, offer.billing)
    return " · ".join(part for part in parts if part) + f" · {offer.currency} {price}/h"


def _values_of_price(run: Run) -> dict[str, Any]:
    return {
        "price_per_hour.amount": format_unit_price(run.price_per_hour, run.currency),
        "price_per_hour.currency": run.currency,
        "billing": run.billing,
    }


def _shown(value: object) -> object:
    return "" if value is None else value


def _next_name(name: str) -> str:
    """``sft-12`` after ``sft-11``."""
    stem, _, number = name.rpartition("-")
    return f"{stem}-{int(number) + 1}" if stem and number.isdecimal() else ""
