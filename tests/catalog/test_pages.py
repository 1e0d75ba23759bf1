"""The catalogue's pages, by a browser without JavaScript and by htmx."""

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.accounts.models import Team
from tests.fixtures.clients import ApiClient, Clients

HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
FORM = {
    "provider": "tencent",
    "instance_type": "PNV4.7XLARGE116",
    "gpu": "a10",
    "gpu_count": "1",
    "region": "ap-guangzhou",
    "billing": "spot",
    "price_per_hour.amount": "3.20",
    "price_per_hour.currency": "CNY",
    "as_of": "2026-12-01",
    "source": "entered by the team",
    "note": "",
}


@pytest.fixture
def offer(editor_api: ApiClient) -> dict[str, Any]:
    body = {name: text for name, text in FORM.items() if "." not in name}
    body |= {"gpu_count": 1, "price_per_hour": {"amount": "3.20", "currency": "CNY"}}  # type: ignore[dict-item]
    made: dict[str, Any] = editor_api.post("/catalog/offers", json=body).json()
    return made


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("&nbsp;", " ")


def test_offers_show_price_code_day_and_age(pages: TestClient) -> None:
    text = text_of(pages.get("/catalog?gpu=a10&region=cn-wulanchabu").text)
    assert "2 offers" in text
    assert "CNY 8.5794" in text
    assert "31 Dec 2024 stale" in text


def test_offers_in_chinese(clients: Clients, team: Team) -> None:
    text = text_of(clients.pages(team, "viewer", language="zh-CN").get("/catalog?provider=alibaba&gpu=a10").text)
    assert "阿里云" in text
    assert "2024年12月31日" in text


def test_a_price_that_nobody_knows_is_said_to_be_unknown(pages: TestClient) -> None:
    text = text_of(pages.get("/catalog?provider=tencent&gpu=a10").text)
    assert "unknown" in text
    assert "undated stale" in text


def test_the_table_is_narrowed_sorted_and_paged(pages: TestClient) -> None:
    page = pages.get("/catalog?provider=runpod&sort=price").text
    found = re.findall(r'USD&nbsp;(\d+\.\d+)\s*</td>\s*<td class="num" data-label="Per GPU"', page)
    prices = [float(price) for price in found]
    assert len(prices) > 10
    assert prices == sorted(prices)
    first = pages.get("/catalog").text
    link = re.search(r'href="(/catalog\?[^"]*page=2)"', first)
    assert link is not None
    assert "Page 2 of" in text_of(pages.get(link[1].replace("&amp;", "&")).text)


def test_an_unknown_sort_or_page_is_no_error(pages: TestClient) -> None:
    assert pages.get("/catalog?sort=colour&page=many").status_code == 200


def test_filters_that_nothing_fits_say_what_to_do(pages: TestClient) -> None:
    assert "No offer fits" in text_of(pages.get("/catalog?gpu=a10&provider=vast").text)


def test_htmx_gets_the_table_alone(pages: TestClient) -> None:
    fragment = pages.get("/catalog?gpu=a10", headers=HTMX).text
    assert fragment.lstrip().startswith('<div id="offers-table"')
    assert "<html" not in fragment


def test_a_form_adds_an_offer_and_leads_back(pages: TestClient, viewer_api: ApiClient) -> None:
    answer = pages.post("/catalog/offers", data=FORM)
    assert (answer.status_code, answer.headers["location"]) == (303, "/catalog")
    own = [item for item in viewer_api.get("/catalog/offers?billing=spot&gpu=a10").json()["items"] if item["own"]]
    assert [item["price_per_hour"] for item in own] == [{"amount": "3.20", "currency": "CNY"}]
    assert "PNV4.7XLARGE116 own" in text_of(pages.get("/catalog?gpu=a10&billing=spot").text)


def test_a_wrong_form_is_shown_again_with_its_mistakes(pages: TestClient, viewer_api: ApiClient) -> None:
    answer = pages.post("/catalog/offers", data=FORM | {"price_per_hour.amount": "-3", "instance_type": ""})
    assert answer.status_code == 422
    assert "This amount cannot be negative." in answer.text
    assert "This field is required." in answer.text
    assert 'value="ap-guangzhou"' in answer.text
    assert viewer_api.get("/catalog/offers?billing=spot&gpu=a10").json()["items"] == []


def test_an_offer_is_changed_in_its_row(pages: TestClient, offer: dict[str, Any]) -> None:
    path = f"/catalog/offers/{offer['id']}"
    form = pages.get(f"{path}/edit", headers=HTMX).text
    assert form.lstrip().startswith(f'<tr id="offer-{offer["id"]}"')
    assert 'value="3.20"' in form
    row = pages.post(path, data=FORM | {"price_per_hour.amount": "3.05", "version": "1"}, headers=HTMX)
    assert row.status_code == 200
    assert "CNY 3.05" in text_of(row.text)
    assert "CNY 3.05" in text_of(pages.get(path, headers=HTMX).text)


def test_an_offer_is_changed_without_javascript(pages: TestClient, offer: dict[str, Any]) -> None:
    path = f"/catalog/offers/{offer['id']}"
    assert "<html" in pages.get(f"{path}/edit").text
    answer = pages.post(path, data=FORM | {"as_of": "", "version": "1"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/catalog")
    assert "undated" in text_of(pages.get("/catalog?gpu=a10&billing=spot").text)
    assert pages.get(path).headers["location"] == "/catalog"


def test_a_wrong_change_stays_in_the_form(pages: TestClient, offer: dict[str, Any], viewer_api: ApiClient) -> None:
    path = f"/catalog/offers/{offer['id']}"
    answer = pages.post(path, data=FORM | {"gpu_count": "1.5", "version": "1"}, headers=HTMX)
    assert answer.status_code == 422
    assert "Write a whole number" in answer.text
    assert viewer_api.get(path).json() == offer


def test_somebody_else_s_change_is_not_overwritten(pages: TestClient, offer: dict[str, Any]) -> None:
    path = f"/catalog/offers/{offer['id']}"
    pages.post(path, data=FORM | {"price_per_hour.amount": "3.05", "version": "1"})
    late = pages.post(path, data=FORM | {"price_per_hour.amount": "2.00", "version": "1"})
    assert late.status_code == 412
    assert "Somebody changed this" in late.text
    assert 'value="3.05"' in late.text
    assert pages.post(f"{path}/delete", data={"version": "1"}).status_code == 412


def test_a_deleted_offer_can_be_brought_back(pages: TestClient, offer: dict[str, Any], viewer_api: ApiClient) -> None:
    path = f"/catalog/offers/{offer['id']}"
    gone = pages.post(f"{path}/delete", data={"version": "1"}, headers=HTMX)
    assert "was deleted" in gone.text
    assert f"{path}/restore" in gone.text
    assert viewer_api.get(path).status_code == 404
    assert "CNY 3.20" in text_of(pages.post(f"{path}/restore", headers=HTMX).text)
    assert viewer_api.get(path).json() == offer


def test_without_javascript_deleting_leads_back(pages: TestClient, offer: dict[str, Any]) -> None:
    path = f"/catalog/offers/{offer['id']}"
    assert pages.post(f"{path}/delete", data={"version": "1"}).headers["location"] == "/catalog"
    assert pages.post(f"{path}/restore").headers["location"] == "/catalog"
    assert pages.post(f"{path}/restore").status_code == 404


def test_a_viewer_sees_no_forms_and_changes_nothing(viewer_pages: TestClient, offer: dict[str, Any]) -> None:
    page = viewer_pages.get("/catalog?gpu=a10&billing=spot").text
    assert "PNV4.7XLARGE116" in page
    assert "Add an offer" not in page
    assert "/edit" not in page
    assert viewer_pages.post("/catalog/offers", data=FORM).status_code == 403
    assert viewer_pages.get(f"/catalog/offers/{offer['id']}/edit").status_code == 403
    assert "Enter a rate" not in viewer_pages.get("/catalog/rates").text


def test_another_team_s_offer_is_not_there(clients: Clients, other_team: Team, offer: dict[str, Any]) -> None:
    stranger = clients.pages(other_team, "owner")
    path = f"/catalog/offers/{offer['id']}"
    assert stranger.get(f"{path}/edit").status_code == 404
    assert stranger.post(path, data=FORM).status_code == 404
    assert stranger.post(f"{path}/delete").status_code == 404
    assert stranger.post(f"{path}/restore").status_code == 404
    assert "PNV4.7XLARGE116 own" not in text_of(stranger.get("/catalog?gpu=a10&billing=spot").text)


def test_text_that_looks_like_markup_stays_text(pages: TestClient) -> None:
    pages.post("/catalog/offers", data=FORM | {"instance_type": "<script>alert(1)</script>"})
    page = pages.get("/catalog?gpu=a10&billing=spot").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_gpus_show_usable_memory_and_what_has_no_source(viewer_pages: TestClient) -> None:
    text = text_of(viewer_pages.get("/catalog/gpus").text)
    # 23,028 MiB are 22.5 GiB.
    assert "NVIDIA A10 24GB a10 · Ampere 8.6 22.5 GiB" in text
    assert "No source that can be followed" in text


def test_models_show_both_names_and_their_parameters(viewer_pages: TestClient) -> None:
    text = text_of(viewer_pages.get("/catalog/models").text)
    assert "llama-7b · huggyllama/llama-7b" in text
    assert "6,738,415,616" in text


def test_rates_are_entered_on_the_page(pages: TestClient) -> None:
    assert "No rates yet" in text_of(pages.get("/catalog/rates").text)
    form = {"from": "USD", "to": "CNY", "date": "2026-11-02", "rate": "7.10", "source": ""}
    answer = pages.post("/catalog/rates", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/catalog/rates")
    assert "2 Nov 2026 1 USD 7.10 CNY entered by the team" in text_of(pages.get("/catalog/rates").text)


def test_a_wrong_rate_is_shown_again(pages: TestClient) -> None:
    form = {"from": "USD", "to": "USD", "date": "2026-11-02", "rate": "seven"}
    answer = pages.post("/catalog/rates", data=form)
    assert answer.status_code == 422
    assert "write it like 3.20" in answer.text
    assert 'value="seven"' in answer.text
