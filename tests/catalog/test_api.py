"""The catalogue's part of the JSON API."""

from typing import Any

import pytest
from sqlmodel import col, select

from app.accounts.models import AuditEvent
from app.db import Database
from tests.fixtures.clients import ApiClient
from tests.fixtures.clock import MovableClock

A10_SPOT: dict[str, Any] = {
    "provider": "tencent",
    "instance_type": "PNV4.7XLARGE116",
    "gpu": "a10",
    "gpu_count": 1,
    "region": "ap-guangzhou",
    "billing": "spot",
    "price_per_hour": {"amount": "3.2", "currency": "CNY"},
    "as_of": "2026-12-01",
    "source": "entered by the team",
}


def all_items(api: ApiClient, path: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    query: dict[str, Any] = {"limit": 100}
    while True:
        answer = api.get(path, params=query).json()
        items += answer["items"]
        if answer["next_cursor"] is None:
            return items
        query["cursor"] = answer["next_cursor"]


def wrong_fields(answer: Any) -> list[str]:
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return [error["field"] for error in answer.json()["errors"]]


def test_models_gpus_and_offers_are_listed_whole(viewer_api: ApiClient) -> None:
    models = {model["id"]: model for model in all_items(viewer_api, "/catalog/models")}
    gpus = {gpu["id"]: gpu for gpu in all_items(viewer_api, "/catalog/gpus")}
    offers = all_items(viewer_api, "/catalog/offers")
    assert (len(models) >= 60, len(gpus) >= 40, len(offers) >= 100) == (True, True, True)
    assert models["llama-7b"]["config"]["hidden_size"] == 4096
    assert models["llama-7b"]["parameters"] == 6_738_415_616
    assert gpus["a10"]["memory_bytes"] == 23_028 * 1024**2
    assert len({offer["id"] for offer in offers}) == len(offers)
    assert all(not offer["own"] for offer in offers)


@pytest.mark.parametrize("path", ["/catalog/models", "/catalog/gpus", "/catalog/offers", "/rates"])
def test_lists_have_pages(viewer_api: ApiClient, path: str) -> None:
    assert len(viewer_api.get(path).json()["items"]) <= 50
    assert viewer_api.get(path, params={"limit": 501}).status_code == 422
    assert wrong_fields(viewer_api.get(path, params={"cursor": "?"})) == ["cursor"]


def test_offers_are_narrowed(viewer_api: ApiClient) -> None:
    query = {"gpu": "a10", "provider": "alibaba", "region": "cn-wulanchabu", "billing": "on_demand"}
    items = viewer_api.get("/catalog/offers", params=query).json()["items"]
    prices = {item["instance_type"]: item["price_per_hour"] for item in items}
    assert prices == {
        "ecs.gn7i-c16g1.4xlarge": {"amount": "9.084", "currency": "CNY"},
        "ecs.gn7i-c8g1.2xlarge": {"amount": "8.5794", "currency": "CNY"},
    }
    assert viewer_api.get("/catalog/offers", params={"gpu": "", "billing": ""}).json()["items"]
    assert wrong_fields(viewer_api.get("/catalog/offers", params={"billing": "weekly"})) == ["billing"]


def test_an_unknown_price_is_null_and_stale(viewer_api: ApiClient) -> None:
    items = viewer_api.get("/catalog/offers", params={"provider": "tencent", "gpu": "a10"}).json()["items"]
    assert {(item["price_per_hour"], item["as_of"], item["stale"]) for item in items} == {(None, None, True)}


def test_the_life_of_an_own_offer(editor_api: ApiClient, viewer_api: ApiClient, other_api: ApiClient) -> None:
    made = editor_api.post("/catalog/offers", json=A10_SPOT)
    assert made.status_code == 201
    offer = made.json()
    assert offer["price_per_hour"] == {"amount": "3.20", "currency": "CNY"}
    assert (offer["gpu"], offer["gpu_count"], offer["own"], offer["stale"]) == ("a10", 1, True, False)
    path = made.headers["location"]
    assert viewer_api.get(path).json() == offer
    assert viewer_api.get(path).headers["etag"] == made.headers["etag"]
    assert other_api.get(path).status_code == 404

    change = {"price_per_hour": {"amount": "3.10", "currency": "CNY"}}
    changed = editor_api.patch(path, json=change, headers={"If-Match": made.headers["etag"]})
    assert changed.status_code == 200
    assert changed.json()["price_per_hour"]["amount"] == "3.10"
    assert changed.json()["region"] == "ap-guangzhou"

    assert editor_api.patch(path, json=change, headers={"If-Match": made.headers["etag"]}).status_code == 412
    assert editor_api.delete(path).status_code == 428
    assert editor_api.delete(path, headers={"If-Match": changed.headers["etag"]}).status_code == 204
    assert viewer_api.get(path).status_code == 404
    assert offer["id"] not in [item["id"] for item in all_items(viewer_api, "/catalog/offers")]


def test_a_change_to_what_it_is_already_makes_no_new_version(editor_api: ApiClient) -> None:
    made = editor_api.post("/catalog/offers", json=A10_SPOT)
    same = editor_api.patch(
        made.headers["location"], json={"region": "ap-guangzhou"}, headers={"If-Match": made.headers["etag"]}
    )
    assert same.headers["etag"] == made.headers["etag"]


def test_a_price_grows_old_by_the_clock(editor_api: ApiClient, clock: MovableClock) -> None:
    path = editor_api.post("/catalog/offers", json=A10_SPOT).headers["location"]
    clock.advance(days=30)
    assert editor_api.get(path).json()["stale"] is False
    clock.advance(days=1)
    assert editor_api.get(path).json()["stale"] is True


def test_a_slice_keeps_its_share(editor_api: ApiClient) -> None:
    made = editor_api.post("/catalog/offers", json=A10_SPOT | {"gpu": "t4", "gpu_count": 0.25})
    assert made.json()["gpu_count"] == 0.25


def test_the_date_can_be_taken_away(editor_api: ApiClient) -> None:
    made = editor_api.post("/catalog/offers", json=A10_SPOT)
    undated = editor_api.patch(
        made.headers["location"], json={"as_of": None}, headers={"If-Match": made.headers["etag"]}
    )
    assert (undated.json()["as_of"], undated.json()["stale"]) == (None, True)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"gpu": "a11"}, "gpu"),
        ({"gpu_count": 0}, "gpu_count"),
        ({"gpu_count": -1}, "gpu_count"),
        ({"gpu_count": 1.5}, "gpu_count"),
        ({"gpu_count": "1"}, "gpu_count"),
        ({"billing": "weekly"}, "billing"),
        ({"price_per_hour": {"amount": "-3.20", "currency": "CNY"}}, "price_per_hour.amount"),
        ({"price_per_hour": {"amount": "0.00", "currency": "CNY"}}, "price_per_hour.amount"),
        ({"price_per_hour": {"amount": 3.2, "currency": "CNY"}}, "price_per_hour.amount"),
        ({"price_per_hour": {"amount": "3.20", "currency": "RMB"}}, "price_per_hour.currency"),
        ({"price_per_hour": None}, "price_per_hour"),
        ({"provider": ""}, "provider"),
        ({"provider": None}, "provider"),
        ({"as_of": "1 December"}, "as_of"),
        ({"as_of": "2026-12-03"}, "as_of"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_input_names_its_field_and_stores_nothing(
    editor_api: ApiClient, change: dict[str, Any], field: str
) -> None:
    before = len(all_items(editor_api, "/catalog/offers"))
    assert wrong_fields(editor_api.post("/catalog/offers", json=A10_SPOT | change)) == [field]
    assert len(all_items(editor_api, "/catalog/offers")) == before
    made = editor_api.post("/catalog/offers", json=A10_SPOT)
    path, etag = made.headers["location"], made.headers["etag"]
    assert wrong_fields(editor_api.patch(path, json=change, headers={"If-Match": etag})) == [field]
    assert editor_api.get(path).json() == made.json()


def test_packaged_offers_are_seen_and_not_changed(editor_api: ApiClient) -> None:
    packaged = editor_api.get("/catalog/offers").json()["items"][0]
    path = f"/catalog/offers/{packaged['id']}"
    refused = editor_api.patch(path, json={"region": "here"}, headers={"If-Match": '"1"'})
    assert refused.status_code == 403
    assert "own" in refused.json()["detail"]
    assert editor_api.delete(path, headers={"If-Match": '"1"'}).status_code == 403
    assert editor_api.get(path).json() == packaged


def test_checks_come_in_the_order_of_the_contract(
    editor_api: ApiClient, viewer_api: ApiClient, other_api: ApiClient, anonymous: Any
) -> None:
    path = editor_api.post("/catalog/offers", json=A10_SPOT).headers["location"]
    bad = {"colour": "red"}
    assert anonymous.patch("/api/v1/catalog/offers/1", json=bad).status_code == 401
    assert other_api.patch(path, json=bad).status_code == 404
    assert viewer_api.patch("/catalog/offers/999999", json=bad).status_code == 404
    assert viewer_api.patch(path, json=bad).status_code == 403
    assert viewer_api.post("/catalog/offers", json=bad).status_code == 403
    assert editor_api.patch(path, json=bad).status_code == 422
    assert editor_api.patch(path, json={}).status_code == 428
    assert editor_api.get("/catalog/offers/first").status_code == 404


def test_a_repeated_post_makes_one_offer(editor_api: ApiClient) -> None:
    first = editor_api.post("/catalog/offers", json=A10_SPOT, headers={"Idempotency-Key": "k"})
    again = editor_api.post("/catalog/offers", json=A10_SPOT, headers={"Idempotency-Key": "k"})
    assert again.json() == first.json()
    assert again.headers["location"] == first.headers["location"]


def test_every_change_leaves_an_event(editor_api: ApiClient, database: Database) -> None:
    made = editor_api.post("/catalog/offers", json=A10_SPOT)
    path = made.headers["location"]
    changed = editor_api.patch(path, json={"region": "cn-bj"}, headers={"If-Match": made.headers["etag"]})
    editor_api.delete(path, headers={"If-Match": changed.headers["etag"]})
    with database.read() as session:
        events = session.exec(select(AuditEvent).where(col(AuditEvent.subject_type) == "offer")).all()
    assert [event.action for event in events] == ["created", "changed", "deleted"]
    assert events[1].details == {"before": {"region": "ap-guangzhou"}, "after": {"region": "cn-bj"}}


def test_rates_are_entered_replaced_and_listed(editor_api: ApiClient, other_api: ApiClient) -> None:
    rate = {"from": "USD", "to": "CNY", "date": "2026-11-02", "rate": "7.10", "source": "the bank"}
    made = editor_api.post("/rates", json=rate)
    assert made.status_code == 201
    assert {name: made.json()[name] for name in rate} == rate
    assert editor_api.post("/rates", json=rate | {"rate": "7.12"}).status_code == 200
    assert [item["rate"] for item in editor_api.get("/rates").json()["items"]] == ["7.12"]
    assert other_api.get("/rates").json()["items"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"from": "RMB"}, "from"),
        ({"to": "USD"}, "to"),
        ({"date": "2026-13-01"}, "date"),
        ({"date": "2026-12-03"}, "date"),
        ({"rate": 7.1}, "rate"),
        ({"rate": "0"}, "rate"),
        ({"rate": "-1"}, "rate"),
        ({"rate": "1e3"}, "rate"),
        ({"from_currency": "USD"}, "from_currency"),
    ],
)
def test_a_bad_rate_names_its_field(editor_api: ApiClient, change: dict[str, Any], field: str) -> None:
    rate = {"from": "USD", "to": "CNY", "date": "2026-11-02", "rate": "7.10"}
    assert wrong_fields(editor_api.post("/rates", json=rate | change)) == [field]
    assert editor_api.get("/rates").json()["items"] == []


def test_a_viewer_enters_no_rate(viewer_api: ApiClient) -> None:
    assert viewer_api.post("/rates", json={}).status_code == 403
