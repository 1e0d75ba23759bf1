"""Runs on an offer with terms: what is billed, what the list says, and what stays when the offer changes."""

from typing import Any

import pytest

from app.db import Database
from tests.fixtures.clients import ApiClient

PROJECT = {"name": "QA", "currency": "CNY", "budget": {"amount": "5000", "period": "total", "starts_on": "2026-10-01"}}
OFFER: dict[str, Any] = {
    "provider": "tencent", "instance_type": "GN7.2XLARGE32", "gpu": "t4", "billing": "on_demand",
    "price_per_hour": {"amount": "8.68", "currency": "CNY"}, "as_of": "2026-11-30",
}  # fmt: skip
DISCOUNT = {"discount_percent": 12.5, "discount_valid_from": "2026-11-02", "discount_valid_until": "2026-11-30"}
TIERS = {"tiers": [{"from_hours": 96, "percent": 50}, {"from_hours": 360, "percent": 34}]}
STEPS = {"billing_minimum_minutes": 60, "billing_granularity_minutes": 15}


def add(api: ApiClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post(path, json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def change(api: ApiClient, path: str, **body: Any) -> dict[str, Any]:
    answer = api.patch(path, json=body, headers={"If-Match": api.get(path).headers["etag"]})
    assert answer.status_code == 200, answer.text
    changed: dict[str, Any] = answer.json()
    return changed


@pytest.fixture
def project(editor_api: ApiClient) -> str:
    return f"/projects/{add(editor_api, '/projects', PROJECT)['id']}"


def run(offer: dict[str, Any], hours: float, **changes: Any) -> dict[str, Any]:
    body = {"name": "sft", "offer_id": offer["id"], "started_at": "2026-11-03T01:00:00Z", "hours": hours}
    return body | changes


def spent(api: ApiClient, project: str) -> tuple[str, str]:
    figures = api.get(project).json()
    return figures["spent_billed"]["amount"], figures["spent_list"]["amount"]


@pytest.mark.parametrize(
    ("terms", "hours", "billed", "listed"),
    [
        ({}, 10, "86.80", "86.80"),
        # 8.68 x 0.875 an hour.
        (DISCOUNT, 10, "75.95", "86.80"),
        # 61 minutes are billed as 75, 20 as the first 60.
        (STEPS, 61 / 60, "10.85", "10.85"),
        (STEPS, 20 / 60, "8.68", "8.68"),
        # 96 x 8.68 + 264 x 4.34 + 40 x 2.9512.
        (TIERS, 400, "2097.09", "2097.09"),
        # 97 hours: (96 + 0.5) x 8.68 = 837.62, less an eighth.
        (TIERS | DISCOUNT, 97, "732.92", "837.62"),
    ],
)
def test_what_is_billed_and_what_the_list_says(
    editor_api: ApiClient, project: str, terms: dict[str, Any], hours: float, billed: str, listed: str
) -> None:
    offer = add(editor_api, "/catalog/offers", OFFER | terms)
    made = add(editor_api, f"{project}/runs", run(offer, hours))
    assert made["cost"]["amount"] == billed
    assert spent(editor_api, project) == (billed, listed)


@pytest.mark.parametrize(("started_at", "cost"), [
    # Beijing's 1st and 2nd of November, the last minute of its 30th and the first of December.
    ("2026-11-01T15:59:59Z", "86.80"),
    ("2026-11-01T16:00:00Z", "75.95"),
    ("2026-11-30T15:59:00Z", "75.95"),
    ("2026-11-30T16:00:00Z", "86.80"),
])  # fmt: skip
def test_a_discount_counts_for_what_starts_on_its_days(
    editor_api: ApiClient, project: str, started_at: str, cost: str
) -> None:
    offer = add(editor_api, "/catalog/offers", OFFER | DISCOUNT)
    assert add(editor_api, f"{project}/runs", run(offer, 10, started_at=started_at))["cost"]["amount"] == cost


def test_the_days_of_a_run_sum_to_it(editor_api: ApiClient, project: str) -> None:
    offer = add(editor_api, "/catalog/offers", OFFER | TIERS | DISCOUNT | STEPS)
    made = add(editor_api, f"{project}/runs", run(offer, 150.1, instance_count=2))
    # 150.1 h are billed as 150.25: 2 x (96 + 54.25 / 2) x 8.68 = 2137.45, less an eighth.
    assert made["cost"]["amount"] == "1870.27"
    assert spent(editor_api, project) == ("1870.27", "2137.45")


def test_a_run_keeps_the_terms_it_was_logged_at(editor_api: ApiClient, project: str) -> None:
    offer = add(editor_api, "/catalog/offers", OFFER | DISCOUNT)
    made = add(editor_api, f"{project}/runs", run(offer, 10))
    assert made["price_terms"]["discount_percent"] == "12.5"
    change(editor_api, f"/catalog/offers/{offer['id']}", discount_percent=50)
    path = f"{project}/runs/{made['id']}"
    longer = change(editor_api, path, note="checked", hours=20)
    assert (longer["cost"]["amount"], longer["price_terms"]["discount_percent"]) == ("151.90", "12.5")
    assert spent(editor_api, project) == ("151.90", "173.60")


def test_a_price_that_is_entered_is_the_whole_price(editor_api: ApiClient, project: str) -> None:
    offer = add(editor_api, "/catalog/offers", OFFER | DISCOUNT | STEPS)
    price = {"amount": "8.00", "currency": "CNY"}
    made = add(editor_api, f"{project}/runs", run(offer, 0.5, price_per_hour=price))
    assert (made["cost"]["amount"], made["price_terms"]) == ("4.00", None)
    path = f"{project}/runs/{add(editor_api, f'{project}/runs', run(offer, 10))['id']}"
    assert change(editor_api, path, price_per_hour=price)["cost"]["amount"] == "80.00"


def test_another_offer_brings_its_own_terms(editor_api: ApiClient, project: str) -> None:
    reduced, plain = (add(editor_api, "/catalog/offers", OFFER | terms) for terms in (DISCOUNT, {}))
    path = f"{project}/runs/{add(editor_api, f'{project}/runs', run(reduced, 10))['id']}"
    assert change(editor_api, path, offer_id=plain["id"])["cost"]["amount"] == "86.80"
    assert change(editor_api, path, offer_id=reduced["id"])["cost"]["amount"] == "75.95"
    assert change(editor_api, path, offer_id=None)["price_terms"] is None


def test_a_run_of_an_older_database_has_no_terms(
    editor_api: ApiClient, project: str, database: Database
) -> None:
    offer = add(editor_api, "/catalog/offers", OFFER)
    path = f"{project}/runs/{add(editor_api, f'{project}/runs', run(offer, 10))['id']}"
    database.downgrade("0004")
    database.migrate()
    assert database.is_current()
    kept = editor_api.get(path).json()
    assert (kept["price_terms"], kept["cost"]["amount"]) == (None, "86.80")
