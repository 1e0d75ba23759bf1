"""Whatever a request may say, at its edges too: it is answered or refused by name, soon, and never a fault."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import InvalidInput
from app.planning.estimates import answer_for, read_estimate_input

EDGES: dict[str, list[Any]] = {
    "workload.train_tokens": [1, 10**15],
    "workload.samples": [1, 10**15],
    "workload.epochs": [0.001, 100_000.0],
    "workload.mean_tokens": [1.0, 1_048_576.0],
    "workload.longest_tokens": [1, 1_048_576],
    "spot.interruptions_per_hour": [0, 1e-320, 1e-100, 1e-12, 1e-6, 60],
    "spot.checkpoint_interval_minutes": [0.1, 100_000.0],
    "spot.checkpoint_seconds": [0, 1e-300, 86_400.0],
    "spot.restart_minutes": [0, 1e-300, 10_000.0],
    "spot.notice_seconds": [0, 1e-300, 86_400.0],
    "spot.price_spread_percent": [0, 1e-300, 1000.0],
    "micro_batch_size": [1, 65_536],
    "gradient_accumulation_steps": [1, 65_536],
    "sequence_length": [1, 1_048_576],
    "max_grad_norm": [1e-9, 1e9],
    "gpu_count": [0.01, 0.5, 3.7, 1024],
    "gpus_per_node": [1, 1024],
    "host_ram_bytes": [1, 10**15],
    "storage_mb_per_second": [0.1, 1e6],
    "budget": ["0", "0.000001", "99999999999.99"],
    "deadline_hours": [0.01, 1e6],
    "lora.rank": [1, 4096],
    "lora.dropout": [0, 1e-300, 0.999999],
    "price.per_hour": ["0.000001", "3.20", "99999999999"],
    "price.billing": ["on_demand", "spot", "monthly"],
    "parallelism": ["none", "ddp", "zero3", "fsdp"],
    "optimizer": ["adamw", "sgd"],
    "precision": ["fp32", "bf16", "fp16-mixed"],
    "packing": [True],
}

REQUESTS = st.tuples(
    st.sampled_from(["gpt2", "llama-7b", "bert-base"]),
    st.sampled_from(["full", "lora", "qlora"]),
    st.sampled_from(["a10", "t4", "h100-sxm"]),
    st.lists(st.sampled_from(sorted(EDGES)), max_size=7, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: st.sampled_from(EDGES[name]) for name in names})
    ),
)


def body(model: str, method: str, gpu: str, edges: dict[str, Any]) -> dict[str, Any]:
    request: dict[str, Any] = {"model": model, "method": method, "gpu": gpu}
    request |= {"price": {"per_hour": "3.20", "currency": "CNY"}, "workload": {"train_tokens": 10_000_000}}
    if "workload.samples" in edges:
        request["workload"] = {}
    for name, value in edges.items():
        part, _, field = name.rpartition(".")
        if part:
            request.setdefault(part, {})[field] = value
        else:
            request[field] = value
    return request


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REQUESTS)
def test_it_is_answered_or_refused(request: tuple[str, str, str, dict[str, Any]]) -> None:
    try:
        answer = answer_for(read_estimate_input(body(*request)), "en")
    except InvalidInput:
        return
    probability = answer["cost"]["probability_within_budget"]
    assert probability is None or 0 <= probability <= 1
    assert answer["memory"]["fits"] in (True, False)
