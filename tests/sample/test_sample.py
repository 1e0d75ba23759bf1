"""The sample project tells the story to the cent, in every place that shows it."""

from datetime import date
from itertools import pairwise

import pytest
from fastapi import FastAPI
from sqlmodel import Session

from app.accounts.access import Actor
from app.accounts.models import Team
from app.db import Database
from app.sample import load_sample
from tests.fixtures.clients import ApiClient


@pytest.fixture
def project_id(database: Database, owner: Actor) -> int:
    with database.write() as session:
        return load_sample(session, owner, date(2026, 12, 1)).id or 0


def test_its_figures_are_the_storys(api: ApiClient, project_id: int) -> None:
    (project,) = api.get("/projects").json()["items"]
    assert project["id"] == project_id
    assert project["name"] == "LLaMA-7B 中文问答"
    assert project["budget"]["amount"] == "500.00"
    assert project["budget"]["starts_on"] == "2026-11-02"
    assert project["target"] == "300.00"
    amounts = {name: project[name]["amount"] for name in ("spent", "spent_list", "spent_billed", "reserved", "free")}
    assert amounts == {
        "spent": "188.40",
        "spent_list": "198.40",
        "spent_billed": "188.40",
        "reserved": "64.00",
        "free": "247.60",
    }
    assert (project["hours"], project["gpu_hours"], project["state"]) == (60.0, 60.0, "within")


def test_four_weeks_were_logged(api: ApiClient, project_id: int) -> None:
    weeks = {
        week: api.get("/reports/weekly", params={"week": week, "project": project_id}).json()["totals"]["hours"]
        for week in ("2026-W45", "2026-W46", "2026-W47", "2026-W48", "2026-W49")
    }
    assert weeks == {"2026-W45": 14.5, "2026-W46": 18.0, "2026-W47": 15.5, "2026-W48": 12.0, "2026-W49": 0.0}


def test_two_runs_were_interrupted_and_steps_add_up(api: ApiClient, project_id: int) -> None:
    runs = api.get(f"/projects/{project_id}/runs").json()["items"]
    assert [run["lost_hours"] for run in runs if run["state"] == "interrupted"] == [0.6, 0.4]
    assert runs[-1]["steps_done"] == 108_900
    assert {run["steps_total"] for run in runs} == {146_485}
    assert all(left["steps_done"] == right["steps_started"] for left, right in pairwise(runs))
    assert all(run["flags"] == [] for run in runs)


def test_the_baseline_is_80_hours_for_256_and_full_fine_tuning_does_not_fit(api: ApiClient, project_id: int) -> None:
    plans = api.get(f"/projects/{project_id}/plans").json()["items"]
    full, lora = sorted(plans, key=lambda plan: plan["is_baseline"])
    assert (lora["planned_hours"], lora["planned_cost"]) == (80.0, {"amount": "256.00", "currency": "CNY"})
    assert lora["approved_at"] is not None
    assert lora["estimate"]["memory"]["fits"] is True
    assert lora["estimate"]["time"]["steps"] == 146_485
    assert full["estimate"]["memory"]["fits"] is False
    assert any(finding["code"] == "step-does-not-fit" for finding in full["estimate"]["preflight"])
    assert {"method": "qlora"} in [fix["change"] for fix in full["estimate"]["fixes"]]


def test_projected_and_actual_lines_end_where_the_story_says(api: ApiClient, project_id: int) -> None:
    outlook = api.get(f"/projects/{project_id}/outlook").json()
    assert (outlook["projected"][0]["date"], outlook["projected"][-1]["date"]) == ("2026-11-02", "2026-12-06")
    assert outlook["projected"][-1]["amount"]["amount"] == "256.00"
    assert (outlook["actual"][0]["date"], outlook["actual"][-1]["date"]) == ("2026-11-02", "2026-12-01")
    assert outlook["actual"][-1]["amount"]["amount"] == "188.40"


def test_the_report_agrees_in_every_format(api: ApiClient, project_id: int) -> None:
    params = {"week": "2026-W48", "project": str(project_id)}
    document = api.get("/reports/weekly", params=params).json()
    assert document["to_date"]["billed"]["amount"] == "188.40"
    assert document["to_date"]["list"]["amount"] == "198.40"
    assert document["to_date"]["compute"]["amount"] == "192.00"
    assert document["to_date"]["charges"]["amount"] == "-3.60"
    for wanted in ("html", "csv", "md"):
        answer = api.get("/reports/weekly", params=params | {"format": wanted})
        assert answer.status_code == 200
        assert "188.40" in answer.text
        assert document["digest"] in answer.text


def test_a_second_call_changes_nothing(database: Database, owner: Actor, api: ApiClient, project_id: int) -> None:
    before = api.get("/projects").json()
    with database.write() as session:
        assert load_sample(session, owner, date(2026, 12, 8)).id == project_id
    assert api.get("/projects").json() == before


@pytest.mark.parametrize("day", ["2026-01-01", "2026-02-28", "2024-02-29", "2026-12-01"])
def test_it_can_be_loaded_on_any_past_day(session: Session, owner: Actor, day: str) -> None:
    project = load_sample(session, owner, date.fromisoformat(day))
    assert project.name == "LLaMA-7B 中文问答"


def test_another_team_does_not_see_it(app: FastAPI, other_api: ApiClient, other_team: Team, project_id: int) -> None:
    assert other_api.get("/projects").json()["items"] == []
    assert other_api.get(f"/projects/{project_id}/outlook").status_code == 404
    assert other_api.get("/reports/weekly", params={"project": project_id, "week": "nonsense"}).status_code == 404
