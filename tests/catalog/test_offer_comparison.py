"""Offers found by memory and price, and set side by side."""

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.accounts.models import Team
from tests.catalog.test_pages import text_of
from tests.fixtures.clients import ApiClient, Clients

OWN: dict[str, Any] = {
    "provider": "tencent",
    "instance_type": "PNV4.7XLARGE116",
    "gpu": "a10",
    "gpu_count": 2,
    "billing": "spot",
    "price_per_hour": {"amount": "6.40", "currency": "CNY"},
    "as_of": "2026-12-01",
    "discount_percent": 10,
}


def ids_of(api: ApiClient, count: int) -> list[int]:
    return [item["id"] for item in api.get("/catalog/offers").json()["items"]][:count]


def test_offers_are_narrowed_by_usable_memory(pages: TestClient) -> None:
    page = text_of(pages.get("/catalog?provider=tencent&memory=30").text)
    assert "V100" in page
    assert "1 × NVIDIA A10" not in page
    assert "1 × NVIDIA A10" in text_of(pages.get("/catalog?provider=tencent&memory=22.4&gpu=a10").text)
    # What is no number narrows nothing.
    assert "1 × NVIDIA A10" in text_of(pages.get("/catalog?provider=tencent&memory=much&gpu=a10").text)


def test_the_memory_stays_in_the_links_to_other_pages(pages: TestClient) -> None:
    assert re.search(r"memory=16&amp;sort=memory&amp;page=2", pages.get("/catalog?memory=16&sort=memory").text)


def test_offers_are_sorted_by_price_of_a_tflop_hour(pages: TestClient) -> None:
    page = pages.get("/catalog?provider=runpod&sort=tflop_price").text
    prices = [float(price) for price in re.findall(r"(\d+\.\d{4}) per TFLOP-hour", page)]
    assert len(prices) > 10
    assert prices == sorted(prices)


def test_memory_and_what_is_told_of_a_family_stand_in_the_row(pages: TestClient, clients: Clients, team: Team) -> None:
    text = text_of(pages.get("/catalog?provider=tencent&gpu=t4&billing=monthly").text)
    assert "1 × Tesla T4 16GB often described as A10 15.0 GiB" in text
    chinese = clients.pages(team, "viewer", language="zh-CN").get("/catalog?provider=tencent&gpu=v100-sxm2-32").text
    assert "常被说成 A100" in chinese


def test_boxes_in_the_rows_belong_to_one_form(pages: TestClient) -> None:
    page = pages.get("/catalog?provider=tencent&gpu=a10").text
    assert '<form id="offers-compare"' in page
    assert re.search(r'<input type="checkbox" name="ids" value="\d+" form="offers-compare"', page)


def test_offers_stand_side_by_side(pages: TestClient, api: ApiClient) -> None:
    own = api.post("/catalog/offers", json=OWN).json()["id"]
    t4 = api.get("/catalog/offers?provider=tencent&gpu=t4&billing=monthly").json()["items"][0]["id"]
    text = text_of(pages.get(f"/catalog/compare?ids={own},{t4}").text)
    for line in (
        "PNV4.7XLARGE116 Tencent Cloud GN7.2XLARGE32 Tencent Cloud",
        "Price per hour CNY 6.40 CNY 3.424658",
        "Per GPU CNY 3.20 CNY 3.42",
        # 6.40 / (2 × 125); 3.424658 / 65.
        "Per TFLOP-hour CNY 0.0256 CNY 0.0527",
        "Usable memory 22.5 GiB 15.0 GiB",
        "bf16 TFLOPS 125.0 —",
        "Terms 10 % discount: CNY 5.76 today —",
        "As of 1 Dec 2026 15 Jun 2026 stale",
    ):
        assert line in text
    assert pages.get(f"/catalog/compare?ids={own}&ids={t4}").text == pages.get(f"/catalog/compare?ids={own},{t4}").text


def test_at_most_six_are_compared(pages: TestClient, api: ApiClient) -> None:
    ids = ids_of(api, 7)
    page = pages.get("/catalog/compare?ids=" + ",".join(map(str, [*ids, ids[0]]))).text
    assert "At most 6 offers" in page
    assert page.count('<th scope="col" class="num">') == 6
    assert "At most" not in pages.get("/catalog/compare?ids=" + ",".join(map(str, ids[:6]))).text


def test_without_offers_the_page_says_what_to_do(pages: TestClient) -> None:
    assert "No offer is chosen" in pages.get("/catalog/compare").text


@pytest.mark.parametrize("ids", ["first", "0", "1,-2", "99999999999999999999", "999999"])
def test_what_is_no_offer_is_not_there(pages: TestClient, ids: str) -> None:
    assert pages.get("/catalog/compare", params={"ids": ids}).status_code == 404


def test_another_team_s_offer_is_not_there(clients: Clients, other_team: Team, api: ApiClient) -> None:
    own = api.post("/catalog/offers", json=OWN).json()["id"]
    assert clients.pages(other_team).get(f"/catalog/compare?ids={own}").status_code == 404
