"""Projects by the JSON API."""

from typing import Any

import pytest

from tests.fixtures.clients import ApiClient
from tests.fixtures.clock import MovableClock

PROJECT: dict[str, Any] = {
    "name": "QA",
    "goal": "answers",
    "currency": "CNY",
    "target": "300",
    "budget": {"amount": "500.00", "period": "total", "starts_on": "2026-10-01"},
}
RUN = {
    "name": "r",
    "price_per_hour": {"amount": "10", "currency": "CNY"},
    "started_at": "2026-11-30T00:00:00+08:00",
    "hours": 10,
}


def test_a_project_answers_with_its_figures(api: ApiClient) -> None:
    made = api.post("/projects", json=PROJECT)
    assert made.status_code == 201
    assert made.headers["location"] == f"/api/v1/projects/{made.json()['id']}"
    project = api.get(f"/projects/{made.json()['id']}").json()
    assert project["target"] == "300.00"
    assert project["budget"] == {
        "amount": "500.00", "period": "total", "starts_on": "2026-10-01", "ends_on": None, "counts": "billed",
        "block_when_spent": False,
    }  # fmt: skip
    assert project["alert_thresholds"] == [50, 80, 100]
    assert project["spent"] == {"amount": "0.00", "currency": "CNY"}
    assert project["free"]["amount"] == "500.00"
    assert (project["state"], project["hours"], project["gpu_hours"]) == ("unused", 0.0, 0.0)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": None}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x\u0000y"}, "name"),
        ({"currency": "cny"}, "currency"),
        ({"target": 300}, "target"),
        ({"target": "-1"}, "target"),
        ({"budget": None}, "budget"),
        ({"budget": {**PROJECT["budget"], "amount": "-1"}}, "budget.amount"),
        ({"budget": {**PROJECT["budget"], "amount": "1e3"}}, "budget.amount"),
        ({"budget": {**PROJECT["budget"], "period": "daily"}}, "budget.period"),
        ({"budget": {**PROJECT["budget"], "starts_on": "2026-02-30"}}, "budget.starts_on"),
        ({"budget": {**PROJECT["budget"], "ends_on": "2026-09-30"}}, "budget.ends_on"),
        ({"budget": {**PROJECT["budget"], "colour": 1}}, "budget.colour"),
        ({"alert_thresholds": [0]}, "alert_thresholds.0"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(api: ApiClient, changes: dict[str, Any], field: str) -> None:
    answer = api.post("/projects", json=PROJECT | changes)
    assert answer.status_code == 422, answer.text
    assert field in [error["field"] for error in answer.json()["errors"]]
    assert api.get("/projects").json()["items"] == []


def test_a_name_is_taken_while_its_project_lives(api: ApiClient, other_api: ApiClient) -> None:
    made = api.post("/projects", json=PROJECT)
    assert api.post("/projects", json=PROJECT).json()["errors"][0]["field"] == "name"
    assert other_api.post("/projects", json=PROJECT).status_code == 201
    gone = api.delete(f"/projects/{made.json()['id']}", headers={"If-Match": made.headers["etag"]})
    assert gone.status_code == 204
    assert api.post("/projects", json=PROJECT).status_code == 201
    assert api.get(f"/projects/{made.json()['id']}").status_code == 404


def test_the_etag_is_the_projects_own_and_spend_does_not_change_it(api: ApiClient) -> None:
    made = api.post("/projects", json=PROJECT)
    path = f"/projects/{made.json()['id']}"
    api.post(f"{path}/runs", json=RUN)
    assert api.get(path).headers["etag"] == made.headers["etag"]
    changed = api.patch(path, json={"goal": "more"}, headers={"If-Match": made.headers["etag"]})
    assert changed.status_code == 200
    assert changed.headers["etag"] != made.headers["etag"]
    stale = api.patch(path, json={"goal": "less"}, headers={"If-Match": made.headers["etag"]})
    assert (stale.status_code, api.get(path).json()["goal"]) == (412, "more")
    assert api.patch(path, json={"goal": "less"}).status_code == 428
    assert api.patch(path, json={"nothing": 1}).status_code == 422


def test_a_budget_change_keeps_the_earlier_amounts_with_who_when_and_why(api: ApiClient, clock: MovableClock) -> None:
    made = api.post("/projects", json=PROJECT)
    clock.advance(hours=1)
    changed = api.patch(
        f"/projects/{made.json()['id']}",
        json={"budget": {"amount": "600"}, "reason": "more data"},
        headers={"If-Match": made.headers["etag"]},
    ).json()
    assert (changed["budget"]["amount"], changed["budget"]["starts_on"]) == ("600.00", "2026-10-01")
    history = [(entry["amount"], entry["reason"], entry["effective_at"]) for entry in changed["budget_history"]]
    assert history == [
        ("500.00", "", "2026-12-01T03:00:00Z"),
        ("600.00", "more data", "2026-12-01T04:00:00Z"),
    ]


def test_a_budget_is_the_owners(api: ApiClient, editor_api: ApiClient, viewer_api: ApiClient) -> None:
    made = api.post("/projects", json=PROJECT)
    path, match = f"/projects/{made.json()['id']}", {"If-Match": made.headers["etag"]}
    assert editor_api.patch(path, json={"budget": {"amount": "1"}}, headers=match).status_code == 403
    assert viewer_api.patch(path, json={"goal": "x"}, headers=match).status_code == 403
    assert viewer_api.get(path).status_code == 200
    assert editor_api.patch(path, json={"goal": "x"}, headers=match).status_code == 200


def test_a_weekly_budget_counts_this_week_and_to_date_counts_all(api: ApiClient) -> None:
    weekly = {**PROJECT, "budget": {"amount": "150", "period": "weekly", "starts_on": "2026-10-01"}}
    path = f"/projects/{api.post('/projects', json=weekly).json()['id']}"
    api.post(f"{path}/runs", json=RUN)
    api.post(f"{path}/runs", json=RUN | {"started_at": "2026-11-25T00:00:00+08:00"})
    project = api.get(path).json()
    assert (project["spent"]["amount"], project["spent_billed"]["amount"]) == ("100.00", "200.00")
    assert (project["free"]["amount"], project["state"]) == ("50.00", "within")


def test_spend_outside_the_budgets_days_counts_only_to_date(api: ApiClient) -> None:
    later = {**PROJECT, "budget": {"amount": "50", "period": "total", "starts_on": "2026-12-01"}}
    path = f"/projects/{api.post('/projects', json=later).json()['id']}"
    api.post(f"{path}/runs", json=RUN)
    project = api.get(path).json()
    assert (project["spent"]["amount"], project["spent_billed"]["amount"], project["state"]) == (
        "0.00", "100.00", "unused",
    )  # fmt: skip


def test_a_budget_that_counts_list_prices_does_not_see_vouchers(api: ApiClient) -> None:
    listed = {**PROJECT, "budget": {**PROJECT["budget"], "counts": "list"}}
    path = f"/projects/{api.post('/projects', json=listed).json()['id']}"
    api.post(f"{path}/runs", json=RUN)
    api.post(
        f"{path}/charges",
        json={
            "category": "credit",
            "amount": {"amount": "-30", "currency": "CNY"},
            "period_start": "2026-11-30T00:00:00+08:00",
            "period_end": "2026-11-30T00:00:00+08:00",
        },
    )
    project = api.get(path).json()
    assert (project["spent"]["amount"], project["spent_billed"]["amount"]) == ("100.00", "70.00")


def test_the_currency_cannot_change_once_money_is_spent(api: ApiClient) -> None:
    made = api.post("/projects", json=PROJECT)
    path, match = f"/projects/{made.json()['id']}", {"If-Match": made.headers["etag"]}
    api.post(f"{path}/runs", json=RUN)
    answer = api.patch(path, json={"currency": "USD"}, headers=match)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "currency")


def test_other_teams_projects_do_not_exist(api: ApiClient, other_api: ApiClient) -> None:
    made = api.post("/projects", json=PROJECT)
    path, match = f"/projects/{made.json()['id']}", {"If-Match": made.headers["etag"]}
    for answer in (
        other_api.get(path),
        other_api.patch(path, json={"goal": "x"}, headers=match),
        other_api.delete(path, headers=match),
        other_api.get(f"{path}/outlook"),
        other_api.get(f"{path}/plans"),
        other_api.get(f"{path}/charges"),
    ):
        assert answer.status_code == 404
        assert answer.json()["type"] == "not-found"
    assert other_api.get("/projects").json()["items"] == []
