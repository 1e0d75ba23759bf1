"""Make it fit, make it cheaper: what a change promises is what applying it gives."""

from decimal import Decimal
from random import Random
from typing import Any

import pytest

from app.planning.estimates import answer_for, read_estimate_input

MODELS = ("llama-7b", "qwen2.5-0.5b", "qwen2.5-7b", "gpt2", "mistral-7b-v0.1")


def estimate(body: dict[str, Any]) -> dict[str, Any]:
    return answer_for(read_estimate_input(body), "en")


def random_body(seed: int) -> dict[str, Any]:
    choose = Random(seed)
    body: dict[str, Any] = {
        "model": choose.choice(MODELS),
        "method": choose.choice(["lora", "qlora", "full"]),
        "micro_batch_size": choose.choice([1, 2, 3, 8]),
        "gradient_accumulation_steps": choose.choice([1, 4, 16]),
        "sequence_length": choose.choice([256, 512, 1024]),
        "gradient_checkpointing": choose.choice([True, False]),
        "attention": choose.choice(["sdpa", "eager"]),
        "gpu": choose.choice(["a10", "t4", "rtx-4090", "a100-sxm-80"]),
        "gpu_count": choose.choice([1, 2]),
        "parallelism": choose.choice(["ddp", "zero2"]),
        "workload": {"samples": choose.randint(100, 50_000), "epochs": 3},
        "price": {"per_hour": choose.choice(["3.20", "0.4125"]), "currency": "CNY", "billing": "spot"},
        "spot": {"interruptions_per_hour": choose.choice([0.0, 0.05])},
    }
    return body


@pytest.mark.parametrize("seed", range(50))
def test_a_promised_change_gives_exactly_its_figures(seed: int) -> None:
    body = random_body(seed)
    before = estimate(body)
    changes = before["fixes"] + before["savings"]
    assert bool(before["fixes"]) == (before["memory"]["fits"] is False)
    for change in changes:
        after = estimate(body | change["change"])
        assert before["memory"]["required_bytes"] - after["memory"]["required_bytes"] == change["saves_bytes"]
        assert after["time"]["hours"] - before["time"]["hours"] == change["adds_hours"]
        saved = Decimal(before["cost"]["amount"]) - Decimal(after["cost"]["amount"])
        assert saved == Decimal(change["saves_cost"])
    for change in before["savings"]:
        assert Decimal(change["saves_cost"]) > 0
        assert estimate(body | change["change"])["memory"]["fits"]


def test_a_pair_is_offered_where_no_single_change_is_enough() -> None:
    body = {
        "model": "llama-7b", "method": "full", "sequence_length": 2048, "gpu": "a10", "micro_batch_size": 4,
        "workload": {"samples": 1000}, "price": {"per_hour": "3.20", "currency": "CNY"},
    }  # fmt: skip
    fixes = estimate(body)["fixes"]
    fitting = [one for one in fixes if estimate(body | one["change"])["memory"]["fits"]]
    assert fitting == fixes[: len(fitting)]
    assert {"method", "gradient_checkpointing"} <= {name for one in fitting for name in one["change"]}
    assert any(one["change"] == {"method": "lora", "gradient_checkpointing": True} for one in fitting)


def test_what_makes_it_fit_costs_the_least_time_first() -> None:
    body = {
        "model": "llama-7b", "method": "lora", "sequence_length": 1024, "gpu": "a10", "micro_batch_size": 4,
        "workload": {"samples": 1000}, "price": {"per_hour": "3.20", "currency": "CNY"},
    }  # fmt: skip
    fixes = estimate(body)["fixes"]
    fitting = [one for one in fixes if estimate(body | one["change"])["memory"]["fits"]]
    batch = {"micro_batch_size", "gradient_accumulation_steps"}
    singles = [one for one in fitting if len(one["change"]) == 1 or set(one["change"]) == batch]
    added = [one["adds_hours"] for one in singles]
    assert len(added) > 1
    assert added == sorted(added)
    assert fitting[: len(singles)] == singles


def test_a_job_that_fits_with_room_is_told_how_to_be_cheaper() -> None:
    body = {
        "model": "qwen2.5-3b", "method": "qlora", "gradient_checkpointing": True, "gpu": "a10",
        "gradient_accumulation_steps": 2, "workload": {"samples": 50_000, "epochs": 3},
        "price": {"per_hour": "3.20", "currency": "CNY", "billing": "spot"},
        "spot": {"interruptions_per_hour": 0.5, "checkpoint_interval_minutes": 240},
    }  # fmt: skip
    answer = estimate(body)
    assert answer["fixes"] == []
    named = {name for one in answer["savings"] for name in one["change"]}
    assert {"gradient_checkpointing", "method", "spot"} <= named
    saved = [Decimal(one["saves_cost"]) for one in answer["savings"]]
    assert saved == sorted(saved, reverse=True)
