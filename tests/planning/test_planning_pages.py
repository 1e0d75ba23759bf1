"""What the pages of planning say beside their figures."""

import re
from typing import Any

import pytest

from app.accounts.models import Team
from tests.fixtures.clients import ApiClient, Clients

# Words and order; what is stored is tested elsewhere.
pytestmark = pytest.mark.one_database

BUDGET = {"amount": "500", "period": "total", "starts_on": "2026-10-01"}
JOB = {"model": "llama-7b", "sequence_length": "512", "workload.samples": "2000", "workload.epochs": "1"}


def offer(api: ApiClient, gpu: str, currency: str) -> None:
    price = {"amount": "3", "currency": currency}
    body = {"provider": "lab", "instance_type": "box", "gpu": gpu, "price_per_hour": price}
    assert api.post("/catalog/offers", json=body).status_code == 201


def page_of(api: ApiClient, clients: Clients, team: Team, name: str = "QA", **fields: Any) -> str:
    project = api.post("/projects", json={"name": name, "currency": "CNY", "budget": BUDGET}).json()["id"]
    answer = clients.pages(team).get(f"/projects/{project}/plans/search", params=JOB | {"providers": "lab"} | fields)
    assert answer.status_code == 200
    return answer.text


def test_what_fits_with_little_room_says_so(api: ApiClient, clients: Clients, team: Team) -> None:
    offer(api, "rtx-2080ti", "CNY")
    job = {"model": "llama-7b", "method": "qlora", "sequence_length": 512, "workload": {"samples": 2000}}
    options = api.post("/plans/search", json=job | {"providers": ["lab"]}).json()["options"]
    memories = [option["memory"] for option in options if option["memory"]["fits"]]
    tight = [memory["interval_bytes"][1] > memory["capacity_bytes"] for memory in memories]
    assert True in tight
    assert "little room" in page_of(api, clients, team, method="qlora")


def test_what_has_room_comes_before_what_has_little(api: ApiClient, clients: Clients, team: Team) -> None:
    text = page_of(api, clients, team, providers="autodl")
    rows = re.findall(r"<tr>.*?</tr>", text.partition("<tbody>")[2], re.DOTALL)
    fits = [row for row in rows if "does not fit" not in row and "beyond the limits" not in row]
    tight = ["little room" in row for row in fits]
    assert set(tight) == {True, False}
    assert tight == sorted(tight)
    assert "Cheapest with room to spare: " in text


def test_a_currency_without_a_current_rate_is_named_before_anything_is_planned(
    api: ApiClient, clients: Clients, team: Team
) -> None:
    offer(api, "a10", "USD")
    words = "Before an offer in USD can be planned, a rate of the last seven days must be entered"
    assert words in page_of(api, clients, team)
    rate = {"from": "USD", "to": "CNY", "date": "2026-12-01", "rate": "7.1"}
    assert api.post("/rates", json=rate).status_code in (200, 201)
    assert words not in page_of(api, clients, team, "QA with a rate")


def test_ids_go_by_their_names(api: ApiClient, clients: Clients, team: Team) -> None:
    text = page_of(api, clients, team, providers="gpushare")
    assert "GPUShare" in text
    assert "· China" in text


def test_an_approval_that_exceeds_the_budget_says_by_how_much(api: ApiClient, clients: Clients, team: Team) -> None:
    path = f"/projects/{api.post('/projects', json={'name': 'QA', 'currency': 'CNY', 'budget': BUDGET}).json()['id']}"
    price = {"per_hour": "3.00", "currency": "CNY"}
    job = {"model": "gpt2", "method": "full", "gpu": "t4", "price": price, "planned_hours": 100}
    pages = clients.pages(team)
    for name, words in (("one", "its cost is set aside"), ("two", "the budget is exceeded by CNY 100.00")):
        plan = api.post(f"{path}/plans", json=job | {"name": name}).json()["id"]
        assert pages.post(f"{path}/plans/{plan}/approve").status_code == 303
        assert words in pages.get(f"{path}/plans/{plan}").text
