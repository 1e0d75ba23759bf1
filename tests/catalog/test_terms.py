"""The terms of an offer, and what they make of a price; worked out by hand."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from app.catalog.models import Offer
from app.catalog.pricing import Pricing, Tier, price_run
from app.catalog.terms import discount_on, terms_of
from tests.fixtures.clients import ApiClient
from tests.fixtures.clock import START

HOUR = 3_600_000_000
MINUTE = HOUR // 60
DAY = date(2026, 12, 1)
BODY: dict[str, Any] = {
    "provider": "tencent",
    "instance_type": "GN7.2XLARGE32",
    "gpu": "t4",
    "price_per_hour": {"amount": "8.68", "currency": "CNY"},
}
TERMS: dict[str, Any] = {
    "billing_minimum_minutes": 60,
    "billing_granularity_minutes": 15,
    "tiers": [{"from_hours": 96, "percent": 50}, {"from_hours": 360, "percent": 34}],
    "discount_percent": 12.5,
    "discount_valid_from": "2026-11-01",
    "discount_valid_until": "2026-12-31",
    "free_trial_hours": 2.5,
    "availability": "scarce",
    "availability_on": "2026-12-01",
    "availability_note": "evenings only",
}


def offer(**terms: Any) -> Offer:
    return Offer(
        provider="tencent", instance_type="GN7.2XLARGE32", gpu="t4", gpu_count=Decimal(1), region="", billing="spot",
        currency="CNY", price_per_hour=Decimal("8.68"), created_at=START, **terms,
    )  # fmt: skip


def test_an_offer_without_terms_is_its_price() -> None:
    assert terms_of(offer(), DAY) == Pricing(Decimal("8.68"))


def test_minimum_and_granularity_are_minutes() -> None:
    price = terms_of(offer(billing_minimum_minutes=60, billing_granularity_minutes=15), DAY)
    assert (price.minimum_us, price.granularity_us) == (60 * MINUTE, 15 * MINUTE)
    # 61 minutes are billed as 75: 8.68 × 1.25.
    assert price_run(price, 61 * MINUTE) == Decimal("10.85")
    assert price_run(price, MINUTE) == Decimal("8.68")


def test_tiers_are_percent_of_the_price() -> None:
    price = terms_of(offer(tiers=TERMS["tiers"]), DAY)
    assert price.tiers == (Tier(96 * HOUR, Decimal("0.5")), Tier(360 * HOUR, Decimal("0.34")))
    # 96 × 8.68 + 264 × 4.34 + 40 × 2.9512
    assert price_run(price, 400 * HOUR) == Decimal("2097.088")


@pytest.mark.parametrize(
    ("day", "share"),
    [("2026-10-31", "0"), ("2026-11-01", "0.125"), ("2026-12-31", "0.125"), ("2027-01-01", "0")],
)
def test_a_discount_counts_on_its_days_both_included(day: str, share: str) -> None:
    reduced = offer(
        discount_percent=Decimal("12.5"),
        discount_valid_from=date(2026, 11, 1),
        discount_valid_until=date(2026, 12, 31),
    )
    assert discount_on(reduced, date.fromisoformat(day)) == Decimal(share)
    # 8.68 × 8 h × (1 − share)
    expected = Decimal("69.44") * (1 - Decimal(share))
    assert price_run(terms_of(reduced, date.fromisoformat(day)), 8 * HOUR) == expected


def test_a_discount_without_days_always_counts() -> None:
    assert discount_on(offer(discount_percent=Decimal(10)), DAY) == Decimal("0.1")


def test_an_offer_without_a_price_has_no_terms() -> None:
    unknown = offer()
    unknown.price_per_hour = None
    with pytest.raises(ValueError, match="no price"):
        terms_of(unknown, DAY)


def test_terms_are_kept_changed_and_taken_away(editor_api: ApiClient) -> None:
    made = editor_api.post("/catalog/offers", json=BODY | TERMS)
    assert made.status_code == 201, made.text
    assert {name: made.json()[name] for name in TERMS} == TERMS
    path = made.headers["location"]
    change = {"discount_percent": 20, "tiers": None, "availability": None, "availability_note": ""}
    changed = editor_api.patch(path, json=change, headers={"If-Match": made.headers["etag"]}).json()
    assert (changed["discount_percent"], changed["tiers"], changed["availability_note"]) == (20, None, None)
    assert changed["billing_minimum_minutes"] == 60
    # A discount is no new price.
    assert len(editor_api.get(f"{path}/prices").json()["items"]) == 1


def test_the_same_terms_make_no_new_version(editor_api: ApiClient) -> None:
    made = editor_api.post("/catalog/offers", json=BODY | TERMS)
    same = editor_api.patch(made.headers["location"], json=TERMS, headers={"If-Match": made.headers["etag"]})
    assert same.headers["etag"] == made.headers["etag"]


def test_terms_are_optional(editor_api: ApiClient) -> None:
    made = editor_api.post("/catalog/offers", json=BODY).json()
    assert {made[name] for name in TERMS if name != "tiers"} == {None}
    assert made["tiers"] is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"billing_minimum_minutes": 0}, "billing_minimum_minutes"),
        ({"billing_minimum_minutes": 1.5}, "billing_minimum_minutes"),
        ({"billing_granularity_minutes": -1}, "billing_granularity_minutes"),
        ({"tiers": [{"from_hours": 0, "percent": 50}]}, "tiers.0.from_hours"),
        ({"tiers": [{"from_hours": 96, "percent": 101}]}, "tiers.0.percent"),
        ({"tiers": [{"from_hours": 96, "percent": 50}, {"from_hours": 96, "percent": 34}]}, "tiers"),
        ({"tiers": [{"from_hours": 96, "share": 50}]}, "tiers.0.percent"),
        ({"discount_percent": 0}, "discount_percent"),
        ({"discount_percent": 101}, "discount_percent"),
        ({"discount_percent": None}, "discount_percent"),
        ({"discount_valid_until": "2026-10-31"}, "discount_valid_until"),
        ({"free_trial_hours": -1}, "free_trial_hours"),
        ({"availability": "plenty"}, "availability"),
        ({"availability_on": "2026-12-03"}, "availability_on"),
    ],
)
def test_wrong_terms_name_their_field(editor_api: ApiClient, change: dict[str, Any], field: str) -> None:
    refused = editor_api.post("/catalog/offers", json=BODY | TERMS | change)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == field
    made = editor_api.post("/catalog/offers", json=BODY | TERMS)
    patched = editor_api.patch(made.headers["location"], json=change, headers={"If-Match": made.headers["etag"]})
    assert patched.json()["errors"][0]["field"] == field
