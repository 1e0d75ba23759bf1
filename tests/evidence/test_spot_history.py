"""A team's runs on spot instances move the rate in its plans and searches, and in nobody else's."""

from typing import Any

import pytest
from sqlalchemy import text

from app.db import Database
from tests.fixtures.clients import ApiClient

OFFER: dict[str, Any] = {
    "provider": "lab", "instance_type": "box", "gpu": "a10", "region": "attic", "billing": "spot",
    "price_per_hour": {"amount": "3.20", "currency": "CNY"}, "as_of": "2026-11-30",
}  # fmt: skip
PROJECT = {
    "name": "QA",
    "currency": "CNY",
    "budget": {"amount": "500", "period": "total", "starts_on": "2026-10-01"},
}
JOB: dict[str, Any] = {
    "model": "llama-7b",
    "sequence_length": 512,
    "workload": {"samples": 20_000, "epochs": 3, "mean_tokens": 300},
}


def add(api: ApiClient, path: str, body: dict[str, Any]) -> int:
    answer = api.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def spot_run(offer: int, hours: float, interruptions: int, day: int = 2, **changes: Any) -> dict[str, Any]:
    started = f"2026-11-{day:02}T01:00:00Z"
    return {
        "name": f"run of day {day}", "instance": f"ins-{day}", "offer_id": offer, "billing": "spot",
        "started_at": started, "hours": hours, "interruptions": interruptions,
    } | changes  # fmt: skip


def planned_rate(api: ApiClient, project: int, offer: int) -> float | None:
    """What a plan on the offer is estimated with; None where nothing is known."""
    body = JOB | {"name": "plan", "method": "qlora", "offer_id": offer}
    answer = api.post(f"/projects/{project}/plans", json=body)
    assert answer.status_code == 201, answer.text
    spot = answer.json()["request"].get("spot")
    return None if spot is None else float(spot["interruptions_per_hour"])


def test_runs_on_a_spot_instance_tell_how_often_it_is_taken_away(editor_api: ApiClient) -> None:
    offer, project = add(editor_api, "/catalog/offers", OFFER), add(editor_api, "/projects", PROJECT)
    assert planned_rate(editor_api, project, offer) is None
    add(editor_api, f"/projects/{project}/runs", spot_run(offer, 20, 2))
    # 20 hours are too few to say anything.
    assert planned_rate(editor_api, project, offer) is None
    add(editor_api, f"/projects/{project}/runs", spot_run(offer, 10, 1, day=5, instance_count=3))
    # 2 + 1 interruptions in 20 + 3 x 10 instance-hours, and half a one.
    assert planned_rate(editor_api, project, offer) == pytest.approx(3.5 / 50)


def test_a_search_is_moved_too(editor_api: ApiClient) -> None:
    offer, project = add(editor_api, "/catalog/offers", OFFER), add(editor_api, "/projects", PROJECT)
    add(editor_api, f"/projects/{project}/runs", spot_run(offer, 50, 2))
    body = JOB | {"providers": ["lab"], "method": "qlora"}
    options = editor_api.post("/plans/search", json=body).json()["options"]
    assert {option["request"]["spot"]["interruptions_per_hour"] for option in options} == {0.05}
    # What was entered stands before what was seen.
    options = editor_api.post("/plans/search", json=body | {"spot": {"interruptions_per_hour": 0}}).json()["options"]
    assert {option["request"]["spot"]["interruptions_per_hour"] for option in options} == {0}


def test_what_is_no_ended_spot_run_of_an_offer_tells_nothing(editor_api: ApiClient) -> None:
    offer, project = add(editor_api, "/catalog/offers", OFFER), add(editor_api, "/projects", PROJECT)
    runs = f"/projects/{project}/runs"
    add(editor_api, runs, spot_run(offer, 50, 9, billing="on_demand"))
    price = {"offer_id": None, "price_per_hour": {"amount": "3.20", "currency": "CNY"}}
    add(editor_api, runs, spot_run(offer, 50, 9, day=6, **price))
    running = spot_run(offer, 50, 9, day=10)
    del running["hours"]
    add(editor_api, runs, running)
    assert planned_rate(editor_api, project, offer) is None


def test_a_changed_run_counts_as_it_is_and_a_deleted_one_no_more(editor_api: ApiClient) -> None:
    offer, project = add(editor_api, "/catalog/offers", OFFER), add(editor_api, "/projects", PROJECT)
    made = editor_api.post(f"/projects/{project}/runs", json=spot_run(offer, 50, 2))
    path = f"/projects/{project}/runs/{made.json()['id']}"
    changed = editor_api.patch(path, json={"interruptions": 7}, headers={"If-Match": made.headers["etag"]})
    assert changed.status_code == 200, changed.text
    assert planned_rate(editor_api, project, offer) == pytest.approx(7.5 / 50)
    assert editor_api.delete(path, headers={"If-Match": changed.headers["etag"]}).status_code == 204
    assert planned_rate(editor_api, project, offer) is None


def test_another_team_s_runs_move_nothing(editor_api: ApiClient, other_api: ApiClient) -> None:
    offer, project = add(editor_api, "/catalog/offers", OFFER), add(editor_api, "/projects", PROJECT)
    add(editor_api, f"/projects/{project}/runs", spot_run(offer, 50, 2))
    theirs, their_project = add(other_api, "/catalog/offers", OFFER), add(other_api, "/projects", PROJECT)
    assert planned_rate(other_api, their_project, theirs) is None


def test_runs_that_were_there_before_count_after_the_migration(
    database: Database, editor_api: ApiClient
) -> None:
    offer, project = add(editor_api, "/catalog/offers", OFFER), add(editor_api, "/projects", PROJECT)
    made = editor_api.post(f"/projects/{project}/runs", json=spot_run(offer, 50, 2, instance_count=2))
    gone = editor_api.post(f"/projects/{project}/runs", json=spot_run(offer, 50, 9, day=6))
    path = f"/projects/{project}/runs/{gone.json()['id']}"
    editor_api.delete(path, headers={"If-Match": gone.headers["etag"]})
    running = spot_run(offer, 1, 9, day=10)
    del running["hours"]
    add(editor_api, f"/projects/{project}/runs", running)
    database.downgrade("0003")
    database.migrate()
    with database.engine.begin() as connection:
        kept = connection.execute(text("SELECT run_id, instance_us, interruptions FROM spot_use")).all()
    assert [tuple(row) for row in kept] == [(made.json()["id"], 100 * 3600 * 1_000_000, 2)]
    assert planned_rate(editor_api, project, offer) == pytest.approx(2.5 / 100)
