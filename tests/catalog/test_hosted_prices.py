"""Hosted fine-tuning in the catalogue: the packaged prices, and a team's own by JSON API and on the page."""

import re
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from sqlmodel import col, select
from starlette.testclient import TestClient

from app.accounts.models import AuditEvent, Team
from app.catalog.hosted.packaged import Hosted, hosted_provider_names, list_packaged_hosted
from app.catalog.known_models import find_model
from app.catalog.parameters import parameter_counts
from app.db import Database
from app.money import CURRENCIES
from tests.fixtures.clients import ApiClient, Clients

HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
PATH = "/catalog/hosted"
OWN: dict[str, Any] = {
    "provider": "lab",
    "service": "Campus trainer",
    "model": "huggyllama/llama-7b",
    "method": "lora",
    "price_per_million_tokens": {"amount": "1.5", "currency": "CNY"},
    "minimum_charge": {"amount": "10", "currency": "CNY"},
    "as_of": "2026-12-01",
    "source": "the price list",
    "note": "nights only",
}
FORM = {
    "provider": "lab",
    "service": "Campus trainer",
    "price_per_million_tokens.amount": "1.50",
    "price_per_million_tokens.currency": "CNY",
    "minimum_charge.amount": "10",
    "smallest_parameters": "",
    "largest_parameters": "7.5",
    "method": "",
    "model": "",
    "as_of": "2026-12-01",
    "source": "",
    "note": "",
}


@pytest.fixture
def own(editor_api: ApiClient) -> dict[str, Any]:
    made: dict[str, Any] = editor_api.post(PATH, json=OWN).json()
    return made


def wrong_fields(answer: Any) -> list[str]:
    assert answer.status_code == 422, answer.text
    return [error["field"] for error in answer.json()["errors"]]


def own_items(api: ApiClient) -> list[dict[str, Any]]:
    return [item for item in api.get(PATH, params={"limit": 500}).json()["items"] if item["own"]]


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("&nbsp;", " ")


def packaged(provider: str, parameters: int, method: str | None) -> list[Hosted]:
    return [
        one for one in list_packaged_hosted()
        if one.provider == provider and one.takes_model(None, parameters) and one.method == method
    ]  # fmt: skip


def test_every_packaged_price_is_complete_and_sourced() -> None:
    assert len(list_packaged_hosted()) >= 20
    for one in list_packaged_hosted():
        assert one.provider in hosted_provider_names(), one
        assert one.source.startswith("https://"), one
        assert one.price_per_million_tokens > 0, one
        assert one.currency in CURRENCIES, one
        assert one.as_of is None or date(2025, 1, 1) < one.as_of <= date(2026, 12, 1), one
        assert one.model is None or find_model(one.model) is not None, one
        assert one.names_a_size, one
        assert (one.smallest_parameters or 0) <= (one.largest_parameters or 10**15), one
        assert set(one.service) == set(one.note) == {"en", "zh_CN"}, one
        assert all(one.service.values()), one
        assert not one.is_own, one
    assert all(set(names) == {"en", "zh_CN"} for names in hosted_provider_names().values())


def test_prices_stated_a_second_time() -> None:
    # docs.ori.co: up to 10B 0.46; fireworks.ai: LoRA up to 16B 0.50, to 80B 3.00; together.ai: 70-100B full 3.20.
    assert [one.price_per_million_tokens for one in packaged("ori", 10**10, "lora")] == [Decimal("0.46")]
    assert packaged("ori", 10**10 + 1, "lora") == []
    assert [one.price_per_million_tokens for one in packaged("fireworks", 16 * 10**9, "lora")] == [Decimal("0.50")]
    assert [one.price_per_million_tokens for one in packaged("fireworks", 16 * 10**9 + 1, "lora")] == [Decimal("3.00")]
    assert [one.price_per_million_tokens for one in packaged("together", 72 * 10**9, "full")] == [Decimal("3.20")]
    # help.aliyun.com: Qwen2.5-72B-Instruct 0.15 a thousand tokens.
    assert [one.price_per_million_tokens for one in packaged("alibaba", 72_706_203_648, None)] == [Decimal(150)]


def test_classes_of_one_provider_and_method_do_not_overlap() -> None:
    for parameters in (1, 8 * 10**9, 16 * 10**9, 16 * 10**9 + 1, 70 * 10**9, *parameter_counts().values()):
        for provider in {one.provider for one in list_packaged_hosted()}:
            for method in ("lora", "full", None):
                assert len(packaged(provider, parameters, method)) <= 1


def test_the_list_holds_packaged_and_own_prices(viewer_api: ApiClient, own: dict[str, Any]) -> None:
    items = viewer_api.get(PATH, params={"limit": 500}).json()["items"]
    assert items[-1] == own
    ori = next(item for item in items if item["provider"] == "ori")
    assert (ori["id"], ori["own"], ori["as_of"], ori["stale"]) == (None, False, None, True)
    assert ori["price_per_million_tokens"] == {"amount": "0.46", "currency": "USD"}
    first = viewer_api.get(PATH, params={"limit": 2}).json()
    assert [item["provider"] for item in first["items"]] == [item["provider"] for item in items[:2]]
    assert viewer_api.get(PATH, params={"limit": 1, "cursor": first["next_cursor"]}).json()["items"] == [items[2]]


def test_the_life_of_an_own_price(
    editor_api: ApiClient, viewer_api: ApiClient, other_api: ApiClient, database: Database
) -> None:
    made = editor_api.post(PATH, json=OWN)
    assert made.status_code == 201
    price, path = made.json(), made.headers["location"]
    assert (price["model"], price["own"], price["stale"]) == ("llama-7b", True, False)
    assert price["price_per_million_tokens"] == {"amount": "1.50", "currency": "CNY"}
    assert price["minimum_charge"] == {"amount": "10.00", "currency": "CNY"}
    assert viewer_api.get(path).json() == price
    assert other_api.get(path).status_code == 404

    change = {"price_per_million_tokens": {"amount": "1.234567", "currency": "CNY"}, "method": None}
    changed = editor_api.patch(path, json=change, headers={"If-Match": made.headers["etag"]})
    assert changed.json()["price_per_million_tokens"]["amount"] == "1.234567"
    assert (changed.json()["method"], changed.json()["note"]) == (None, "nights only")
    same = editor_api.patch(path, json=change, headers={"If-Match": changed.headers["etag"]})
    assert same.headers["etag"] == changed.headers["etag"]

    assert editor_api.patch(path, json=change, headers={"If-Match": made.headers["etag"]}).status_code == 412
    assert editor_api.delete(path).status_code == 428
    assert editor_api.delete(path, headers={"If-Match": changed.headers["etag"]}).status_code == 204
    assert viewer_api.get(path).status_code == 404
    assert own_items(viewer_api) == []
    with database.read() as session:
        chosen = select(AuditEvent).where(col(AuditEvent.subject_type) == "hosted_price").order_by(col(AuditEvent.id))
        assert [event.action for event in session.exec(chosen).all()] == ["created", "changed", "deleted"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"provider": ""}, "provider"),
        ({"service": None}, "service"),
        ({"model": "llama-8b"}, "model"),
        ({"method": "qlora"}, "method"),
        ({"smallest_parameters": 0}, "smallest_parameters"),
        ({"smallest_parameters": 7.5}, "smallest_parameters"),
        ({"smallest_parameters": 8, "largest_parameters": 7}, "largest_parameters"),
        ({"price_per_million_tokens": {"amount": "0", "currency": "CNY"}}, "price_per_million_tokens.amount"),
        ({"price_per_million_tokens": {"amount": "-1", "currency": "CNY"}}, "price_per_million_tokens.amount"),
        ({"price_per_million_tokens": {"amount": "0.0000001", "currency": "CNY"}}, "price_per_million_tokens.amount"),
        ({"price_per_million_tokens": {"amount": "1000001", "currency": "CNY"}}, "price_per_million_tokens.amount"),
        ({"price_per_million_tokens": {"amount": 1.5, "currency": "CNY"}}, "price_per_million_tokens.amount"),
        ({"price_per_million_tokens": {"amount": "1", "currency": "RMB"}}, "price_per_million_tokens.currency"),
        ({"minimum_charge": {"amount": "1", "currency": "USD"}}, "minimum_charge.currency"),
        ({"minimum_charge": {"amount": "-1", "currency": "CNY"}}, "minimum_charge.amount"),
        ({"as_of": "2026-12-03"}, "as_of"),
        ({"as_of": "yesterday"}, "as_of"),
        ({"price": "1"}, "price"),
    ],
)
def test_bad_input_names_its_field(
    editor_api: ApiClient, own: dict[str, Any], change: dict[str, Any], field: str
) -> None:
    assert wrong_fields(editor_api.post(PATH, json=OWN | change)) == [field]
    path = f"{PATH}/{own['id']}"
    assert wrong_fields(editor_api.patch(path, json=change, headers={"If-Match": '"1"'})) == [field]
    assert editor_api.get(path).json() == own
    assert own_items(editor_api) == [own]


def test_another_currency_needs_the_minimum_too(editor_api: ApiClient, own: dict[str, Any]) -> None:
    path, match = f"{PATH}/{own['id']}", {"If-Match": '"1"'}
    dollars = {"price_per_million_tokens": {"amount": "1", "currency": "USD"}}
    assert wrong_fields(editor_api.patch(path, json=dollars, headers=match)) == ["minimum_charge.currency"]
    changed = editor_api.patch(path, json=dollars | {"minimum_charge": None}, headers=match)
    assert (changed.status_code, changed.json()["minimum_charge"]) == (200, None)


def test_who_may_do_what(
    viewer_api: ApiClient, other_api: ApiClient, own: dict[str, Any], anonymous: TestClient
) -> None:
    path = f"{PATH}/{own['id']}"
    assert viewer_api.post(PATH, json=OWN).status_code == 403
    assert viewer_api.patch(path, json={}, headers={"If-Match": '"1"'}).status_code == 403
    assert viewer_api.delete(path, headers={"If-Match": '"1"'}).status_code == 403
    assert other_api.patch(path, json={}, headers={"If-Match": '"1"'}).status_code == 404
    assert other_api.delete(path, headers={"If-Match": '"1"'}).status_code == 404
    assert own_items(other_api) == []
    assert other_api.get(f"{PATH}/x").status_code == 404
    assert anonymous.get(f"/api/v1{PATH}").status_code == 401


def test_the_page_shows_packaged_prices_in_both_languages(clients: Clients, team: Team, pages: TestClient) -> None:
    text = text_of(pages.get(PATH).text)
    assert "Ori Fine-tuning" in text
    assert "up to 10 B LoRA USD 0.46 undated stale" in text
    assert "16 B–80 B" in text
    assert "over 300 B" in text
    chinese = text_of(clients.pages(team, "viewer", language="zh-CN").get(PATH).text)
    assert "托管微调，按 token 计费" in chinese
    assert "阿里云 百炼 Qwen3-8B" in chinese


def test_a_form_adds_a_price_and_leads_back(pages: TestClient, viewer_api: ApiClient) -> None:
    answer = pages.post(PATH, data=FORM)
    assert (answer.status_code, answer.headers["location"]) == (303, PATH)
    (made,) = own_items(viewer_api)
    assert made["largest_parameters"] == 7_500_000_000
    assert made["minimum_charge"] == {"amount": "10.00", "currency": "CNY"}
    assert "up to 7.50 B full or LoRA CNY 1.50 at least CNY 10.00" in text_of(pages.get(PATH).text)


def test_a_wrong_form_is_shown_again(pages: TestClient, viewer_api: ApiClient) -> None:
    wrong = FORM | {"provider": "", "largest_parameters": "seven", "model": "llama-8b"}
    answer = pages.post(PATH, data=wrong)
    assert answer.status_code == 422
    assert "This field is required." in answer.text
    assert "This must be a whole number." in answer.text
    assert 'value="seven"' in answer.text
    assert own_items(viewer_api) == []


def test_a_price_is_changed_in_its_row(pages: TestClient, own: dict[str, Any]) -> None:
    path = f"{PATH}/{own['id']}"
    form = pages.get(f"{path}/edit", headers=HTMX).text
    assert form.lstrip().startswith(f'<tr id="hosted-{own["id"]}"')
    assert 'value="1.50"' in form
    row = pages.post(path, data=FORM | {"price_per_million_tokens.amount": "2", "version": "1"}, headers=HTMX)
    assert "CNY 2.00" in text_of(row.text)
    assert "CNY 2.00" in text_of(pages.get(path, headers=HTMX).text)
    late = pages.post(path, data=FORM | {"version": "1"}, headers=HTMX)
    assert (late.status_code, 'value="2.00"' in late.text) == (412, True)


def test_without_javascript_too(pages: TestClient, own: dict[str, Any]) -> None:
    path = f"{PATH}/{own['id']}"
    assert "<html" in pages.get(f"{path}/edit").text
    assert pages.post(path, data=FORM | {"price_per_million_tokens.amount": "x", "version": "1"}).status_code == 422
    assert pages.post(path, data=FORM | {"version": "1"}).headers["location"] == PATH
    assert pages.get(path).headers["location"] == PATH
    assert pages.post(f"{path}/delete", data={"version": "1"}).status_code == 412
    assert pages.post(f"{path}/delete", data={"version": "2"}).headers["location"] == PATH
    assert pages.post(f"{path}/restore").headers["location"] == PATH


def test_a_deleted_price_can_be_brought_back(pages: TestClient, own: dict[str, Any], viewer_api: ApiClient) -> None:
    path = f"{PATH}/{own['id']}"
    gone = pages.post(f"{path}/delete", data={"version": "1"}, headers=HTMX)
    assert "was deleted" in gone.text
    assert viewer_api.get(path).status_code == 404
    assert "CNY 1.50" in text_of(pages.post(f"{path}/restore", headers=HTMX).text)
    assert viewer_api.get(path).json() == own
    assert pages.post(f"{path}/restore").status_code == 404


def test_others_see_no_forms_and_change_nothing(
    viewer_pages: TestClient, clients: Clients, other_team: Team, own: dict[str, Any]
) -> None:
    path = f"{PATH}/{own['id']}"
    page = viewer_pages.get(PATH).text
    assert "Campus trainer" in page
    assert "Add a price" not in page
    assert viewer_pages.get(f"{path}/edit").status_code == 403
    assert viewer_pages.post(PATH, data=FORM).status_code == 403
    assert viewer_pages.post(f"{path}/restore").status_code == 404
    stranger = clients.pages(other_team, "owner")
    assert "Campus trainer" not in stranger.get(PATH).text
    for action in ("", "/delete", "/restore"):
        assert stranger.post(f"{path}{action}", data=FORM).status_code == 404


@pytest.mark.parametrize(
    ("model_id", "parameters", "price"),
    [
        # Named 70b, it is of the class from 70 B on.
        ("llama-2-70b", 68_976_648_192, "2.90"),
        (None, 68_976_648_192, "1.50"),
        ("mixtral-8x7b", 46_702_792_704, "1.50"),
        ("gemma-7b", 8_537_680_896, "0.48"),
        ("deepseek-moe-16b", 16_375_728_128, "0.48"),
    ],
)
def test_a_class_goes_by_the_size_in_the_name(model_id: str | None, parameters: int, price: str) -> None:
    (found,) = [
        one for one in list_packaged_hosted()
        if one.provider == "together" and one.method == "lora" and one.takes_model(model_id, parameters)
    ]  # fmt: skip
    assert found.price_per_million_tokens == Decimal(price)
