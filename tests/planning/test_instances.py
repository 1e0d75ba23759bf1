"""Other instances for the same job: what they promise is what a plan on them says."""

from decimal import Decimal
from typing import Any

import pytest

from app.accounts.access import Actor
from app.db import Database
from app.planning.estimates import answer_for, read_estimate_input
from app.planning.inputs import EstimateInput, PlanInput
from app.planning.instances import OtherInstance, other_instances
from app.planning.service import estimate_body, find_plan_offer

JOB: dict[str, Any] = {
    "model": "llama-7b", "method": "lora", "gradient_checkpointing": True, "gradient_accumulation_steps": 4,
    "sequence_length": 512, "gpu": "a10", "workload": {"samples": 5000, "epochs": 3},
    "price": {"per_hour": "9.53", "currency": "CNY"},
}  # fmt: skip


def found(database: Database, owner: Actor, body: dict[str, Any]) -> tuple[dict[str, Any], list[OtherInstance]]:
    wanted: EstimateInput = read_estimate_input(body)
    result = answer_for(wanted, "en")
    with database.read() as session:
        return result, other_instances(session, owner, wanted, result, None)


@pytest.mark.parametrize(
    "changes",
    [{}, {"method": "full"}, {"gpu_count": 2, "parallelism": "ddp"}, {"spot": {"interruptions_per_hour": 0.1}}],
)
def test_a_plan_on_another_instance_has_the_promised_figures(
    database: Database, owner: Actor, changes: dict[str, Any]
) -> None:
    before, others = found(database, owner, JOB | changes)
    assert others
    for other in others:
        body = {name: value for name, value in (JOB | changes | {"name": "x"}).items() if name not in other.change}
        wanted = PlanInput.model_validate(body | {name: value for name, value in other.change.items() if value})
        with database.read() as session:
            offer = find_plan_offer(session, owner, wanted)
            after = answer_for(estimate_body(session, owner, wanted, offer), "en")
        assert after["memory"]["fits"]
        assert after["time"]["hours"] == other.hours
        assert Decimal(after["cost"]["amount"]) == other.amount
        if other.saves_cost is not None:
            assert Decimal(before["cost"]["amount"]) - Decimal(after["cost"]["amount"]) == other.saves_cost


def test_a_job_that_fits_is_shown_cheaper_instances_only(database: Database, owner: Actor) -> None:
    _, others = found(database, owner, JOB)
    assert all(one.saves_cost is not None and one.saves_cost > 0 for one in others)
    amounts = [one.amount for one in others]
    assert amounts == sorted(amounts, key=lambda amount: amount or 0)


def test_a_job_that_does_not_fit_is_shown_where_it_does(database: Database, owner: Actor) -> None:
    before, others = found(database, owner, JOB | {"method": "full", "optimizer": "adamw_8bit", "precision": "bf16"})
    assert before["memory"]["fits"] is False
    assert others
