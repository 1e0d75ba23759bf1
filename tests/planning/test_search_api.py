"""The search over offers and recipes by the JSON API."""

from decimal import Decimal
from typing import Any

import pytest

from tests.fixtures.clients import ApiClient, Clients
from tests.fixtures.people import People

# A search and a file store nothing of their own.
pytestmark = pytest.mark.one_database

JOB: dict[str, Any] = {
    "model": "llama-7b",
    "sequence_length": 512,
    "workload": {"samples": 20_000, "epochs": 3, "mean_tokens": 300},
}


def search(api: ApiClient, **changes: Any) -> dict[str, Any]:
    answer = api.post("/plans/search", json=JOB | changes)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def own_offer(api: ApiClient, gpu: str, price: str, **changes: Any) -> dict[str, Any]:
    body = {
        "provider": "lab", "instance_type": f"box-{gpu}", "gpu": gpu, "gpu_count": 1, "region": "attic",
        "billing": "on_demand", "price_per_hour": {"amount": price, "currency": "CNY"}, "as_of": "2026-11-01",
    }  # fmt: skip
    answer = api.post("/catalog/offers", json=body | changes)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def is_inside(option: dict[str, Any], budget: Decimal, deadline: float) -> bool:
    fits, cost = option["memory"]["fits"], option["cost"]
    return bool(fits and Decimal(cost["amount"]) <= budget and option["time"]["hours"] <= deadline)


def test_what_fits_inside_budget_and_deadline_comes_first(api: ApiClient) -> None:
    found = search(api, budget="30", currency="CNY", deadline_hours=12, providers=["autodl", "alibaba", "gpushare"])
    options = [one for one in found["options"] if one["cost"]["currency"] == "CNY"]
    inside = [is_inside(one, Decimal(30), 12) for one in options]
    assert True in inside
    assert False in inside
    assert inside == sorted(inside, reverse=True)
    fits = [one["memory"]["fits"] for one in options]
    assert fits == sorted(fits, reverse=True)
    assert found["considered"] >= len(found["options"])


def test_the_frontier_is_what_nothing_of_its_currency_beats_in_both(api: ApiClient) -> None:
    found = search(api, limit=500)
    fitting = [one for one in found["options"] if one["memory"]["fits"]]
    assert {one["cost"]["currency"] for one in fitting} >= {"CNY", "USD"}
    for option in found["options"]:
        better = [
            one for one in fitting
            if one["cost"]["currency"] == option["cost"]["currency"]
            and Decimal(one["cost"]["amount"]) < Decimal(option["cost"]["amount"])
            and one["time"]["hours"] < option["time"]["hours"]
        ]  # fmt: skip
        assert option["on_frontier"] == (option["memory"]["fits"] and not better)


def test_the_frontier_survives_a_short_list(api: ApiClient) -> None:
    everything = search(api, limit=500)
    frontier = [one["request"] for one in everything["options"] if one["on_frontier"]]
    shorter = search(api, limit=len(frontier))
    assert [one["request"] for one in shorter["options"]] == frontier
    assert len(search(api, limit=1)["options"]) == 1


def test_the_request_of_an_option_gives_its_figures_again(api: ApiClient) -> None:
    found = search(api, budget="300", currency="CNY", deadline_hours=50, spot={"interruptions_per_hour": 0.05})
    kinds = {one["offer"]["billing"] for one in found["options"]}
    assert {"spot", "on_demand"} <= kinds
    for option in found["options"][::7]:
        again = api.post("/estimates", json=option["request"]).json()
        for part in ("model", "memory", "time", "cost", "preflight", "assumptions", "evidence"):
            assert again[part] == option[part]
        assert option["fixes"] == []
        assert option["request"]["gpu"] == option["offer"]["gpu"]
        assert option["request"]["price"]["currency"] == option["offer"]["price_per_hour"]["currency"]


def test_recipe_fields_that_are_given_stay(api: ApiClient) -> None:
    given = {
        "method": "lora", "lora": {"rank": 16, "target_modules": ["q_proj"]}, "micro_batch_size": 2,
        "gradient_checkpointing": True, "optimizer": "sgd", "precision": "fp16-mixed",
    }  # fmt: skip
    for option in search(api, **given)["options"]:
        for name, value in given.items():
            kept = option["request"][name]
            assert kept == value if name != "lora" else kept["rank"] == 16


def test_filters_keep_only_what_they_name(api: ApiClient) -> None:
    found = search(api, providers=["AutoDL"], billing="on_demand")["options"]
    assert {one["offer"]["provider"] for one in found} == {"autodl"}
    found = search(api, billing=["spot"], regions=["us-east-1"])["options"]
    assert {(one["offer"]["billing"], one["offer"]["region"]) for one in found} == {("spot", "us-east-1")}
    assert search(api, providers=["nobody"]) == {"options": [], "considered": 0, "hosted": []}


def test_several_instances_make_up_the_gpus_that_are_asked_for(api: ApiClient) -> None:
    own_offer(api, "a100-pcie-40", "20.00", gpu_count=2)
    found = search(api, gpu_count=4, providers=["lab"], method="lora", parallelism="ddp")["options"]
    assert found
    for option in found:
        assert (option["request"]["gpu_count"], option["request"]["gpus_per_node"]) == (4, 2)
        assert option["request"]["price"]["per_hour"] == "40.00"
    assert not search(api, gpu_count=3, providers=["lab"])["options"]


def test_offers_without_a_price_are_no_options(api: ApiClient) -> None:
    unpriced = [
        one["id"] for one in api.get("/catalog/offers?limit=200").json()["items"] if one["price_per_hour"] is None
    ]
    assert unpriced
    found = {one["offer"]["id"] for one in search(api, limit=500)["options"]}
    assert not found & set(unpriced)


def test_a_teams_own_offer_is_found_by_it_alone(api: ApiClient, clients: Clients, people: People) -> None:
    mine = own_offer(api, "a10", "0.01")
    assert search(api)["options"][0]["offer"]["id"] == mine["id"]
    other = clients.api(people.make_team("Others"))
    assert mine["id"] not in {one["offer"]["id"] for one in search(other, limit=500)["options"]}


def test_options_are_ranked_by_cost_in_one_currency(api: ApiClient) -> None:
    found = search(api, providers=["lab", "autodl"], currency="CNY")["options"]
    costs = [Decimal(one["cost"]["amount"]) for one in found if one["memory"]["fits"]]
    assert costs == sorted(costs)


def test_without_a_workload_what_fits_is_found_without_costs(api: ApiClient) -> None:
    answer = api.post("/plans/search", json={"model": "gpt2"}).json()
    assert answer["options"]
    assert {one["cost"] for one in answer["options"]} == {None}
    assert not any(one["on_frontier"] for one in answer["options"])


def test_an_image_model_is_searched_too(api: ApiClient) -> None:
    body = {"model": "sd15", "image_size": 512, "workload": {"samples": 1000}, "method": "lora"}
    found = api.post("/plans/search", json=body).json()["options"]
    assert found[0]["memory"]["fits"]


def test_spot_offers_of_providers_that_publish_bands_count_interruptions(api: ApiClient) -> None:
    found = search(api, billing="spot", providers="aws")["options"]
    rates = {one["request"]["spot"]["interruptions_per_hour"] for one in found if "spot" in one["request"]}
    assert rates
    assert all(0 < rate < 0.001 for rate in rates)
    for option in found:
        if "spot" in option["request"]:
            assert option["cost"]["spot"]["expected_interruptions"] > 0


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": "llama-8b"}, "model"),
        ({"gpu": "a10"}, "gpu"),
        ({"price": {"per_hour": "1", "currency": "CNY"}}, "price"),
        ({"limit": 0}, "limit"),
        ({"limit": 501}, "limit"),
        ({"deadline_hours": 0}, "deadline_hours"),
        ({"deadline_hours": "soon"}, "deadline_hours"),
        ({"budget": 300}, "budget"),
        ({"budget": "-1"}, "budget"),
        ({"currency": "YUAN"}, "currency"),
        ({"providers": []}, "providers"),
        ({"providers": [7]}, "providers.0"),
        ({"billing": "hourly"}, "billing.0"),
        ({"method": "lora", "lora": {"target_modules": ["c_attn"]}}, "lora.target_modules"),
        ({"method": "full", "lora": {"rank": 8}}, "lora"),
        ({"method": "lora", "qlora": {}}, "qlora"),
        ({"method": "qlora", "weights_dtype": "bf16"}, "weights_dtype"),
        ({"gpu_count": 2.5}, "gpu_count"),
        ({"workload": {}}, "workload"),
    ],
)
def test_what_is_wrong_is_named(api: ApiClient, changes: dict[str, Any], field: str) -> None:
    answer = api.post("/plans/search", json=JOB | changes)
    assert answer.status_code == 422
    assert field in [one["field"] for one in answer.json()["errors"]]


def test_a_wrong_recipe_is_refused_even_where_no_offer_is_left(api: ApiClient) -> None:
    wrong = JOB | {"method": "lora", "lora": {"target_modules": ["c_attn"]}, "providers": ["nobody"]}
    assert api.post("/plans/search", json=wrong).status_code == 422


def test_a_viewer_may_search(viewer_api: ApiClient) -> None:
    assert viewer_api.post("/plans/search", json=JOB).status_code == 200
