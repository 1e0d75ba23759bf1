"""A discount that an offer gives on the day is in the price of a plan and of a search."""

from decimal import Decimal
from typing import Any

from tests.fixtures.clients import ApiClient

PROJECT = {"name": "QA", "currency": "CNY", "budget": {"amount": "500", "period": "total", "starts_on": "2026-10-01"}}
OFFER: dict[str, Any] = {
    "provider": "lab", "instance_type": "box", "gpu": "a10", "region": "attic", "billing": "on_demand",
    "price_per_hour": {"amount": "3.20", "currency": "CNY"}, "as_of": "2026-11-30",
    "discount_percent": 12.5, "discount_valid_until": "2026-12-31",
}  # fmt: skip
JOB: dict[str, Any] = {
    "model": "llama-7b",
    "sequence_length": 512,
    "workload": {"samples": 20_000, "epochs": 3, "mean_tokens": 300},
}


def add(api: ApiClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post(path, json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def plan_on(api: ApiClient, project: int, offer: int, **changes: Any) -> dict[str, Any]:
    body = JOB | {"name": "plan", "method": "qlora", "offer_id": offer, "planned_hours": 10}
    return add(api, f"/projects/{project}/plans", body | changes)


def test_a_plan_that_starts_within_the_discount_is_cheaper(editor_api: ApiClient) -> None:
    offer, project = (add(editor_api, path, body)["id"] for path, body in (
        ("/catalog/offers", OFFER), ("/projects", PROJECT)))  # fmt: skip
    # 3.20 less an eighth is 2.80.
    assert plan_on(editor_api, project, offer)["planned_cost"]["amount"] == "28.00"
    assert plan_on(editor_api, project, offer, starts_on="2026-12-31")["planned_cost"]["amount"] == "28.00"
    assert plan_on(editor_api, project, offer, starts_on="2027-01-01")["planned_cost"]["amount"] == "32.00"
    # Two instances of one card.
    assert plan_on(editor_api, project, offer, gpu_count=2, parallelism="ddp")["planned_cost"]["amount"] == "56.00"


def test_a_price_that_is_entered_has_no_discount(editor_api: ApiClient) -> None:
    offer, project = add(editor_api, "/catalog/offers", OFFER)["id"], add(editor_api, "/projects", PROJECT)["id"]
    price = {"per_hour": "3.20", "currency": "CNY", "billing": "on_demand"}
    assert plan_on(editor_api, project, offer, price=price)["planned_cost"]["amount"] == "32.00"


def test_a_search_reckons_with_the_discount(editor_api: ApiClient) -> None:
    add(editor_api, "/catalog/offers", OFFER)
    add(editor_api, "/catalog/offers", OFFER | {"discount_percent": None, "discount_valid_until": None})
    answer = editor_api.post("/plans/search", json=JOB | {"providers": ["lab"], "method": "qlora"}).json()
    by_price: dict[str, Decimal] = {}
    for option in reversed(answer["options"]):
        by_price[option["request"]["price"]["per_hour"]] = Decimal(option["cost"]["amount"])
    assert set(by_price) == {"2.80", "3.20"}
    assert by_price["2.80"] < by_price["3.20"]
    best = answer["options"][0]
    again = editor_api.post("/estimates", json=best["request"]).json()
    assert again["cost"]["amount"] == best["cost"]["amount"]


def test_repricing_takes_the_discount_of_then(editor_api: ApiClient) -> None:
    made = editor_api.post("/catalog/offers", json=OFFER)
    project = add(editor_api, "/projects", PROJECT)["id"]
    plan = plan_on(editor_api, project, made.json()["id"])
    changed = editor_api.patch(
        made.headers["location"], json={"discount_percent": 25}, headers={"If-Match": made.headers["etag"]}
    )
    assert changed.status_code == 200, changed.text
    path = f"/projects/{project}/plans/{plan['id']}"
    etag = editor_api.get(path).headers["etag"]
    again = editor_api.post(f"{path}/reprice", headers={"If-Match": etag})
    assert again.status_code == 200, again.text
    assert again.json()["planned_cost"]["amount"] == "24.00"
