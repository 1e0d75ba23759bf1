"""What happens to a run or a charge afterwards: what stays, what moves, what is marked."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlmodel import Session, col, select

from app.accounts.models import AuditEvent, Team
from app.db import Database
from tests.fixtures.clients import ApiClient, Clients
from tests.tracking.stories import CHARGE, RUN, change, figures, log_charge, log_run, make_project

OFFER: dict[str, Any] = {
    "provider": "tencent",
    "instance_type": "PNV4.7XLARGE116",
    "gpu": "a10",
    "gpu_count": 1,
    "billing": "spot",
    "price_per_hour": {"amount": "3.20", "currency": "CNY"},
}
AT_THE_OFFERS_PRICE = {name: value for name, value in RUN.items() if name != "price_per_hour"}


@pytest.fixture
def project_id(api: ApiClient) -> int:
    return make_project(api)


@pytest.fixture
def offer_id(api: ApiClient) -> int:
    return int(api.post("/catalog/offers", json=OFFER).json()["id"])


def runs(project_id: int) -> str:
    return f"/projects/{project_id}/runs"


def test_a_run_outlives_its_offer(api: ApiClient, project_id: int, offer_id: int) -> None:
    run = log_run(api, project_id, **AT_THE_OFFERS_PRICE, offer_id=offer_id, price_per_hour=None)
    assert api.delete(f"/catalog/offers/{offer_id}", headers={"If-Match": "*"}).status_code == 204
    changed = change(
        api, f"{runs(project_id)}/{run['id']}", note="still mine", ended_at="2026-11-02T19:00:00+08:00"
    )
    assert (changed["note"], changed["offer_id"]) == ("still mine", offer_id)
    assert changed["cost"]["amount"] == "32.00"
    refused = api.post(runs(project_id), json=AT_THE_OFFERS_PRICE | {"offer_id": offer_id})
    assert [error["field"] for error in refused.json()["errors"]] == ["offer_id"]


def test_another_offer_brings_its_price_and_hardware(api: ApiClient, project_id: int, offer_id: int) -> None:
    run = log_run(api, project_id, gpu="t4", price_per_hour={"amount": "1.00", "currency": "CNY"})
    changed = change(api, f"{runs(project_id)}/{run['id']}", offer_id=offer_id)
    assert (changed["cost"]["amount"], changed["gpu"], changed["billing"]) == ("38.40", "a10", "spot")


def test_a_price_given_beside_an_offer_wins(api: ApiClient, project_id: int, offer_id: int) -> None:
    run = log_run(api, project_id, offer_id=offer_id, price_per_hour={"amount": "3.00", "currency": "CNY"})
    assert (run["cost"]["amount"], run["gpu"], run["offer_id"]) == ("36.00", "a10", offer_id)


def test_an_offer_without_a_price_needs_one(api: ApiClient, project_id: int) -> None:
    offers = api.get("/catalog/offers", params={"provider": "tencent", "gpu": "a10"}).json()["items"]
    unpriced = next(offer["id"] for offer in offers if offer["price_per_hour"] is None)
    refused = api.post(runs(project_id), json=AT_THE_OFFERS_PRICE | {"offer_id": unpriced})
    assert [error["field"] for error in refused.json()["errors"]] == ["offer_id"]
    assert log_run(api, project_id, offer_id=unpriced)["gpu"] == "a10"


def test_another_teams_offer_is_none(api: ApiClient, other_api: ApiClient, project_id: int) -> None:
    theirs = other_api.post("/catalog/offers", json=OFFER).json()["id"]
    refused = api.post(runs(project_id), json=AT_THE_OFFERS_PRICE | {"offer_id": theirs})
    assert [error["field"] for error in refused.json()["errors"]] == ["offer_id"]


def test_a_repeated_put_moves_no_price(api: ApiClient, project_id: int, offer_id: int) -> None:
    path, body = f"{runs(project_id)}/by-external-id/r-1", AT_THE_OFFERS_PRICE | {"offer_id": offer_id}
    first = api.put(path, json=body)
    price = {"amount": "9.00", "currency": "CNY"}
    change(api, f"/catalog/offers/{offer_id}", price_per_hour=price)
    again = api.put(path, json=body)
    assert (again.status_code, again.json()["cost"]["amount"]) == (200, "38.40")
    assert again.headers["etag"] == first.headers["etag"]


def test_ids_of_ones_own_can_hold_slashes_and_chinese(api: ApiClient, project_id: int) -> None:
    path = f"{runs(project_id)}/by-external-id/%E5%AE%9E%E9%AA%8C%2F17"
    made = api.put(path, json=RUN)
    assert (made.status_code, made.json()["external_id"]) == (201, "实验/17")
    assert api.put(path, json=RUN | {"external_id": "another"}).status_code == 422
    assert api.put(f"{runs(project_id)}/by-external-id/a%00b", json=RUN).status_code == 422
    assert api.put(f"{runs(project_id)}/by-external-id/{'x' * 201}", json=RUN).status_code == 422


def test_a_deleted_run_gives_its_external_id_up(api: ApiClient, project_id: int) -> None:
    first = log_run(api, project_id, external_id="r-1")
    twin = api.post(runs(project_id), json=RUN | {"external_id": "r-1"})
    assert [error["field"] for error in twin.json()["errors"]] == ["external_id"]
    assert api.delete(f"{runs(project_id)}/{first['id']}", headers={"If-Match": "*"}).status_code == 204
    second = log_run(api, project_id, external_id="r-1")
    put = api.put(f"{runs(project_id)}/by-external-id/r-1", json=RUN)
    assert (put.status_code, put.json()["id"]) == (200, second["id"])


def test_a_patch_is_judged_as_a_whole(api: ApiClient, project_id: int) -> None:
    run = log_run(api, project_id, lost_hours=6)
    path = f"{runs(project_id)}/{run['id']}"
    for changes, field in [
        ({"ended_at": "2026-11-02T14:00:00+08:00"}, "lost_hours"),
        ({"started_at": "2026-11-02T22:00:00+08:00"}, "ended_at"),
        ({"ended_at": None}, "ended_at"),
        ({"state": "running"}, "state"),
        ({"ended_at": "2026-11-02T20:00:00+08:00", "hours": 3}, "hours"),
        ({"name": None}, "name"),
        ({"price_per_hour": None}, "price_per_hour"),
    ]:
        refused = api.patch(path, json=changes, headers={"If-Match": "*"})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field)
    reopened = change(api, path, ended_at=None, state="running")
    assert (reopened["state"], reopened["hours"], reopened["cost"]["amount"]) == ("running", 0.0, "0.00")
    assert figures(api, project_id)["hours"] == 0.0


def test_hours_take_the_place_of_an_end(api: ApiClient, project_id: int) -> None:
    run = log_run(api, project_id)
    changed = change(api, f"{runs(project_id)}/{run['id']}", hours=1.5)
    assert (changed["ended_at"], changed["cost"]["amount"]) == ("2026-11-02T02:30:00Z", "4.80")


def test_a_patch_that_changes_nothing_is_no_new_version(api: ApiClient, project_id: int) -> None:
    run = log_run(api, project_id, note="as it was")
    assert change(api, f"{runs(project_id)}/{run['id']}", note="as it was")["version"] == run["version"]


def test_a_rate_is_that_of_the_runs_day(api: ApiClient, project_id: int) -> None:
    for day, rate in (("2026-11-01", "7.10"), ("2026-11-05", "7.30")):
        api.post("/rates", json={"from": "USD", "to": "CNY", "date": day, "rate": rate})
    run = log_run(api, project_id, price_per_hour={"amount": "1.00", "currency": "USD"})
    path = f"{runs(project_id)}/{run['id']}"
    assert run["cost_in_project_currency"] == {"amount": "85.20", "currency": "CNY"}
    assert run["exchange_rate_source"] == "entered by the team"
    api.post("/rates", json={"from": "USD", "to": "CNY", "date": "2026-11-02", "rate": "9.00"})
    assert change(api, path, note="x")["exchange_rate"]["rate"] == "7.10"
    moved = change(api, path, started_at="2026-11-06T09:00:00+08:00", hours=12)
    assert (moved["exchange_rate"]["rate"], moved["cost_in_project_currency"]["amount"]) == ("7.30", "87.60")
    given = change(api, path, exchange_rate={"rate": "7.00", "date": "2026-11-06"})
    assert given["cost_in_project_currency"]["amount"] == "84.00"
    assert change(api, path, started_at="2026-11-01T09:00:00+08:00")["exchange_rate"]["rate"] == "7.00"
    assert change(api, path, exchange_rate=None)["exchange_rate"]["rate"] == "7.10"


def test_a_currency_without_a_rate_is_refused(api: ApiClient, project_id: int) -> None:
    run = RUN | {"price_per_hour": {"amount": "1.00", "currency": "KWD"}}
    refused = api.post(runs(project_id), json=run)
    assert [error["field"] for error in refused.json()["errors"]] == ["exchange_rate"]
    for rate, field in (
        ("0", "exchange_rate.rate"),
        ("-1", "exchange_rate.rate"),
        (7.1, "exchange_rate.rate"),
    ):
        wrong = run | {"exchange_rate": {"rate": rate, "date": "2026-11-02"}}
        assert [error["field"] for error in api.post(runs(project_id), json=wrong).json()["errors"]] == [
            field
        ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"price_per_hour": {"amount": "100000000000", "currency": "CNY"}}, "price_per_hour"),
        ({"instance_count": 100_000, "gpus_per_instance": 100_000}, "instance_count"),
        ({"started_at": "1980-01-01T00:00:00Z"}, "ended_at"),
        ({"hours": 1e300, "ended_at": None}, "hours"),
        ({"started_at": "9998-12-31T00:00:00Z", "ended_at": None, "hours": 87_840}, "started_at"),
    ],
)
def test_what_is_too_large_to_be_true_is_refused(
    api: ApiClient, project_id: int, changes: dict[str, Any], field: str
) -> None:
    answer = api.post(runs(project_id), json=RUN | changes)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


def test_a_mark_past_the_budget_stays_until_there_is_room(api: ApiClient) -> None:
    project_id = make_project(api, amount="40")
    log_run(api, project_id)
    run = log_run(api, project_id)
    path = f"{runs(project_id)}/{run['id']}"
    assert run["flags"] == ["overlap", "over_budget"]
    assert "over_budget" in change(api, path, note="x")["flags"]
    assert "over_budget" in change(api, path, hours=1)["flags"]
    assert (
        "over_budget" not in change(api, path, hours=0.5)["flags"]
    )  # 38.40 + 1.60 = 40.00: used up, not over


def test_a_blocked_budget_lets_spend_be_lowered_and_not_raised(api: ApiClient) -> None:
    project_id = make_project(api, amount="40", block_when_spent=True)
    run = log_run(api, project_id)
    path = f"{runs(project_id)}/{run['id']}"
    raised = api.patch(path, json={"hours": 13}, headers={"If-Match": "*"})
    assert (raised.status_code, raised.json()["type"]) == (409, "budget-exceeded")
    assert api.get(path).json()["hours"] == 12.0
    assert change(api, path, hours=12.5)["cost"]["amount"] == "40.00"
    assert change(api, path, hours=2)["cost"]["amount"] == "6.40"
    put = api.put(f"{runs(project_id)}/by-external-id/r-1", json=RUN)
    assert put.status_code == 409
    assert [item["id"] for item in api.get(runs(project_id)).json()["items"]] == [run["id"]]


def test_a_credit_that_a_blocked_budget_needs_cannot_be_taken_away(api: ApiClient) -> None:
    project_id = make_project(api, amount="30", block_when_spent=True)
    credit = log_charge(api, project_id, category="credit", amount={"amount": "-10", "currency": "CNY"})
    log_run(api, project_id)  # 38.40 − 10 = 28.40
    path = f"/projects/{project_id}/charges/{credit['id']}"
    refused = api.delete(path, headers={"If-Match": "*"})
    assert (refused.status_code, refused.json()["type"]) == (409, "budget-exceeded")
    assert (
        api.patch(
            path, json={"amount": {"amount": "-8", "currency": "CNY"}}, headers={"If-Match": "*"}
        ).status_code
        == 409
    )
    assert figures(api, project_id)["spent"]["amount"] == "28.40"


def test_of_two_changes_to_one_version_the_second_is_refused(
    clients: Clients, team: Team, api: ApiClient, project_id: int
) -> None:
    run = log_run(api, project_id)
    apis, start = [clients.api(team, "editor"), clients.api(team, "editor")], threading.Barrier(2)

    def patch(one: ApiClient) -> int:
        start.wait()
        headers = {"If-Match": '"1"'}
        return int(
            one.patch(f"{runs(project_id)}/{run['id']}", json={"hours": 2}, headers=headers).status_code
        )

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(patch, apis)) == [200, 412]
    assert figures(api, project_id)["spent"]["amount"] == "6.40"


def test_a_deleted_run_overlaps_nothing(api: ApiClient, project_id: int) -> None:
    first, second = log_run(api, project_id), log_run(api, project_id)
    assert second["flags"] == ["overlap"]
    assert api.delete(f"{runs(project_id)}/{first['id']}", headers={"If-Match": "*"}).status_code == 204
    assert api.get(f"{runs(project_id)}/{second['id']}").json()["flags"] == []


def test_overlaps_are_found_across_projects_but_not_across_teams(
    api: ApiClient, other_api: ApiClient, project_id: int
) -> None:
    elsewhere = make_project(api, name="Another")
    run = log_run(api, project_id)
    log_run(other_api, make_project(other_api))
    assert api.get(f"{runs(project_id)}/{run['id']}").json()["flags"] == []
    log_run(api, elsewhere)
    assert api.get(f"{runs(project_id)}/{run['id']}").json()["flags"] == ["overlap"]


def test_a_charge_in_dollars(api: ApiClient, project_id: int) -> None:
    rate = {"rate": "7.10", "date": "2026-11-02"}
    charge = log_charge(api, project_id, amount={"amount": "2.00", "currency": "USD"}, exchange_rate=rate)
    assert charge["amount"] == charge["list_amount"] == {"amount": "2.00", "currency": "USD"}
    assert charge["amount_in_project_currency"] == {"amount": "14.20", "currency": "CNY"}
    assert figures(api, project_id)["spent"]["amount"] == "14.20"


def test_a_list_price_of_its_own_stays_when_the_amount_changes(api: ApiClient, project_id: int) -> None:
    charge = log_charge(api, project_id, list_amount={"amount": "8.00", "currency": "CNY"})
    path = f"/projects/{project_id}/charges/{charge['id']}"
    assert change(api, path, amount={"amount": "5.00", "currency": "CNY"})["list_amount"]["amount"] == "8.00"
    project = figures(api, project_id)
    assert (project["spent_list"]["amount"], project["spent_billed"]["amount"]) == ("8.00", "5.00")


def test_every_change_leaves_an_event(api: ApiClient, database: Database, project_id: int) -> None:
    run, charge = log_run(api, project_id, external_id="r-1"), log_charge(api, project_id)
    for kind, row in (("runs", run), ("charges", charge)):
        path = f"/projects/{project_id}/{kind}/{row['id']}"
        change(api, path, note="x")
        assert api.delete(path, headers={"If-Match": "*"}).status_code == 204
    assert api.put(f"{runs(project_id)}/by-external-id/r-1", json=RUN).status_code == 200
    with database.read() as session:
        assert events(session, "run") == ["created", "changed", "deleted", "restored"]
        assert events(session, "charge") == ["created", "changed", "deleted"]


def events(session: Session, subject: str) -> list[str]:
    statement = select(AuditEvent).where(col(AuditEvent.subject_type) == subject).order_by(col(AuditEvent.id))
    return [event.action for event in session.exec(statement)]


def test_ten_years_are_the_longest_a_charge_covers(api: ApiClient, project_id: int) -> None:
    for end, status in (("2036-11-01T00:00:00+08:00", 201), ("2037-11-01T00:00:00+08:00", 422)):
        assert (
            api.post(f"/projects/{project_id}/charges", json=CHARGE | {"period_end": end}).status_code
            == status
        )
