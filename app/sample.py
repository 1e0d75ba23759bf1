"""The sample project: four students fine-tune LLaMA-7B for Chinese question answering.

It goes through the same services as everything a team does itself, so its figures are the product's own.
"""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.catalog.inputs import OfferInput
from app.catalog.models import Offer
from app.catalog.rates import ENTERED_BY_TEAM
from app.catalog.service import create_offer
from app.fields import PriceInput
from app.planning.inputs import PlanInput
from app.planning.models import Plan
from app.planning.service import approve_plan, create_plan, make_baseline
from app.projects.inputs import BudgetInput, ProjectInput
from app.projects.models import Project
from app.projects.service import create_project
from app.tracking.charges import log_charge
from app.tracking.inputs import ChargeInput, ChargeMoney, RunInput
from app.tracking.runs import log_run

NAME = "LLaMA-7B 中文问答"
CURRENCY = "CNY"
PRICE = Decimal("3.20")
STEPS_TOTAL = 146_485
STEPS_DONE = 108_900
TOTAL_HOURS = Decimal("60.0")
PEAK_BYTES = 14_300_000_000

# Week, weekday, local hour, hours, hours lost to the provider. 14.5, 18.0, 15.5 and 12.0 hours in four weeks.
RUNS: tuple[tuple[int, int, int, str, str], ...] = (
    (0, 0, 9, "5.0", "0"),
    (0, 2, 19, "5.5", "0"),
    (0, 5, 13, "4.0", "0"),
    (1, 0, 20, "6.0", "0.6"),
    (1, 2, 9, "5.0", "0"),
    (1, 4, 18, "7.0", "0"),
    (2, 1, 9, "5.5", "0"),
    (2, 3, 20, "4.0", "0.4"),
    (2, 5, 10, "6.0", "0"),
    (3, 0, 10, "4.0", "0"),
    (3, 2, 20, "4.0", "0"),
    (3, 5, 9, "4.0", "0"),
)

_RECIPE: dict[str, Any] = {
    "model": "llama-7b",
    "precision": "bf16-mixed",
    "optimizer": "adamw",
    "micro_batch_size": 1,
    "gradient_accumulation_steps": 4,
    "sequence_length": 512,
    "gradient_checkpointing": True,
    "attention": "sdpa",
    "workload": {"train_tokens": 300_000_000},
    "spot": {
        "interruptions_per_hour": 0.03,
        "checkpoint_interval_minutes": 30.0,
        "checkpoint_seconds": 20.0,
        "restart_minutes": 10.0,
    },
}


def load_sample(session: Session, actor: Actor, today: date | None = None) -> Project:
    """The team's sample project, made if it is not there: a second call changes nothing.

    ``today`` stands in for today in the team's zone. The project starts on the Monday four weeks before its week.
    """
    existing = _find(session, actor)
    if existing is not None:
        return existing
    day = today or actor.today
    monday = day - timedelta(days=day.weekday(), weeks=4)
    project = create_project(session, actor, _project_input(monday))
    plan = _plans(session, actor, project, _offer(session, actor, monday), monday)
    _runs(session, actor, project, plan, monday)
    _charges(session, actor, project, monday)
    session.flush()
    return project


def _find(session: Session, actor: Actor) -> Project | None:
    statement = select(Project).where(
        col(Project.team_id) == actor.team_id, col(Project.name) == NAME, col(Project.deleted_at).is_(None)
    )
    return session.exec(statement).first()


def _project_input(monday: date) -> ProjectInput:
    budget = BudgetInput(amount=Decimal(500), period="total", starts_on=monday)
    return ProjectInput(
        name=NAME,
        goal="四名同学用 LoRA 微调 LLaMA-7B，做中文问答。",
        currency=CURRENCY,
        target=Decimal(300),
        budget=budget,
    )


def _offer(session: Session, actor: Actor, monday: date) -> Offer:
    return create_offer(
        session,
        actor,
        OfferInput(
            provider="tencent",
            instance_type="PNV4.7XLARGE116",
            gpu="a10",
            gpu_count=1,
            billing="spot",
            price_per_hour=PriceInput(amount=PRICE, currency=CURRENCY),
            as_of=monday,
            source=ENTERED_BY_TEAM,
        ),
    )


def _plans(session: Session, actor: Actor, project: Project, offer: Offer, monday: date) -> Plan:
    """The baseline, and beside it what the story is silent on: full fine-tuning does not fit."""
    shared = {
        **_RECIPE,
        "offer_id": offer.id,
        "starts_on": monday,
        "hours_per_week": 16.0,
        "planned_hours": 80.0,
    }
    full = {**shared, "name": "全参数微调", "method": "full"}
    create_plan(session, actor, project, PlanInput.model_validate(full))
    lora = {"rank": 8, "target_modules": ["q_proj", "v_proj"]}
    chosen = {**shared, "name": "LoRA r=8", "method": "lora", "lora": lora, "budget": "300.00"}
    plan = create_plan(session, actor, project, PlanInput.model_validate(chosen))
    make_baseline(session, actor, project, plan)
    return approve_plan(session, actor, project, plan)


def _runs(session: Session, actor: Actor, project: Project, plan: Plan, monday: date) -> None:
    hours_before = Decimal(0)
    for number, (week, weekday, hour, hours, lost) in enumerate(RUNS, start=1):
        started_at = datetime.combine(
            monday + timedelta(weeks=week, days=weekday), time(hour), tzinfo=actor.zone
        )
        hours_after = hours_before + Decimal(hours)
        run = RunInput(
            name=f"sft-{number}",
            plan_id=plan.id,
            offer_id=plan.offer_id,
            instance="ins-a10",
            started_at=started_at,
            hours=float(hours),
            state="interrupted" if lost != "0" else "finished",
            interruptions=1 if lost != "0" else 0,
            lost_hours=float(lost),
            steps_started=_steps(hours_before),
            steps_done=_steps(hours_after),
            steps_total=STEPS_TOTAL,
            peak_memory_bytes=PEAK_BYTES,
            note="竞价实例被回收，从检查点继续" if lost != "0" else "",
        )
        log_run(session, actor, project, run)
        hours_before = hours_after


def _steps(hours: Decimal) -> int:
    return int(STEPS_DONE * hours / TOTAL_HOURS)


def _charges(session: Session, actor: Actor, project: Project, monday: date) -> None:
    """Object storage on the internal network, and a voucher."""
    start = datetime.combine(monday, time(0), tzinfo=actor.zone)
    charges = (
        ("usage", "storage", "6.40", start, start + timedelta(weeks=4), "对象存储（内网）"),
        ("credit", "compute", "-10.00", start + timedelta(weeks=3), start + timedelta(weeks=3), "学生代金券"),
    )
    for category, service, amount, begins, ends, note in charges:
        log_charge(
            session,
            actor,
            project,
            ChargeInput(
                category=category,  # type: ignore[arg-type]
                service=service,  # type: ignore[arg-type]
                amount=ChargeMoney(amount=Decimal(amount), currency=CURRENCY),
                period_start=begins,
                period_end=ends,
                note=note,
            ),
        )
