"""Credits that are paid from a voucher: what may be taken, on which day, and that no two take the same money."""

import random
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.accounts.models import Team
from tests.catalog.test_races import at_once
from tests.catalog.test_vouchers import add, fields_of
from tests.fixtures.clients import ApiClient, Clients
from tests.tracking.stories import CHARGE, change, figures, log_charge, make_project
from tests.tracking.test_pages import CHARGE_FORM, shown_values, text_of

CREDIT: dict[str, Any] = CHARGE | {
    "category": "credit",
    "amount": {"amount": "-30.00", "currency": "CNY"},
    "period_start": "2026-11-02T09:00:00+08:00",
    "period_end": "2026-11-02T09:00:00+08:00",
}


def yuan(amount: str, currency: str = "CNY") -> dict[str, str]:
    return {"amount": amount, "currency": currency}


@pytest.fixture
def project_id(api: ApiClient) -> int:
    return make_project(api)


@pytest.fixture
def voucher_id(api: ApiClient) -> int:
    """CNY 50 of Alibaba from 1 October to 31 December 2026."""
    return int(add(api)["id"])


def remaining(api: ApiClient, voucher_id: int) -> str:
    amount: str = api.get(f"/catalog/vouchers/{voucher_id}").json()["remaining"]["amount"]
    return amount


def pay(api: ApiClient, project_id: int, voucher_id: int | None, amount: str = "-30", **changes: Any) -> Any:
    body = CREDIT | {"voucher_id": voucher_id, "amount": yuan(amount)} | changes
    return api.post(f"/projects/{project_id}/charges", json=body)


def test_what_is_left_falls_by_a_credit_and_comes_back(api: ApiClient, project_id: int, voucher_id: int) -> None:
    log_charge(api, project_id, amount=yuan("40.00"))
    made = pay(api, project_id, voucher_id)
    assert (made.status_code, made.json()["voucher_id"]) == (201, voucher_id)
    assert remaining(api, voucher_id) == "20.00"
    assert figures(api, project_id)["spent"]["amount"] == "10.00"
    path = f"/projects/{project_id}/charges/{made.json()['id']}"
    assert change(api, path, amount=yuan("-12.34"))["voucher_id"] == voucher_id
    assert remaining(api, voucher_id) == "37.66"
    assert change(api, path, voucher_id=None)["voucher_id"] is None
    assert remaining(api, voucher_id) == "50.00"
    assert change(api, path, voucher_id=voucher_id)["version"] == 4
    items = api.get(f"/projects/{project_id}/charges").json()["items"]
    assert [item["voucher_id"] for item in items] == [None, voucher_id]
    assert api.delete(path, headers={"If-Match": "*"}).status_code == 204
    assert remaining(api, voucher_id) == "50.00"


def test_all_of_it_can_be_taken_and_not_a_cent_more(api: ApiClient, project_id: int, voucher_id: int) -> None:
    made = pay(api, project_id, voucher_id)
    other = make_project(api, "another")
    assert fields_of(pay(api, other, voucher_id, "-20.000001")) == ["amount.amount"]
    assert pay(api, other, voucher_id, "-20").status_code == 201
    assert api.get(f"/catalog/vouchers/{voucher_id}").json()["state"] == "used_up"
    path = f"/projects/{project_id}/charges/{made.json()['id']}"
    more = api.patch(path, json={"amount": yuan("-30.01")}, headers={"If-Match": "*"})
    assert fields_of(more) == ["amount.amount"]
    assert "only CNY 30.00 left" in more.text
    assert change(api, path, amount=yuan("-29"), note="less")["amount"]["amount"] == "-29.00"
    assert remaining(api, voucher_id) == "1.00"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"category": "adjustment"}, "voucher_id"),
        ({"category": "usage", "amount": yuan("5")}, "voucher_id"),
        ({"amount": yuan("-5", "USD"), "exchange_rate": {"rate": "7", "date": "2026-11-02"}}, "voucher_id"),
        ({"amount": yuan("-50.01")}, "amount.amount"),
        ({"voucher_id": 10**9}, "voucher_id"),
        ({"voucher_id": 0}, "voucher_id"),
        # 30 September 23:59 in the team's zone.
        ({"period_start": "2026-09-30T15:59:59Z"}, "voucher_id"),
    ],
)
def test_what_a_voucher_cannot_pay_is_refused_and_takes_nothing(
    api: ApiClient, project_id: int, voucher_id: int, changes: dict[str, Any], field: str
) -> None:
    body = CREDIT | {"voucher_id": voucher_id} | changes
    refused = api.post(f"/projects/{project_id}/charges", json=body)
    assert (refused.status_code, fields_of(refused)) == (422, [field])
    assert api.get(f"/projects/{project_id}/charges").json()["items"] == []
    assert remaining(api, voucher_id) == "50.00"
    plain = api.post(f"/projects/{project_id}/charges", json=CREDIT).json()
    path = f"/projects/{project_id}/charges/{plain['id']}"
    patched = api.patch(path, json={"voucher_id": voucher_id} | changes, headers={"If-Match": "*"})
    assert (patched.status_code, fields_of(patched)) == (422, [field])
    assert api.get(path).json() == plain


@pytest.mark.parametrize("instant", ["2026-09-30T16:00:00Z", "2026-10-01T00:00:00+08:00"])
def test_the_first_day_is_that_of_the_teams_zone(
    api: ApiClient, project_id: int, voucher_id: int, instant: str
) -> None:
    assert pay(api, project_id, voucher_id, period_start=instant).status_code == 201


def test_the_last_day_is_valid_to_its_end(api: ApiClient, project_id: int) -> None:
    ends = int(add(api, valid_until="2026-11-02")["id"])
    end = {"period_end": "2026-11-03T00:00:00+08:00"}
    assert pay(api, project_id, ends, "-1", period_start="2026-11-02T23:59:59+08:00", **end).status_code == 201
    refused = pay(api, project_id, ends, "-1", period_start="2026-11-03T00:00:00+08:00", **end)
    assert "not valid on 2026-11-03" in refused.text


def test_another_teams_voucher_is_none(api: ApiClient, other_api: ApiClient, project_id: int) -> None:
    theirs = int(add(other_api)["id"])
    refused = pay(api, project_id, theirs)
    assert fields_of(refused) == ["voucher_id"]
    assert "There is no such voucher." in refused.text
    assert remaining(other_api, theirs) == "50.00"


def test_from_one_voucher_to_another(api: ApiClient, project_id: int, voucher_id: int) -> None:
    second = int(add(api, amount=yuan("10"))["id"])
    path = f"/projects/{project_id}/charges/{pay(api, project_id, voucher_id).json()['id']}"
    refused = api.patch(path, json={"voucher_id": second}, headers={"If-Match": "*"})
    assert fields_of(refused) == ["amount.amount"]
    change(api, path, voucher_id=second, amount=yuan("-10"))
    assert (remaining(api, voucher_id), remaining(api, second)) == ("50.00", "0.00")


def test_a_charge_outlives_its_voucher(api: ApiClient, project_id: int, voucher_id: int) -> None:
    path = f"/projects/{project_id}/charges/{pay(api, project_id, voucher_id).json()['id']}"
    assert api.delete(f"/catalog/vouchers/{voucher_id}", headers={"If-Match": "*"}).status_code == 204
    assert fields_of(pay(api, project_id, voucher_id, "-1")) == ["voucher_id"]
    kept = change(api, path, note="still paid")
    assert (kept["note"], kept["voucher_id"]) == ("still paid", voucher_id)
    assert change(api, path, amount=yuan("-50"))["amount"]["amount"] == "-50.00"
    refused = api.patch(path, json={"amount": yuan("-50.01")}, headers={"If-Match": "*"})
    assert fields_of(refused) == ["amount.amount"]


def test_a_later_validity_moves_nothing_that_was_paid(api: ApiClient, project_id: int, voucher_id: int) -> None:
    path = f"/projects/{project_id}/charges/{pay(api, project_id, voucher_id).json()['id']}"
    change(api, f"/catalog/vouchers/{voucher_id}", valid_from="2026-12-01")
    assert change(api, path, note="still paid")["voucher_id"] == voucher_id
    refused = api.patch(path, json={"amount": yuan("-29")}, headers={"If-Match": "*"})
    assert fields_of(refused) == ["voucher_id"]


def test_a_voucher_keeps_amount_and_currency_of_its_uses(api: ApiClient, project_id: int, voucher_id: int) -> None:
    pay(api, project_id, voucher_id)
    path = f"/catalog/vouchers/{voucher_id}"
    less = api.patch(path, json={"amount": yuan("29.99")}, headers={"If-Match": "*"})
    assert (fields_of(less), "CNY 30.00 of it is used already." in less.text) == (["amount.amount"], True)
    assert fields_of(api.patch(path, json={"amount": yuan("50", "USD")}, headers={"If-Match": "*"})) == [
        "amount.currency"
    ]
    assert change(api, path, amount=yuan("30"))["remaining"]["amount"] == "0.00"


def test_a_budget_that_blocks_leaves_the_voucher_alone(api: ApiClient, voucher_id: int) -> None:
    project_id = make_project(api, amount="10", block_when_spent=True)
    credit = pay(api, project_id, voucher_id).json()
    log_charge(api, project_id, amount=yuan("40"))
    gone = api.delete(f"/projects/{project_id}/charges/{credit['id']}", headers={"If-Match": "*"})
    assert (gone.status_code, remaining(api, voucher_id)) == (409, "20.00")


def test_of_credits_at_the_same_moment_one_gets_the_money(clients: Clients, team: Team, api: ApiClient) -> None:
    voucher_id = int(add(api)["id"])
    projects = [make_project(api, f"QA {number}") for number in range(4)]
    apis = [clients.api(team, "editor") for _ in projects]
    calls: list[Callable[[], Any]] = [
        partial(pay, one, project, voucher_id) for one, project in zip(apis, projects, strict=True)
    ]
    assert at_once(calls) == [201, 422, 422, 422]
    assert remaining(api, voucher_id) == "20.00"
    spent = sorted(figures(api, project)["spent"]["amount"] for project in projects)
    assert spent == ["-30.00", "0.00", "0.00", "0.00"]


def test_a_voucher_is_not_made_smaller_under_a_credit(clients: Clients, team: Team, project_id: int) -> None:
    first, second = clients.api(team, "editor"), clients.api(team, "editor")
    made = first.post("/catalog/vouchers", json={"amount": yuan("50")})
    path, headers = made.headers["location"], {"If-Match": made.headers["etag"]}
    statuses = at_once(
        [
            lambda: pay(first, project_id, made.json()["id"]),
            lambda: second.patch(path, json={"amount": yuan("25")}, headers=headers),
        ]
    )
    assert statuses in ([200, 422], [201, 422])
    left = first.get(path).json()
    assert (left["amount"]["amount"], left["remaining"]["amount"]) in (("50.00", "20.00"), ("25.00", "25.00"))


def test_whatever_is_done_the_voucher_has_what_its_live_credits_left(
    api: ApiClient, pages: TestClient, voucher_id: int
) -> None:
    chance = random.Random(7)
    projects = [make_project(api, "one"), make_project(api, "two")]
    live: dict[str, Decimal] = {}
    deleted: dict[str, Decimal] = {}
    for _ in range(60):
        amount = Decimal(chance.randint(0, 2500)) / 100
        fits = sum(live.values()) + amount <= 50
        paths = sorted(live)
        match chance.choice(["pay", "change", "delete", "restore"]):
            case "pay":
                answer = pay(api, project := chance.choice(projects), voucher_id, f"-{amount}")
                assert (answer.status_code == 201) == fits
                if fits:
                    live[f"/projects/{project}/charges/{answer.json()['id']}"] = amount
            case "change" if paths:
                path = chance.choice(paths)
                fits = sum(live.values()) - live[path] + amount <= 50
                answer = api.patch(path, json={"amount": yuan(f"-{amount}")}, headers={"If-Match": "*"})
                assert answer.status_code == (200 if fits else 422)
                live[path] = amount if fits else live[path]
            case "delete" if paths:
                path = chance.choice(paths)
                assert api.delete(path, headers={"If-Match": "*"}).status_code == 204
                deleted[path] = live.pop(path)
            case "restore" if deleted:
                path = chance.choice(sorted(deleted))
                fits = sum(live.values()) + deleted[path] <= 50
                assert pages.post(f"{path}/restore").status_code == (303 if fits else 409)
                if fits:
                    live[path] = deleted.pop(path)
        assert Decimal(remaining(api, voucher_id)) == 50 - sum(live.values())


def test_a_credit_that_comes_back_is_paid_once_more_or_not_at_all(
    pages: TestClient, api: ApiClient, project_id: int, voucher_id: int
) -> None:
    path = f"/projects/{project_id}/charges/{pay(api, project_id, voucher_id).json()['id']}"
    assert pages.post(f"{path}/delete", data={"version": "1"}).status_code == 303
    assert remaining(api, voucher_id) == "50.00"
    for _ in range(2):  # once more is no error and changes nothing
        assert pages.post(f"{path}/restore").status_code == 303
    assert (remaining(api, voucher_id), api.get(path).json()["voucher_id"]) == ("20.00", voucher_id)
    assert pages.post(f"{path}/delete", data={"version": "3"}).status_code == 303
    assert pay(api, project_id, voucher_id, "-20.01").status_code == 201
    refused = pages.post(f"{path}/restore")
    assert (refused.status_code, "only CNY 29.99 left" in text_of(refused.text)) == (409, True)
    assert (api.get(path).status_code, remaining(api, voucher_id)) == (404, "29.99")


def test_the_form_offers_vouchers_with_something_left(pages: TestClient, api: ApiClient, project_id: int) -> None:
    form, path = f"/projects/{project_id}/charges/new", f"/projects/{project_id}/charges"
    assert 'name="voucher_id"' not in pages.get(form).text
    voucher_id = int(add(api)["id"])
    assert "alibaba · CNY 50.00 left · until 31 Dec 2026" in text_of(pages.get(form).text)
    refused = pages.post(path, data=CHARGE_FORM | {"voucher_id": str(voucher_id), "amount.amount": "-50.01"})
    assert (refused.status_code, "only CNY 50.00 left" in text_of(refused.text)) == (422, True)
    assert pages.post(path, data=CHARGE_FORM | {"voucher_id": str(voucher_id), "amount.amount": "-50"}).is_redirect
    assert 'name="voucher_id"' not in pages.get(form).text
    assert "From the voucher of alibaba" in text_of(pages.get(path).text)


def test_the_form_keeps_the_voucher_that_a_charge_has(
    pages: TestClient, api: ApiClient, project_id: int, voucher_id: int
) -> None:
    made = pay(api, project_id, voucher_id, "-50").json()
    path = f"/projects/{project_id}/charges/{made['id']}"
    api.delete(f"/catalog/vouchers/{voucher_id}", headers={"If-Match": "*"})
    values = shown_values(pages.get(f"{path}/edit").text)
    assert values["voucher_id"] == str(voucher_id)
    assert pages.post(path, data=values).is_redirect
    assert api.get(path).json() == made
    assert pages.post(path, data=values | {"voucher_id": ""}).is_redirect
    assert api.get(path).json()["voucher_id"] is None
    row = pages.get(path, headers={"HX-Request": "true", "HX-Request-Type": "partial"})
    assert "From the voucher" not in row.text


PLAN: dict[str, Any] = {
    "name": "plan",
    "model": "llama-7b",
    "method": "qlora",
    "workload": {"train_tokens": 1_000_000},
    "planned_hours": 10,
    "starts_on": "2026-12-10",
}


def plan_line(api: ApiClient, pages: TestClient, project_id: int, **changes: Any) -> str:
    offer = {
        "provider": "Alibaba", "instance_type": "box", "gpu": "a10",
        "price_per_hour": {"amount": "3.20", "currency": "CNY"},
    }  # fmt: skip
    offer_id = api.post("/catalog/offers", json=offer).json()["id"]
    made = api.post(f"/projects/{project_id}/plans", json=PLAN | {"offer_id": offer_id} | changes)
    assert made.status_code == 201, made.text
    text = text_of(pages.get(f"/projects/{project_id}/plans/{made.json()['id']}").text)
    found = text.partition("A voucher can pay ")[2].partition(" of it")
    return f"{found[0]}{found[2].partition('.')[0]}"


def test_a_plan_says_what_a_voucher_can_pay(
    pages: TestClient, api: ApiClient, project_id: int, voucher_id: int
) -> None:
    # Ten hours at 3.20 are 32.00 of the voucher's 50.00; of it 30.00 are taken then, and 20.00 left.
    assert plan_line(api, pages, project_id) == "CNY 32.00 (until 31 Dec 2026)"
    pay(api, project_id, voucher_id)
    assert plan_line(api, pages, project_id) == "CNY 20.00 (until 31 Dec 2026)"
    assert plan_line(api, pages, project_id, starts_on="2027-01-01") == ""
    assert plan_line(api, pages, project_id, planned_hours=1) == "CNY 3.20 (until 31 Dec 2026)"
    add(api, provider="", amount=yuan("25"), valid_until=None)
    assert plan_line(api, pages, project_id) == "CNY 25.00"


def test_a_plan_knows_which_vouchers_are_not_for_it(pages: TestClient, api: ApiClient, project_id: int) -> None:
    add(api, provider="tencent")
    add(api, amount=yuan("50", "USD"))
    assert plan_line(api, pages, project_id) == ""
    add(api, provider="ALIBABA")
    assert plan_line(api, pages, project_id) == "CNY 32.00 (until 31 Dec 2026)"
    own = {"per_hour": "3.20", "currency": "CNY", "billing": "on_demand"}
    assert plan_line(api, pages, project_id, offer_id=None, gpu="a10", price=own) == ""
