"""Estimates and plans by the JSON API."""

from typing import Any

import pytest

from tests.fixtures.clients import ApiClient

BODY: dict[str, Any] = {
    "model": "llama-7b",
    "method": "lora",
    "lora": {"rank": 8, "target_modules": ["q_proj", "v_proj"], "dropout": 0.0, "adapter_dtype": "fp32"},
    "precision": "bf16-mixed",
    "optimizer": "adamw",
    "micro_batch_size": 1,
    "gradient_accumulation_steps": 4,
    "sequence_length": 512,
    "gradient_checkpointing": True,
    "attention": "sdpa",
    "gpu": "a10",
    "gpu_count": 1,
    "parallelism": "none",
    "workload": {"train_tokens": 50_000_000},
    "price": {"per_hour": "3.20", "currency": "CNY", "billing": "spot"},
    "spot": {
        "interruptions_per_hour": 0.02,
        "checkpoint_interval_minutes": 30,
        "checkpoint_seconds": 60,
        "restart_minutes": 10,
    },
    "budget": "300.00",
}
LLAMA_CONFIG = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
    "num_attention_heads": 32, "vocab_size": 32000, "max_position_embeddings": 2048, "tie_word_embeddings": False,
}  # fmt: skip


def estimate(api: ApiClient, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post("/estimates", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_contracts_example_is_answered_whole(api: ApiClient) -> None:
    answer = estimate(api, BODY)
    assert answer["model"] == {
        "id": "llama-7b", "parameters": 6_738_415_616, "trainable_parameters": 4_194_304, "unknown_fields": [],
    }  # fmt: skip
    memory = answer["memory"]
    assert memory["peak_allocated_bytes"] == max(memory["moments"].values())
    assert sum(memory["components"].values()) == memory["required_bytes"]
    assert memory["required_bytes"] - memory["reserved_bytes"] == 900 * 1024**2
    assert (memory["fits"], memory["capacity_bytes"]) == (True, 23_028 * 1024**2)
    worst = max(memory["required_bytes"], *memory["other_peaks"].values())
    assert memory["capacity_bytes"] - worst == memory["headroom_bytes"]
    assert (answer["time"]["tokens_per_step"], answer["time"]["steps"]) == (2048, 24_415)
    expected = (answer["time"]["hours"] + answer["cost"]["spot"]["expected_lost_hours"]) * 3.2
    assert float(answer["cost"]["amount"]) == pytest.approx(expected, abs=0.006)
    assert {one["field"] for one in answer["assumptions"]} == {
        "fused_loss", "packing", "offload", "workload.longest_tokens", "workload.mean_tokens",
    }  # fmt: skip


def test_only_model_and_method_are_required_and_every_default_is_told(api: ApiClient) -> None:
    answer = estimate(api, {"model": "llama-7b", "method": "lora"})
    taken = {one["field"]: one["value"] for one in answer["assumptions"]}
    assert taken == {
        "lora.rank": 8, "lora.target_modules": "all-linear", "lora.dropout": 0.0, "lora.adapter_dtype": "fp32",
        "precision": "bf16-mixed", "optimizer": "adamw", "micro_batch_size": 1, "gradient_accumulation_steps": 1,
        "sequence_length": 512, "gradient_checkpointing": False, "attention": "sdpa", "fused_loss": False,
        "packing": False, "offload": "none", "gpu_count": 1, "parallelism": "none",
    }  # fmt: skip
    assert answer["cost"] is None
    for name in ("capacity_bytes", "fits", "required_bytes", "reserved_bytes", "interval_bytes"):
        assert answer["memory"][name] is None
    assert [name for name, value in answer["time"].items() if value is not None] == ["flops_per_step"]


def test_the_same_model_by_name_and_by_configuration_gives_the_same_numbers(api: ApiClient) -> None:
    by_name = estimate(api, BODY)
    by_config = estimate(api, BODY | {"model": {"config": LLAMA_CONFIG}})
    by_hub = estimate(api, BODY | {"model": "huggyllama/llama-7b"})
    for part in ("memory", "time", "cost"):
        assert by_name[part] == by_config[part] == by_hub[part]
    assert by_config["model"]["id"] is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": "llama-8b"}, "model"),
        ({"model": 7}, "model"),
        ({"model": {"config": []}}, "model.config"),
        ({"model": {"config": {}}}, "model.config.model_type"),
        ({"model": {"config": LLAMA_CONFIG | {"num_attention_heads": 33}}}, "model.config.num_attention_heads"),
        ({"method": "adapter"}, "method"),
        ({"method": None}, "method"),
        ({"method": "full"}, "lora"),
        ({"lora": {"rank": 0}}, "lora.rank"),
        ({"lora": {"target_modules": ["c_attn"]}}, "lora.target_modules"),
        ({"precision": "int8"}, "precision"),
        ({"micro_batch_size": 0}, "micro_batch_size"),
        ({"micro_batch_size": 1.5}, "micro_batch_size"),
        ({"sequence_length": 10**9}, "sequence_length"),
        ({"gpu": "a11"}, "gpu"),
        ({"gpu_count": 0}, "gpu_count"),
        ({"gpu_count": 2.5}, "gpu_count"),
        ({"parallelism": "pipeline"}, "parallelism"),
        ({"offload": "everything"}, "offload"),
        ({"model": "sdxl", "lora": {"target_modules": ["to_q"]}}, "sequence_length"),
        ({"image_size": 512}, "image_size"),
        ({"price": {"per_hour": "-1", "currency": "CNY"}}, "price.per_hour"),
        ({"price": {"per_hour": 3.2, "currency": "CNY"}}, "price.per_hour"),
        ({"budget": 300}, "budget"),
        ({"workload": {}}, "workload"),
        ({"workload": {"samples": 1, "mean_tokens": 600}}, "workload.mean_tokens"),
        ({"qlora": {"double_quantization": True}}, "qlora"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_cannot_be_estimated_is_422_at_the_field(api: ApiClient, changes: dict[str, Any], field: str) -> None:
    answer = api.post("/estimates", json=BODY | changes)
    assert answer.status_code == 422, answer.text
    assert any(error["field"].startswith(field) for error in answer.json()["errors"])


def test_applying_a_fix_gives_exactly_what_it_promised(api: ApiClient) -> None:
    body = {name: value for name, value in BODY.items() if name != "lora"} | {"method": "full"}
    before = estimate(api, body)
    assert before["memory"]["fits"] is False
    assert before["fixes"]
    for fix in before["fixes"]:
        after = estimate(api, body | fix["change"])
        saved = before["memory"]["required_bytes"] - after["memory"]["required_bytes"]
        assert saved == fix["saves_bytes"] > 0
        assert after["time"]["hours"] - before["time"]["hours"] == pytest.approx(fix["adds_hours"])
        difference = float(before["cost"]["amount"]) - float(after["cost"]["amount"])
        assert f"{difference:.2f}" == fix["saves_cost"]


def test_preflight_names_what_the_card_lacks(api: ApiClient) -> None:
    answer = estimate(api, BODY | {"gpu": "t4", "attention": "flash", "sequence_length": 4096})
    codes = {finding["code"]: finding["level"] for finding in answer["preflight"]}
    assert codes["bf16-unsupported"] == "error"
    assert codes["flash-attention-unsupported"] == "error"
    assert codes["length-past-positions"] == "warning"


def test_a_viewer_may_estimate(viewer_api: ApiClient) -> None:
    assert viewer_api.post("/estimates", json=BODY).status_code == 200


def test_half_a_card_has_half_its_memory(api: ApiClient) -> None:
    whole, half = estimate(api, BODY), estimate(api, BODY | {"gpu_count": 0.5})
    assert half["memory"]["capacity_bytes"] == whole["memory"]["capacity_bytes"] // 2


@pytest.fixture
def project_id(api: ApiClient) -> int:
    body = {
        "name": "QA", "currency": "CNY",
        "budget": {"amount": "500", "period": "total", "starts_on": "2026-10-01", "block_when_spent": True},
    }  # fmt: skip
    return int(api.post("/projects", json=body).json()["id"])


PLAN = BODY | {"name": "LoRA", "starts_on": "2026-12-01", "hours_per_week": 16, "planned_hours": 80}


def test_a_plan_costs_its_hours_times_the_price_and_reserves_it_when_approved(api: ApiClient, project_id: int) -> None:
    made = api.post(f"/projects/{project_id}/plans", json=PLAN)
    assert made.status_code == 201, made.text
    plan = made.json()
    assert plan["planned_cost"] == {"amount": "256.00", "currency": "CNY"}
    assert (plan["is_baseline"], plan["approved_at"]) == (False, None)
    path = f"/projects/{project_id}/plans/{plan['id']}"
    approved = api.post(f"{path}/approve")
    assert approved.json()["approved_at"] == "2026-12-01T03:00:00Z"
    project = api.get(f"/projects/{project_id}").json()
    assert (project["reserved"]["amount"], project["free"]["amount"]) == ("256.00", "244.00")
    again = api.post(f"/projects/{project_id}/plans", json=PLAN | {"name": "second"}).json()
    refused = api.post(f"/projects/{project_id}/plans/{again['id']}/approve")
    assert (refused.status_code, refused.json()["type"]) == (409, "budget-exceeded")
    gone = api.delete(path, headers={"If-Match": approved.headers["etag"]})
    assert gone.status_code == 204
    assert api.get(f"/projects/{project_id}").json()["reserved"]["amount"] == "0.00"


def test_one_plan_is_the_baseline(api: ApiClient, project_id: int) -> None:
    ids = [api.post(f"/projects/{project_id}/plans", json=PLAN | {"name": name}).json()["id"] for name in ("a", "b")]
    for plan_id in ids:
        assert api.post(f"/projects/{project_id}/plans/{plan_id}/baseline").json()["is_baseline"] is True
    plans = api.get(f"/projects/{project_id}/plans").json()["items"]
    assert [plan["is_baseline"] for plan in plans] == [False, True]


def test_a_plan_without_hours_takes_the_estimates(api: ApiClient, project_id: int) -> None:
    body = {name: value for name, value in PLAN.items() if name != "planned_hours"}
    plan = api.post(f"/projects/{project_id}/plans", json=body).json()
    assert plan["planned_hours"] == plan["estimate"]["time"]["hours"]


def test_an_offer_gives_the_card_and_the_price(api: ApiClient, project_id: int) -> None:
    offer = {
        "provider": "lab", "instance_type": "x", "gpu": "a10", "billing": "spot",
        "price_per_hour": {"amount": "2.50", "currency": "CNY"},
    }  # fmt: skip
    offer_id = api.post("/catalog/offers", json=offer).json()["id"]
    body = {name: value for name, value in PLAN.items() if name not in ("gpu", "gpu_count", "price")}
    plan = api.post(f"/projects/{project_id}/plans", json=body | {"offer_id": offer_id}).json()
    assert (plan["planned_cost"]["amount"], plan["request"]["gpu"], plan["billing"]) == ("200.00", "a10", "spot")
    other = api.post(f"/projects/{project_id}/plans", json=PLAN | {"offer_id": offer_id, "gpu": "t4"})
    assert other.json()["errors"][0]["field"] == "gpu"


def test_a_changed_plan_is_estimated_anew_and_its_reservation_follows(api: ApiClient, project_id: int) -> None:
    made = api.post(f"/projects/{project_id}/plans", json=PLAN)
    path = f"/projects/{project_id}/plans/{made.json()['id']}"
    approved = api.post(f"{path}/approve")
    changed = api.patch(path, json={"planned_hours": 40.0}, headers={"If-Match": approved.headers["etag"]})
    assert changed.json()["planned_cost"]["amount"] == "128.00"
    assert api.get(f"/projects/{project_id}").json()["reserved"]["amount"] == "128.00"
    assert api.patch(path, json={"planned_hours": 1.0}).status_code == 428
    assert api.patch(path, json={"gpu": "nothing"}, headers={"If-Match": "*"}).status_code == 422


def test_other_teams_offers_and_plans_do_not_exist(api: ApiClient, other_api: ApiClient, project_id: int) -> None:
    offer = {
        "provider": "lab", "instance_type": "x", "gpu": "a10",
        "price_per_hour": {"amount": "2.50", "currency": "CNY"},
    }  # fmt: skip
    offer_id = other_api.post("/catalog/offers", json=offer).json()["id"]
    theirs = api.post(f"/projects/{project_id}/plans", json=PLAN | {"offer_id": offer_id})
    missing = api.post(f"/projects/{project_id}/plans", json=PLAN | {"offer_id": 10**9})
    assert theirs.status_code == missing.status_code == 422
    assert theirs.json()["errors"] == missing.json()["errors"]
    plan_id = api.post(f"/projects/{project_id}/plans", json=PLAN).json()["id"]
    assert other_api.get(f"/projects/{project_id}/plans/{plan_id}").status_code == 404
    assert other_api.post(f"/projects/{project_id}/plans/{plan_id}/approve").status_code == 404


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"workload": {"train_tokens": 10**15}}, "workload"),
        ({"planned_hours": 1_000_000, "price": {"per_hour": "99999999999", "currency": "CNY"}}, "price.per_hour"),
        ({"price": {"per_hour": "0", "currency": "CNY"}}, "price.per_hour"),
        ({"gpu_count": 1e-12}, "gpu_count"),
        ({"hours_per_week": 1e-300}, "hours_per_week"),
        ({"lora": {"target_modules": []}}, "lora.target_modules"),
        ({"workload": {}}, "workload"),
    ],
)
def test_absurd_figures_are_refused_by_name(api: ApiClient, changes: dict[str, Any], field: str) -> None:
    budget = {"amount": "500", "period": "total", "starts_on": "2026-10-01"}
    project = api.post("/projects", json={"name": "QA", "currency": "CNY", "budget": budget}).json()["id"]
    answer = api.post(f"/projects/{project}/plans", json=BODY | {"name": "plan"} | changes)
    assert answer.status_code == 422, answer.text
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert api.get(f"/projects/{project}/plans").json()["items"] == []
