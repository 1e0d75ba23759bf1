"""Every model and every card of the catalogue can be estimated, and the figures hold together."""

import json
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from app.catalog.gpus import list_gpus
from app.catalog.known_models import list_models
from app.planning.estimates import answer_for, read_estimate_input

METHODS = ("full", "lora", "qlora")
PRECISIONS = ("bf16-mixed", "fp16", "fp32")


def estimated(**body: Any) -> dict[str, Any]:
    answer = answer_for(read_estimate_input(body), "zh-CN", details=False)
    json.dumps(answer, allow_nan=False)
    memory = answer["memory"]
    assert memory["peak_allocated_bytes"] == max(memory["moments"].values())
    assert sum(memory["components"].values()) == (memory["required_bytes"] or memory["peak_allocated_bytes"])
    assert all(size >= 0 for size in memory["components"].values())
    return answer


@pytest.mark.parametrize("model", [model.id for model in list_models()])
def test_every_model(model: str) -> None:
    for method, precision in product(METHODS, PRECISIONS):
        estimated(model=model, method=method, precision=precision, gpu="a10", workload={"samples": 1000})


@pytest.mark.parametrize("gpu", [gpu.id for gpu in list_gpus()])
def test_every_card(gpu: str) -> None:
    for precision, attention in product(PRECISIONS, ("eager", "sdpa", "flash")):
        answer = estimated(
            model="llama-7b", method="lora", precision=precision, attention=attention, gpu=gpu,
            workload={"train_tokens": 1_000_000}, price={"per_hour": "1000", "currency": "JPY", "billing": "spot"},
            budget="1000000000",
        )  # fmt: skip
        assert answer["time"]["tokens_per_second"] > 0
        assert Decimal(answer["cost"]["amount"]) >= 1
        assert answer["cost"]["probability_within_budget"] == pytest.approx(1)
