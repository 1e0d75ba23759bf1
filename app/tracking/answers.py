"""Runs and charges as the JSON API answers them."""

from datetime import date
from decimal import Decimal
from typing import Literal

from app.api.answers import Answer, InstantAnswer, MoneyAnswer
from app.catalog.answers import TierAnswer
from app.projects.models import Project
from app.time import hours_of
from app.tracking.charge_fields import terms_of
from app.tracking.models import Charge, Run
from app.tracking.run_fields import cost_in_project, run_time

# What deserves a second look.
RunFlag = Literal["overlap", "over_budget"]
ChargeFlag = Literal["over_budget"]


class ExchangeRateAnswer(Answer):
    """The rate that stays with a record, as a request gives one."""

    rate: str
    date: date


class PriceTermsAnswer(Answer):
    """What the run's offer said beside its price when the run was logged, as the offer has it."""

    billing_minimum_minutes: int | None = None
    billing_granularity_minutes: int | None = None
    tiers: list[TierAnswer] | None = None
    discount_percent: str | None = None


class RunAnswer(Answer):
    """A run. ``hours`` is wall-clock; ``cost`` is what is owed, in the price's currency; ``flags`` are among
    ``overlap`` and ``over_budget``.
    """

    id: int
    project_id: int
    name: str
    external_id: str | None
    plan_id: int | None
    offer_id: int | None
    instance: str
    instance_count: int
    gpu: str | None
    gpus_per_instance: float
    billing: str
    price_per_hour: MoneyAnswer
    price_terms: PriceTermsAnswer | None
    exchange_rate: ExchangeRateAnswer | None
    exchange_rate_source: str | None
    started_at: InstantAnswer
    ended_at: InstantAnswer | None
    state: str
    hours: float
    instance_hours: float
    gpu_hours: float
    cost: MoneyAnswer
    cost_in_project_currency: MoneyAnswer
    interruptions: int
    lost_hours: float
    steps_started: int | None
    steps_done: int | None
    steps_total: int | None
    peak_memory_bytes: int | None
    tokens_per_second: float | None
    out_of_memory: bool
    note: str
    flags: list[RunFlag]
    version: int


class ChargeAnswer(Answer):
    """A charge. ``flags`` can be ``over_budget``."""

    id: int
    project_id: int
    category: str
    service: str
    amount: MoneyAnswer
    list_amount: MoneyAnswer
    amount_in_project_currency: MoneyAnswer
    exchange_rate: ExchangeRateAnswer | None
    exchange_rate_source: str | None
    period_start: InstantAnswer
    period_end: InstantAnswer
    external_id: str | None
    voucher_id: int | None
    note: str
    flags: list[ChargeFlag]
    version: int


_SAME_IN_RUN = (
    "name",
    "external_id",
    "plan_id",
    "offer_id",
    "instance",
    "instance_count",
    "gpu",
    "billing",
    "started_at",
    "ended_at",
    "state",
    "interruptions",
    "lost_hours",
    "steps_started",
    "steps_done",
    "steps_total",
    "peak_memory_bytes",
    "tokens_per_second",
    "out_of_memory",
    "note",
    "exchange_rate_source",
    "project_id",
    "version",
)


def run_hours(run: Run) -> float:
    """Wall-clock hours; 0 while the run has no end."""
    return run_time(run).hours


def run_flags(run: Run, *, overlaps: bool) -> list[RunFlag]:
    """``overlap``: another run on its instance shares its time; ``over_budget``: it took spend past the budget."""
    flags: list[RunFlag] = ["overlap"] if overlaps else []
    return [*flags, "over_budget"] if run.over_budget else flags


def charge_flags(charge: Charge) -> list[ChargeFlag]:
    """``over_budget``: it took spend past the budget."""
    return ["over_budget"] if charge.over_budget else []


def run_answer(run: Run, project: Project, *, overlaps: bool) -> RunAnswer:
    """The run's answer."""
    time = run_time(run)
    return RunAnswer(
        id=run.id or 0,
        gpus_per_instance=float(run.gpus_per_instance),
        price_per_hour=MoneyAnswer.of_price(run.price_per_hour, run.currency),
        price_terms=None if run.price_terms is None else PriceTermsAnswer.model_validate(run.price_terms),
        exchange_rate=_rate(run.exchange_rate, run.exchange_rate_day),
        hours=time.hours,
        instance_hours=hours_of(time.instance_us),
        gpu_hours=hours_of(time.gpu_us),
        cost=MoneyAnswer.of(run.cost, run.currency),
        cost_in_project_currency=MoneyAnswer.of(cost_in_project(run), project.currency),
        flags=run_flags(run, overlaps=overlaps),
        **{name: getattr(run, name) for name in _SAME_IN_RUN},
    )


def charge_answer(charge: Charge, project: Project, voucher_id: int | None) -> ChargeAnswer:
    """The charge's answer, with the voucher that it names."""
    return ChargeAnswer(
        id=charge.id or 0,
        project_id=charge.project_id,
        category=charge.category,
        service=charge.service,
        amount=MoneyAnswer.of(charge.amount, charge.currency),
        list_amount=MoneyAnswer.of(charge.list_amount, charge.currency),
        amount_in_project_currency=MoneyAnswer.of(terms_of(charge).cost, project.currency),
        exchange_rate=_rate(charge.exchange_rate, charge.exchange_rate_day),
        exchange_rate_source=charge.exchange_rate_source,
        period_start=charge.period_start,
        period_end=charge.period_end,
        external_id=charge.external_id,
        voucher_id=voucher_id,
        note=charge.note,
        flags=charge_flags(charge),
        version=charge.version,
    )


def _rate(rate: Decimal | None, day: date | None) -> ExchangeRateAnswer | None:
    if rate is None or day is None:
        return None
    return ExchangeRateAnswer(rate=f"{rate:f}", date=day)
