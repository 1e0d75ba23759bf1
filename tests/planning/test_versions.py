"""What a plan was stays: versions, repricing, and two of them side by side."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from app.accounts.models import Team
from app.db import Database
from app.planning.models import Plan
from tests.fixtures.clients import ApiClient, Clients

JOB: dict[str, Any] = {
    "model": "llama-7b", "method": "lora", "gradient_checkpointing": True, "gradient_accumulation_steps": 4,
    "workload": {"train_tokens": 50_000_000}, "starts_on": "2026-12-01",
}  # fmt: skip


@pytest.fixture
def project(api: ApiClient) -> str:
    budget = {"amount": "500", "period": "total", "starts_on": "2026-10-01"}
    answer = api.post("/projects", json={"name": "QA", "currency": "CNY", "budget": budget})
    return f"/projects/{answer.json()['id']}"


def offer(api: ApiClient, price: str) -> dict[str, Any]:
    body = {
        "provider": "lab", "instance_type": "x", "gpu": "a10", "price_per_hour": {"amount": price, "currency": "CNY"},
    }  # fmt: skip
    found: dict[str, Any] = api.post("/catalog/offers", json=body).json()
    return found


def new_price(api: ApiClient, offer_id: int, price: str) -> None:
    change = {"price_per_hour": {"amount": price, "currency": "CNY"}}
    answer = api.patch(f"/catalog/offers/{offer_id}", json=change, headers={"If-Match": "*"})
    assert answer.status_code == 200, answer.text


def versions(api: ApiClient, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"{path}/versions").json()["items"]
    return found


def test_a_changed_plan_keeps_what_it_was(api: ApiClient, project: str) -> None:
    body = JOB | {"name": "LoRA", "gpu": "a10", "price": {"per_hour": "2.00", "currency": "CNY"}, "planned_hours": 10}
    plan = api.post(f"{project}/plans", json=body).json()
    path = f"{project}/plans/{plan['id']}"
    api.patch(path, json={"planned_hours": 20.0, "name": "longer"}, headers={"If-Match": "*"})
    first, second = versions(api, path)
    assert (first["number"], first["reason"], first["name"]) == (1, "created", "LoRA")
    assert (second["number"], second["reason"], second["name"]) == (2, "changed", "longer")
    assert [one["planned_cost"]["amount"] for one in (first, second)] == ["20.00", "40.00"]
    assert first["estimate"] == plan["estimate"]


def test_repricing_takes_the_offers_price_of_now_and_keeps_both_results(api: ApiClient, project: str) -> None:
    made = offer(api, "2.00")
    body = JOB | {"name": "LoRA", "offer_id": made["id"], "planned_hours": 10}
    plan = api.post(f"{project}/plans", json=body).json()
    path = f"{project}/plans/{plan['id']}"
    api.post(f"{path}/approve")
    new_price(api, made["id"], "3.00")
    assert api.get(path).json()["planned_cost"]["amount"] == "20.00"
    repriced = api.post(f"{path}/reprice")
    assert repriced.status_code == 200, repriced.text
    assert repriced.json()["planned_cost"]["amount"] == "30.00"
    assert repriced.json()["offer"]["price_per_hour"]["amount"] == "3.00"
    assert [one["planned_cost"]["amount"] for one in versions(api, path)] == ["20.00", "30.00"]
    assert versions(api, path)[1]["reason"] == "re-priced"
    assert api.get(project).json()["reserved"]["amount"] == "30.00"


def test_a_price_entered_for_the_plan_survives_repricing(api: ApiClient, project: str) -> None:
    made = offer(api, "2.00")
    own = {"per_hour": "1.50", "currency": "CNY"}
    body = JOB | {"name": "LoRA", "offer_id": made["id"], "planned_hours": 10, "price": own}
    path = f"{project}/plans/{api.post(f'{project}/plans', json=body).json()['id']}"
    new_price(api, made["id"], "3.00")
    assert api.post(f"{path}/reprice").json()["planned_cost"]["amount"] == "15.00"


def test_several_instances_are_repriced_together(api: ApiClient, project: str) -> None:
    made = offer(api, "2.00")
    body = JOB | {"name": "x", "offer_id": made["id"], "planned_hours": 10, "gpu_count": 4, "parallelism": "ddp"}
    plan = api.post(f"{project}/plans", json=body).json()
    assert plan["planned_cost"]["amount"] == "80.00"
    new_price(api, made["id"], "3.00")
    again = api.post(f"{project}/plans/{plan['id']}/reprice").json()
    assert (again["planned_cost"]["amount"], again["request"]["gpu_count"]) == ("120.00", 4)


def test_an_offer_that_is_gone_cannot_give_a_price(api: ApiClient, project: str) -> None:
    made = offer(api, "2.00")
    body = JOB | {"name": "x", "offer_id": made["id"], "planned_hours": 10}
    path = f"{project}/plans/{api.post(f'{project}/plans', json=body).json()['id']}"
    api.delete(f"/catalog/offers/{made['id']}", headers={"If-Match": "*"})
    refused = api.post(f"{path}/reprice")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "offer_id")
    assert len(versions(api, path)) == 1


def test_viewers_see_versions_and_reprice_nothing(api: ApiClient, viewer_api: ApiClient, project: str) -> None:
    path = f"{project}/plans/{api.post(f'{project}/plans', json=JOB | {'name': 'x'}).json()['id']}"
    assert len(versions(viewer_api, path)) == 1
    assert viewer_api.post(f"{path}/reprice").status_code == 403


def test_another_teams_versions_do_not_exist(api: ApiClient, other_api: ApiClient, project: str) -> None:
    path = f"{project}/plans/{api.post(f'{project}/plans', json=JOB | {'name': 'x'}).json()['id']}"
    assert other_api.get(f"{path}/versions").status_code == 404
    assert other_api.post(f"{path}/reprice").status_code == 404


def test_two_plans_stand_side_by_side(api: ApiClient, clients: Clients, team: Team, project: str) -> None:
    price = {"per_hour": "2.00", "currency": "CNY"}
    body = JOB | {"gpu": "a10", "price": price}
    one = api.post(f"{project}/plans", json=body | {"name": "one", "planned_hours": 10}).json()
    two = api.post(f"{project}/plans", json=body | {"name": "two", "planned_hours": 15, "method": "qlora"}).json()
    pages: TestClient = clients.pages(team)
    page = pages.get(f"{project}/plans/compare?left={one['id']}&right={two['id']}").text
    text = page.replace("&nbsp;", " ")
    assert "+CNY 10.00" in text
    assert "+5.0 h" in text
    assert "row-different" in text
    for words in ("Method", "LoRA", "QLoRA", "NVIDIA A10 24GB", "on demand"):
        assert words in text
    for code in ("price.per_hour", "gpu_count", "qlora<", "on_demand<"):
        assert code not in text
    assert pages.get(f"{project}/plans/compare").status_code == 200
    version = pages.get(f"{project}/plans/compare?left={one['id']}.1&right={one['id']}")
    assert "one · 1" in version.text
    for wrong in ("999", f"{one['id']}.9", "x", "1.2.3"):
        assert pages.get(f"{project}/plans/compare?left={wrong}&right={two['id']}").status_code == 404


def test_plans_that_were_there_before_begin_their_history(empty_database_url: str) -> None:
    database = Database(empty_database_url)
    try:
        database.migrate("0001")
        with database.engine.begin() as connection:
            _old_plan(connection)
        database.migrate()
        with database.engine.connect() as connection:
            rows = connection.execute(text("SELECT plan_id, number, reason, planned_cost FROM plan_version")).all()
        assert [tuple(row) for row in rows] == [(1, 3, "created", 256_000_000)]
        database.downgrade("0001")
        with database.engine.connect() as connection:
            assert connection.execute(text("SELECT count(*) FROM plan")).scalar() == 1
        database.migrate()
        assert database.is_current()
    finally:
        database.close()


def _old_plan(connection: Any) -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC).replace(tzinfo=None)
    connection.execute(
        text(
            "INSERT INTO team (id, name, currency, time_zone, language, created_at, version) "
            "VALUES (1, 'Lab', 'CNY', 'Asia/Shanghai', 'en', :now, 1)"
        ),
        {"now": now},
    )
    connection.execute(
        text(
            "INSERT INTO project (id, team_id, name, goal, currency, alert_thresholds, created_at, version) "
            "VALUES (1, 1, 'QA', '', 'CNY', '[50]', :now, 1)"
        ),
        {"now": now},
    )
    connection.execute(
        text(
            "INSERT INTO plan (id, team_id, project_id, name, request, result, estimator_version, starts_on, "
            "hours_per_week, planned_hours, planned_cost, is_baseline, created_at, created_by, version) "
            "VALUES (1, 1, 1, 'LoRA', '{}', '{}', '1.0', '2026-11-01', 16, 80, 256000000, :no, :now, 'li', 3)"
        ),
        {"now": now, "no": False},
    )


def test_a_plan_of_an_earlier_version_is_shown_compared_and_priced_anew(
    api: ApiClient, clients: Clients, team: Team, project: str, database: Database
) -> None:
    """What it kept of its offer and its answer had fewer fields then."""
    price = {"amount": "3.20", "currency": "CNY"}
    offer = {"provider": "lab", "instance_type": "box", "gpu": "a10", "price_per_hour": price}
    offer_id = api.post("/catalog/offers", json=offer).json()["id"]
    plan = api.post(f"{project}/plans", json=JOB | {"name": "old", "offer_id": offer_id, "planned_hours": 10}).json()
    with database.write() as session:
        kept = session.get(Plan, plan["id"])
        assert kept is not None
        assert kept.offer is not None
        kept.offer = {name: value for name, value in kept.offer.items() if name != "discount_percent"}
        later = ("odds", "savings", "explanation")
        kept.result = {name: value for name, value in kept.result.items() if name not in later}
        kept.result["memory"].pop("largest_fitting")
    pages = clients.pages(team)
    assert pages.get(f"{project}/plans/{plan['id']}").status_code == 200
    assert pages.get(f"{project}/plans/{plan['id']}/edit").status_code == 200
    assert pages.get(f"{project}/plans/compare?left={plan['id']}.1&right={plan['id']}").status_code == 200
    assert api.get(f"{project}/plans/{plan['id']}").status_code == 200
    etag = api.get(f"{project}/plans/{plan['id']}").headers["etag"]
    again = api.post(f"{project}/plans/{plan['id']}/reprice", headers={"If-Match": etag})
    assert again.status_code == 200, again.text
    assert again.json()["planned_cost"]["amount"] == "32.00"
