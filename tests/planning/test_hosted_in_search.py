"""Hosted fine-tuning by the token beside the instances of a search."""

from decimal import Decimal
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.catalog.known_models import find_model
from tests.fixtures.clients import ApiClient

# A search and a file store nothing of their own.
pytestmark = pytest.mark.one_database

JOB: dict[str, Any] = {
    "model": "llama-7b",
    "sequence_length": 512,
    "workload": {"samples": 20_000, "epochs": 3, "mean_tokens": 300},
    "providers": ["lab"],
}


def hosted(api: ApiClient, **changes: Any) -> list[dict[str, Any]]:
    answer = api.post("/plans/search", json=JOB | changes)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["hosted"]
    return found


def add_price(api: ApiClient, price: str = "2", currency: str = "CNY", **changes: Any) -> dict[str, Any]:
    body = {
        "provider": "lab", "service": "trainer", "price_per_million_tokens": {"amount": price, "currency": currency},
    }  # fmt: skip
    answer = api.post("/catalog/hosted", json=body | changes)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_a_row_by_hand(api: ApiClient) -> None:
    price = add_price(api, "0.4567")
    # 20,000 × 300 × 3 = 18 million tokens; × 0.4567 = 8.2206.
    assert hosted(api, budget="8.22", currency="CNY") == [
        {
            "hosted": price,
            "tokens": 18_000_000,
            "cost": {"amount": "8.22", "currency": "CNY"},
            "within_budget": True,
        }
    ]
    assert [row["within_budget"] for row in hosted(api, budget="8.21", currency="CNY")] == [False]
    assert [row["within_budget"] for row in hosted(api)] == [None]


@pytest.mark.parametrize(
    ("workload", "tokens"),
    [
        ({"train_tokens": 50_000_000}, 50_000_000),
        ({"samples": 1000}, 512_000),
        ({"samples": 1000, "mean_tokens": 300.5, "epochs": 2.5}, 751_250),
        ({"samples": 3, "mean_tokens": 1.5}, 5),
    ],
)
def test_tokens_are_read_as_the_estimator_reads_them(api: ApiClient, workload: dict[str, Any], tokens: int) -> None:
    add_price(api)
    assert [row["tokens"] for row in hosted(api, workload=workload)] == [tokens]


def test_without_tokens_there_are_no_rows(api: ApiClient) -> None:
    add_price(api)
    assert api.post("/plans/search", json={"model": "llama-7b", "providers": ["lab"]}).json()["hosted"] is None
    image = {"model": "sd15", "image_size": 512, "workload": {"samples": 1000}, "providers": ["lab"]}
    assert api.post("/plans/search", json=image).json()["hosted"] is None
    endless = {"samples": 10**15, "epochs": 100_000}
    assert hosted(api, workload=endless) is None


def test_the_minimum_is_charged(api: ApiClient) -> None:
    add_price(api, "0.10", minimum_charge={"amount": "5", "currency": "CNY"})
    assert [row["cost"]["amount"] for row in hosted(api)] == ["5.00"]
    assert [row["cost"]["amount"] for row in hosted(api, workload={"train_tokens": 60_000_000})] == ["6.00"]


def test_the_budget_is_compared_at_the_dated_rate(api: ApiClient) -> None:
    rate = {"from": "USD", "to": "CNY", "date": "2026-11-02", "rate": "7.00"}
    assert api.post("/rates", json=rate).status_code == 201
    add_price(api, "1", "USD")
    # 18 USD are 126 CNY.
    assert [row["within_budget"] for row in hosted(api, budget="126", currency="CNY")] == [True]
    # 125.90 CNY are 17.99 USD.
    (row,) = hosted(api, budget="125.90", currency="CNY")
    assert (row["within_budget"], row["cost"]) == (False, {"amount": "18.00", "currency": "USD"})


def test_the_cheapest_in_the_search_s_currency_comes_first_and_what_has_no_rate_last(api: ApiClient) -> None:
    api.post("/rates", json={"from": "USD", "to": "CNY", "date": "2026-11-02", "rate": "7.00"})
    add_price(api, "0.10", "MRU", service="ouguiya")
    add_price(api, "1", "USD", service="dollar")
    add_price(api, "8", "CNY", service="dear")
    add_price(api, "6", "CNY", service="cheap")
    rows = hosted(api, currency="CNY", budget="1000")
    assert [row["hosted"]["service"] for row in rows] == ["cheap", "dollar", "dear", "ouguiya"]
    assert [row["within_budget"] for row in rows] == [True, True, True, None]


@pytest.mark.parametrize(
    ("changes", "methods"),
    [
        ({}, {"full", "lora", None}),
        ({"method": "full"}, {"full", None}),
        ({"method": "lora"}, {"lora", None}),
        ({"method": "qlora"}, {"lora", None}),
        ({"lora": {"rank": 16}}, {"lora", None}),
        ({"qlora": {"double_quantization": True}}, {"lora", None}),
    ],
)
def test_the_method_narrows_the_rows(api: ApiClient, changes: dict[str, Any], methods: set[str | None]) -> None:
    for method in ("full", "lora", None):
        add_price(api, method=method)
    assert {row["hosted"]["method"] for row in hosted(api, **changes)} == methods


@pytest.mark.parametrize(
    ("fields", "applies"),
    [
        ({}, True),
        ({"model": "llama-7b"}, True),
        # As many parameters, another model.
        ({"model": "llama-2-7b"}, False),
        # A class goes by the name: 7b, with 6.74 billion parameters.
        ({"largest_parameters": 7 * 10**9}, True),
        ({"largest_parameters": 7 * 10**9 - 1}, False),
        ({"smallest_parameters": 7 * 10**9}, True),
        ({"smallest_parameters": 7 * 10**9 + 1}, False),
        ({"model": "llama-13b", "smallest_parameters": 10**9, "largest_parameters": 10**10}, True),
        ({"model": "llama-7b", "smallest_parameters": 10**10}, True),
    ],
)
def test_a_price_is_of_a_model_or_of_a_size(api: ApiClient, fields: dict[str, Any], applies: bool) -> None:
    add_price(api, **fields)
    assert bool(hosted(api)) == applies


def test_a_model_by_configuration_is_told_by_its_size(api: ApiClient) -> None:
    known = find_model("qwen2.5-7b")
    assert known is not None
    rows = hosted(api, model={"config": dict(known.config)}, providers=["alibaba"])
    # 18 million tokens at 6 CNY a million.
    assert [(row["hosted"]["service"], row["cost"]["amount"]) for row in rows] == [
        ("Model Studio (Bailian), Qwen2.5-7B-Instruct", "108.00")
    ]


@pytest.mark.parametrize("model", ["bert-base", "t5-base", "whisper-small"])
def test_a_class_is_of_models_that_write_text(api: ApiClient, model: str) -> None:
    known = find_model(model)
    assert known is not None
    add_price(api)
    providers = ["lab", "ori", "fireworks", "together"]
    workload = {"train_tokens": 1_000_000}
    for one in (model, {"config": dict(known.config)}):
        body = {"model": one, "workload": workload, "providers": providers}
        assert not api.post("/plans/search", json=body).json()["hosted"]
    add_price(api, model=model)
    body = {"model": model, "workload": workload, "providers": providers}
    rows = api.post("/plans/search", json=body).json()["hosted"]
    assert [row["hosted"]["model"] for row in rows] == [model]


def test_packaged_rows_for_a_7b_model(api: ApiClient) -> None:
    rows = hosted(api, providers=None, currency="USD")
    costs = {(row["hosted"]["provider"], row["hosted"]["method"]): Decimal(row["cost"]["amount"]) for row in rows}
    assert costs == {
        ("ori", "lora"): Decimal("8.28"),
        ("together", "lora"): Decimal("8.64"),
        ("fireworks", "lora"): Decimal("9.00"),
        ("together", "full"): Decimal("9.72"),
        ("fireworks", "full"): Decimal("18.00"),
    }
    assert list(costs.values()) == sorted(costs.values())


def test_a_team_s_own_price_is_its_own(api: ApiClient, other_api: ApiClient) -> None:
    add_price(api)
    assert len(hosted(api)) == 1
    assert hosted(other_api) == []


def test_the_page_shows_the_rows_under_the_options(api: ApiClient, pages: TestClient) -> None:
    budget = {"amount": "500", "period": "total", "starts_on": "2026-10-01"}
    project = api.post("/projects", json={"name": "中文问答", "currency": "CNY", "budget": budget}).json()
    path = f"/projects/{project['id']}/plans/search"
    query = {"model": "llama-7b", "workload.samples": "20000", "workload.mean_tokens": "300", "budget": "50"}
    page = pages.get(path, params=query).text
    assert "Hosted fine-tuning, by the token" in page
    assert "6,000,000" in page
    assert "within budget" in page
    without = pages.get(path, params={"model": "llama-7b"}).text
    assert "Hosted fine-tuning" not in without
