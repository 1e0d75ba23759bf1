"""Runs and charges by the JSON API: hours, money, budgets, races, the order of checks."""

import threading
from typing import Any

import pytest

from tests.fixtures.clients import ApiClient

PROJECT = {
    "name": "QA",
    "currency": "CNY",
    "target": "300",
    "budget": {"amount": "500", "period": "total", "starts_on": "2026-10-01"},
}
RUN = {
    "name": "sft-1",
    "instance": "ins-ab12",
    "price_per_hour": {"amount": "3.20", "currency": "CNY"},
    "started_at": "2026-11-02T09:00:00+08:00",
    "ended_at": "2026-11-02T21:00:00+08:00",
}


def make_project(api: ApiClient, **changes: Any) -> int:
    answer = api.post("/projects", json=PROJECT | changes)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def blocking(amount: str) -> dict[str, Any]:
    return {"budget": {**PROJECT["budget"], "amount": amount, "block_when_spent": True}}  # type: ignore[dict-item]


@pytest.fixture
def project_id(api: ApiClient) -> int:
    return make_project(api)


def figures(api: ApiClient, project_id: int) -> dict[str, Any]:
    answer: dict[str, Any] = api.get(f"/projects/{project_id}").json()
    return answer


def test_twelve_hours_at_3_20_are_38_40(api: ApiClient, project_id: int) -> None:
    answer = api.post(f"/projects/{project_id}/runs", json=RUN)
    assert answer.status_code == 201
    run = answer.json()
    assert (run["hours"], run["instance_hours"], run["gpu_hours"]) == (12.0, 12.0, 12.0)
    assert run["cost"] == {"amount": "38.40", "currency": "CNY"}
    assert run["state"] == "finished"
    assert run["started_at"] == "2026-11-02T01:00:00Z"
    project = figures(api, project_id)
    assert project["spent"]["amount"] == project["spent_list"]["amount"] == "38.40"
    assert (project["hours"], project["free"]["amount"]) == (12.0, "461.60")


def test_eight_gpus_for_ten_hours_are_one_run_priced_once(api: ApiClient, project_id: int) -> None:
    run = RUN | {"gpus_per_instance": 8, "hours": 10}
    del run["ended_at"]
    answer = api.post(f"/projects/{project_id}/runs", json=run).json()
    assert (answer["hours"], answer["instance_hours"], answer["gpu_hours"]) == (10.0, 10.0, 80.0)
    assert answer["cost"]["amount"] == "32.00"


def test_two_instances_cost_twice_and_a_quarter_of_a_gpu_counts_a_quarter(
    api: ApiClient, project_id: int
) -> None:
    run = RUN | {"instance_count": 2, "gpus_per_instance": 0.25}
    answer = api.post(f"/projects/{project_id}/runs", json=run).json()
    assert (answer["instance_hours"], answer["gpu_hours"], answer["cost"]["amount"]) == (24.0, 6.0, "76.80")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"ended_at": "2026-11-02T08:59:59+08:00"}, "ended_at"),
        ({"started_at": "2026-11-02T09:00:00"}, "started_at"),
        ({"started_at": "2026-12-01T11:06:00+08:00", "ended_at": None, "state": "running"}, "started_at"),
        ({"started_at": "2026-12-01T10:00:00+08:00", "ended_at": "2026-12-01T11:06:00+08:00"}, "ended_at"),
        ({"hours": 3}, "hours"),
        ({"hours": -1, "ended_at": None}, "hours"),
        ({"state": "running"}, "state"),
        ({"state": "finished", "ended_at": None}, "ended_at"),
        ({"state": "resting"}, "state"),
        ({"price_per_hour": {"amount": "-1", "currency": "CNY"}}, "price_per_hour.amount"),
        ({"price_per_hour": {"amount": 3.2, "currency": "CNY"}}, "price_per_hour.amount"),
        ({"price_per_hour": {"amount": "3.20", "currency": "RMB"}}, "price_per_hour.currency"),
        ({"price_per_hour": None}, "price_per_hour"),
        ({"offer_id": 10**9}, "offer_id"),
        ({"plan_id": 10**9}, "plan_id"),
        ({"gpu": "a11"}, "gpu"),
        ({"instance_count": 0}, "instance_count"),
        ({"instance_count": True}, "instance_count"),
        ({"gpus_per_instance": 0}, "gpus_per_instance"),
        ({"lost_hours": 12.1}, "lost_hours"),
        ({"steps_started": 10, "steps_done": 9}, "steps_done"),
        ({"segments": []}, "segments"),
        ({"exchange_rate": {"rate": "1", "date": "2026-11-02"}}, "exchange_rate"),
        ({"name": " "}, "name"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    api: ApiClient, project_id: int, changes: dict[str, Any], field: str
) -> None:
    answer = api.post(f"/projects/{project_id}/runs", json=RUN | changes)
    assert answer.status_code == 422, answer.text
    assert field in [error["field"] for error in answer.json()["errors"]]
    assert api.get(f"/projects/{project_id}/runs").json()["items"] == []


def test_five_minutes_ahead_of_our_clock_is_accepted(api: ApiClient, project_id: int) -> None:
    run = RUN | {"started_at": "2026-12-01T10:00:00+08:00", "ended_at": "2026-12-01T11:05:00+08:00"}
    assert api.post(f"/projects/{project_id}/runs", json=run).status_code == 201


def test_a_running_run_costs_nothing_yet_and_its_end_is_priced(api: ApiClient, project_id: int) -> None:
    made = api.post(f"/projects/{project_id}/runs", json={**RUN, "ended_at": None})
    assert made.json()["state"] == "running"
    assert made.json()["cost"]["amount"] == "0.00"
    ended = api.patch(
        f"/projects/{project_id}/runs/{made.json()['id']}",
        json={"ended_at": "2026-11-02T11:00:00+08:00"},
        headers={"If-Match": made.headers["etag"]},
    )
    assert (ended.json()["state"], ended.json()["cost"]["amount"]) == ("finished", "6.40")


def test_an_offers_later_price_does_not_move_past_spend(api: ApiClient, project_id: int) -> None:
    offer = {
        "provider": "tencent", "instance_type": "PNV4", "gpu": "a10", "gpu_count": 2, "billing": "spot",
        "price_per_hour": {"amount": "4.00", "currency": "CNY"},
    }  # fmt: skip
    made = api.post("/catalog/offers", json=offer)
    run = {**RUN, "offer_id": made.json()["id"]}
    del run["price_per_hour"]
    logged = api.post(f"/projects/{project_id}/runs", json=run).json()
    assert (logged["cost"]["amount"], logged["gpu"], logged["gpu_hours"], logged["billing"]) == (
        "48.00", "a10", 24.0, "spot",
    )  # fmt: skip
    changed = api.patch(
        f"/catalog/offers/{made.json()['id']}",
        json={"price_per_hour": {"amount": "9.00", "currency": "CNY"}},
        headers={"If-Match": made.headers["etag"]},
    )
    assert changed.status_code == 200
    assert api.get(f"/projects/{project_id}/runs/{logged['id']}").json()["cost"]["amount"] == "48.00"
    assert figures(api, project_id)["spent"]["amount"] == "48.00"


def test_a_run_in_dollars_is_spent_in_yuan_at_its_own_rate(api: ApiClient, project_id: int) -> None:
    run = RUN | {
        "price_per_hour": {"amount": "0.50", "currency": "USD"},
        "exchange_rate": {"rate": "7.10", "date": "2026-11-02"},
    }
    logged = api.post(f"/projects/{project_id}/runs", json=run).json()
    assert logged["cost"] == {"amount": "6.00", "currency": "USD"}
    assert logged["exchange_rate"]["rate"] == "7.10"
    assert figures(api, project_id)["spent"] == {"amount": "42.60", "currency": "CNY"}


def test_the_teams_latest_rate_on_or_before_the_day_is_taken(api: ApiClient, project_id: int) -> None:
    for day, rate in (("2026-10-20", "7.00"), ("2026-11-01", "7.20"), ("2026-11-03", "9.00")):
        body = {"from": "USD", "to": "CNY", "date": day, "rate": rate, "source": "bank"}
        assert api.post("/rates", json=body).status_code == 201
    run = RUN | {"price_per_hour": {"amount": "1.00", "currency": "USD"}}
    logged = api.post(f"/projects/{project_id}/runs", json=run).json()
    assert (logged["exchange_rate"]["rate"], logged["exchange_rate"]["date"]) == ("7.20", "2026-11-01")
    assert figures(api, project_id)["spent"]["amount"] == "86.40"


def test_overlap_on_one_instance_is_accepted_and_flagged_on_both(api: ApiClient, project_id: int) -> None:
    first = api.post(f"/projects/{project_id}/runs", json=RUN).json()
    later = {"started_at": "2026-11-02T20:00:00+08:00", "ended_at": "2026-11-02T22:00:00+08:00"}
    second = api.post(f"/projects/{project_id}/runs", json=RUN | later).json()
    other = api.post(f"/projects/{project_id}/runs", json=RUN | later | {"instance": ""}).json()
    touching = {"started_at": "2026-11-02T22:00:00+08:00", "ended_at": "2026-11-02T23:00:00+08:00"}
    third = api.post(f"/projects/{project_id}/runs", json=RUN | touching).json()
    flags = {run["id"]: run["flags"] for run in api.get(f"/projects/{project_id}/runs").json()["items"]}
    assert flags == {first["id"]: ["overlap"], second["id"]: ["overlap"], other["id"]: [], third["id"]: []}


def test_an_external_id_makes_one_run_however_often_it_is_put(api: ApiClient, project_id: int) -> None:
    path = f"/projects/{project_id}/runs/by-external-id/r-17"
    made, again = api.put(path, json=RUN), api.put(path, json=RUN)
    assert (made.status_code, again.status_code) == (201, 200)
    assert made.headers["etag"] == again.headers["etag"]
    replaced = api.put(path, json=RUN | {"ended_at": "2026-11-02T10:00:00+08:00"})
    assert (replaced.status_code, replaced.json()["cost"]["amount"]) == (200, "3.20")
    gone = api.delete(
        f"/projects/{project_id}/runs/{made.json()['id']}", headers={"If-Match": replaced.headers["etag"]}
    )
    assert gone.status_code == 204
    assert figures(api, project_id)["spent"]["amount"] == "0.00"
    revived = api.put(path, json=RUN)
    assert (revived.status_code, revived.json()["id"]) == (200, made.json()["id"])
    assert figures(api, project_id)["spent"]["amount"] == "38.40"


def test_two_puts_at_once_make_one_run(api: ApiClient, project_id: int) -> None:
    statuses: list[int] = []

    def put() -> None:
        statuses.append(api.put(f"/projects/{project_id}/runs/by-external-id/r-1", json=RUN).status_code)

    threads = [threading.Thread(target=put) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 200, 200, 200, 201]
    assert len(api.get(f"/projects/{project_id}/runs").json()["items"]) == 1


def test_a_blocking_budget_refuses_what_would_pass_it_and_stores_nothing(api: ApiClient) -> None:
    project_id = make_project(api, **blocking("40"))
    assert api.post(f"/projects/{project_id}/runs", json=RUN).status_code == 201
    refused = api.post(f"/projects/{project_id}/runs", json=RUN)
    assert (refused.status_code, refused.json()["type"]) == (409, "budget-exceeded")
    exactly = RUN | {
        "price_per_hour": {"amount": "1.60", "currency": "CNY"},
        "ended_at": "2026-11-02T10:00:00+08:00",
    }
    assert api.post(f"/projects/{project_id}/runs", json=exactly).status_code == 201
    project = figures(api, project_id)
    assert (project["spent"]["amount"], project["state"]) == ("40.00", "used_up")
    free = RUN | {"price_per_hour": {"amount": "0", "currency": "CNY"}}
    assert api.post(f"/projects/{project_id}/runs", json=free).status_code == 201


def test_in_a_race_a_blocking_budget_lets_one_through(api: ApiClient) -> None:
    project_id = make_project(api, **blocking("50"))
    statuses: list[int] = []

    def log() -> None:
        statuses.append(api.post(f"/projects/{project_id}/runs", json=RUN).status_code)

    threads = [threading.Thread(target=log) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201, 409, 409, 409, 409]
    assert figures(api, project_id)["spent"]["amount"] == "38.40"


def test_the_end_of_a_run_that_was_let_start_is_recorded_over_budget(api: ApiClient) -> None:
    project_id = make_project(api, **blocking("10"))
    made = api.post(f"/projects/{project_id}/runs", json={**RUN, "ended_at": None})
    ended = api.patch(
        f"/projects/{project_id}/runs/{made.json()['id']}",
        json={"ended_at": RUN["ended_at"]},
        headers={"If-Match": made.headers["etag"]},
    )
    assert (ended.status_code, ended.json()["flags"]) == (200, ["over_budget"])
    assert figures(api, project_id)["state"] == "over"


def test_a_change_needs_the_version_it_was_made_from(api: ApiClient, project_id: int) -> None:
    made = api.post(f"/projects/{project_id}/runs", json=RUN)
    path = f"/projects/{project_id}/runs/{made.json()['id']}"
    assert api.patch(path, json={"note": "x"}).status_code == 428
    assert api.patch(path, json={"note": "x"}, headers={"If-Match": '"99"'}).status_code == 412
    assert api.patch(path, json={"hours": -1}, headers={"If-Match": '"99"'}).status_code == 422
    assert api.delete(path).status_code == 428
    assert api.get(path).json()["note"] == ""
    changed = api.patch(path, json={"note": "x"}, headers={"If-Match": made.headers["etag"]})
    assert changed.status_code == 200
    assert changed.headers["etag"] != made.headers["etag"]


def test_other_teams_and_lesser_roles(
    api: ApiClient, viewer_api: ApiClient, other_api: ApiClient, project_id: int
) -> None:
    run_id = api.post(f"/projects/{project_id}/runs", json=RUN).json()["id"]
    path = f"/projects/{project_id}/runs"
    assert viewer_api.get(path).status_code == 200
    assert viewer_api.post(path, json={}).status_code == 403
    assert viewer_api.patch(f"{path}/{run_id}", json={}).status_code == 403
    assert viewer_api.patch(f"{path}/999999", json={}).status_code == 404
    for method in ("get", "post"):
        assert getattr(other_api, method)(path).status_code == 404
    assert other_api.get(f"{path}/{run_id}").status_code == 404
    assert other_api.put(f"{path}/by-external-id/x", json=RUN).status_code == 404
    mine = make_project(other_api)
    assert other_api.get(f"/projects/{mine}/runs/{run_id}").status_code == 404


CHARGE = {
    "category": "usage",
    "service": "storage",
    "amount": {"amount": "6.40", "currency": "CNY"},
    "period_start": "2026-11-01T00:00:00+08:00",
    "period_end": "2026-11-29T00:00:00+08:00",
}


def test_charges_and_credits_count_in_billed_and_credits_not_in_list(api: ApiClient, project_id: int) -> None:
    api.post(f"/projects/{project_id}/runs", json=RUN)
    assert api.post(f"/projects/{project_id}/charges", json=CHARGE).status_code == 201
    voucher = CHARGE | {
        "category": "credit",
        "service": "compute",
        "amount": {"amount": "-10.00", "currency": "CNY"},
    }
    assert api.post(f"/projects/{project_id}/charges", json=voucher).status_code == 201
    project = figures(api, project_id)
    assert project["spent_list"]["amount"] == "44.80"
    assert project["spent_billed"]["amount"] == project["spent"]["amount"] == "34.80"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"category": "gift"}, "category"),
        ({"category": "credit"}, "amount.amount"),
        ({"period_end": "2026-10-31T00:00:00+08:00"}, "period_end"),
        (
            {"period_start": "2026-12-02T00:00:00+08:00", "period_end": "2026-12-03T00:00:00+08:00"},
            "period_start",
        ),
        ({"amount": {"amount": "6.4000001", "currency": "CNY"}}, "amount.amount"),
        ({"list_amount": {"amount": "7", "currency": "USD"}}, "list_amount.currency"),
        ({"colour": 1}, "colour"),
    ],
)
def test_wrong_charges_are_named_and_not_stored(
    api: ApiClient, project_id: int, changes: dict[str, Any], field: str
) -> None:
    answer = api.post(f"/projects/{project_id}/charges", json=CHARGE | changes)
    assert answer.status_code == 422
    assert field in [error["field"] for error in answer.json()["errors"]]
    assert api.get(f"/projects/{project_id}/charges").json()["items"] == []


def test_a_charge_is_changed_and_deleted_like_a_run(api: ApiClient, project_id: int) -> None:
    made = api.post(f"/projects/{project_id}/charges", json=CHARGE)
    path = f"/projects/{project_id}/charges/{made.json()['id']}"
    changed = api.patch(
        path,
        json={"amount": {"amount": "7.00", "currency": "CNY"}},
        headers={"If-Match": made.headers["etag"]},
    )
    assert changed.json()["list_amount"]["amount"] == "7.00"
    assert figures(api, project_id)["spent"]["amount"] == "7.00"
    assert api.delete(path, headers={"If-Match": changed.headers["etag"]}).status_code == 204
    assert figures(api, project_id)["spent"]["amount"] == "0.00"
    assert api.get(path).status_code == 404


def test_a_months_storage_is_prepaid_whole_but_a_blocking_budget_knows_it(api: ApiClient) -> None:
    project_id = make_project(api, **blocking("6.39"))
    assert api.post(f"/projects/{project_id}/charges", json=CHARGE).status_code == 409
    ahead = CHARGE | {
        "amount": {"amount": "6.00", "currency": "CNY"},
        "period_end": "2027-01-01T00:00:00+08:00",
    }
    assert api.post(f"/projects/{project_id}/charges", json=ahead).status_code == 201
    assert figures(api, project_id)["spent"]["amount"] == "6.00"
