"""Terms and earlier prices on the page of offers, by a browser without JavaScript and by htmx."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.catalog.test_pages import FORM, HTMX, text_of
from tests.fixtures.clients import ApiClient

TERMS = {
    "billing_minimum_minutes": "60",
    "billing_granularity_minutes": "15",
    "tiers.0.from_hours": "96",
    "tiers.0.percent": "50",
    "tiers.2.from_hours": "360",
    "tiers.2.percent": "34.5",
    "discount_percent": "12.5",
    "discount_valid_from": "2026-11-01",
    "discount_valid_until": "2026-12-31",
    "free_trial_hours": "2.5",
    "availability": "scarce",
    "availability_on": "2026-12-01",
    "availability_note": "evenings only",
}


def own_offers(api: ApiClient) -> list[dict[str, Any]]:
    return [item for item in api.get("/catalog/offers?billing=spot&gpu=a10").json()["items"] if item["own"]]


def test_a_form_adds_an_offer_with_terms(pages: TestClient, viewer_api: ApiClient) -> None:
    assert pages.post("/catalog/offers", data=FORM | TERMS).status_code == 303
    (offer,) = own_offers(viewer_api)
    assert offer["tiers"] == [{"from_hours": 96, "percent": 50}, {"from_hours": 360, "percent": 34.5}]
    assert (offer["discount_percent"], offer["free_trial_hours"], offer["availability"]) == (12.5, 2.5, "scarce")
    text = text_of(pages.get("/catalog?gpu=a10&billing=spot").text)
    assert "at least 60 minutes are billed billed in steps of 15 minutes" in text
    assert "from 96 continuous hours on 50 % of the price" in text
    # 3.20 × 0.875
    assert "12.50 % discount from 1 Nov 2026 until 31 Dec 2026: CNY 2.80 today" in text
    assert "scarce, seen on 1 Dec 2026: evenings only" in text


def test_the_form_of_an_offer_holds_its_terms_and_can_empty_them(pages: TestClient, viewer_api: ApiClient) -> None:
    pages.post("/catalog/offers", data=FORM | TERMS)
    (offer,) = own_offers(viewer_api)
    path = f"/catalog/offers/{offer['id']}"
    form = pages.get(f"{path}/edit", headers=HTMX).text
    for value in ("12.5", "34.5", "evenings only", "2026-12-31"):
        assert f'value="{value}"' in form
    assert '<option value="scarce" selected>' in form
    assert pages.post(path, data=FORM | {"version": "1"}).status_code == 303
    (emptied,) = own_offers(viewer_api)
    assert (emptied["tiers"], emptied["discount_percent"], emptied["availability"]) == (None, None, None)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tiers.2.percent": "340"}, "new-offer-field-tiers-2-percent"),
        ({"tiers.2.percent": ""}, "new-offer-field-tiers-2-percent"),
        ({"tiers.2.from_hours": "90"}, "new-offer-field-tiers"),
        ({"discount_valid_until": "2026-10-01"}, "new-offer-field-discount-valid-until"),
    ],
)
def test_wrong_terms_are_shown_where_they_stand(pages: TestClient, change: dict[str, str], field: str) -> None:
    answer = pages.post("/catalog/offers", data=FORM | TERMS | change)
    assert answer.status_code == 422
    assert f'href="#{field}"' in answer.text
    assert f'id="{field}"' in answer.text
    assert '<details class="more" open>' in answer.text


def test_earlier_prices_stand_in_the_row(pages: TestClient, viewer_api: ApiClient) -> None:
    pages.post("/catalog/offers", data=FORM)
    (offer,) = own_offers(viewer_api)
    row = pages.post(
        f"/catalog/offers/{offer['id']}", data=FORM | {"price_per_hour.amount": "2.95", "version": "1"}, headers=HTMX
    )
    for html in (row.text, pages.get("/catalog?gpu=a10&billing=spot").text):
        text = text_of(html)
        assert "Price history 1 Dec 2026: CNY 2.95, as of 1 Dec 2026" in text
        assert "1 Dec 2026: CNY 3.20, as of 1 Dec 2026" in text
    assert "Price history" not in pages.get("/catalog?provider=alibaba").text
