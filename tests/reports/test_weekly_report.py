"""The weekly report: weeks in the team's zone, splits, rounding, currencies, formats."""

import csv
import io
from typing import Any

import pytest

from app.reports.writers.csv_text import plain_text
from tests.fixtures.clients import ApiClient

PROJECT: dict[str, Any] = {
    "name": "QA", "currency": "CNY",
    "budget": {"amount": "500", "period": "total", "starts_on": "2026-10-01"},
}  # fmt: skip
RUN: dict[str, Any] = {
    "name": "r",
    "price_per_hour": {"amount": "3.20", "currency": "CNY"},
    "started_at": "2026-11-22T22:00:00+08:00",
    "hours": 5,
}


def make_project(api: ApiClient, **changes: Any) -> int:
    return int(api.post("/projects", json=PROJECT | changes).json()["id"])


def report(api: ApiClient, week: str, **params: Any) -> dict[str, Any]:
    answer = api.get("/reports/weekly", params={"week": week, **params})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_run_over_sunday_midnight_is_split_between_the_weeks(api: ApiClient) -> None:
    project_id = make_project(api)
    api.post(f"/projects/{project_id}/runs", json=RUN)
    first, second = report(api, "2026-W47"), report(api, "2026-W48")
    assert (first["starts_at"], first["ends_at"]) == ("2026-11-15T16:00:00Z", "2026-11-22T16:00:00Z")
    assert (first["totals"]["hours"], first["totals"]["billed"]["amount"]) == (2.0, "6.40")
    assert (second["totals"]["hours"], second["totals"]["billed"]["amount"]) == (3.0, "9.60")
    assert [run["hours"] for run in first["runs"] + second["runs"]] == [2.0, 3.0]
    assert second["to_date"]["billed"]["amount"] == "16.00"


def test_three_rows_of_a_third_leave_a_rounding_line(api: ApiClient) -> None:
    project_id = make_project(api)
    third = RUN | {"price_per_hour": {"amount": "3.333334", "currency": "CNY"}, "hours": 1}
    for minute in range(3):
        api.post(f"/projects/{project_id}/runs", json=third | {"started_at": f"2026-11-25T0{minute}:00:00+08:00"})
    totals = report(api, "2026-W48")["totals"]
    assert (totals["billed"]["amount"], totals["rounding"]["amount"]) == ("10.00", "0.01")


def test_a_week_without_runs_says_so(api: ApiClient) -> None:
    project_id = make_project(api)
    empty = report(api, "2026-W40", project=project_id)
    assert (empty["runs"], empty["totals"]["billed"]["amount"]) == ([], "0.00")
    page = api.get("/reports/weekly", params={"week": "2026-W40", "project": project_id, "format": "html"})
    assert "No runs this week." in page.text


@pytest.mark.parametrize(("week", "status"), [("2026-W53", 200), ("2025-W53", 422), ("2026-W00", 422), ("now", 422)])
def test_a_week_that_does_not_exist_is_422(api: ApiClient, week: str, status: int) -> None:
    answer = api.get("/reports/weekly", params={"week": week})
    assert answer.status_code == status
    if status == 422:
        assert answer.json()["errors"][0]["field"] == "week"


@pytest.mark.parametrize("wanted", ["xlsx", "pdf", "doc"])
def test_a_format_that_is_not_built_is_422(api: ApiClient, wanted: str) -> None:
    answer = api.get("/reports/weekly", params={"week": "2026-W48", "format": wanted})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "format")


def test_money_that_no_rate_converts_stands_apart(api: ApiClient) -> None:
    make_project(api)
    yen = make_project(api, name="Yen", currency="XAF")
    api.post(f"/projects/{yen}/runs", json=RUN | {"price_per_hour": {"amount": "300", "currency": "XAF"}})
    found = report(api, "2026-W47")
    assert found["totals"]["billed"]["amount"] == "0.00"
    assert [(each["currency"], each["billed"]["amount"]) for each in found["other_currencies"]] == [("XAF", "600")]
    rate = {"from": "XAF", "to": "CNY", "date": "2026-11-20", "rate": "0.0125", "source": "bank"}
    api.post("/rates", json=rate)
    converted = report(api, "2026-W47")
    assert (converted["totals"]["billed"]["amount"], converted["other_currencies"]) == ("7.50", [])


def test_a_deleted_projects_spend_stays_in_past_reports(api: ApiClient) -> None:
    project_id = make_project(api)
    api.post(f"/projects/{project_id}/runs", json=RUN)
    before = report(api, "2026-W48")
    api.delete(f"/projects/{project_id}", headers={"If-Match": "*"})
    after = report(api, "2026-W48")
    assert after["totals"] == before["totals"]
    assert after["digest"] == before["digest"]
    assert api.get("/reports/weekly", params={"week": "2026-W48", "project": project_id}).status_code == 404


def test_the_digest_changes_with_the_past(api: ApiClient) -> None:
    project_id = make_project(api)
    made = api.post(f"/projects/{project_id}/runs", json=RUN)
    before = report(api, "2026-W48")["digest"]
    assert report(api, "2026-W48")["digest"] == before
    path = f"/projects/{project_id}/runs/{made.json()['id']}"
    api.patch(path, json={"hours": 4}, headers={"If-Match": made.headers["etag"]})
    assert report(api, "2026-W48")["digest"] != before


def test_text_that_begins_like_a_formula_stays_text(api: ApiClient) -> None:
    project_id = make_project(api, name="=1+1")
    api.post(f"/projects/{project_id}/runs", json=RUN | {"name": "@SUM(A1)", "note": "  +1|2"})
    answer = api.get("/reports/weekly", params={"week": "2026-W48", "format": "csv"})
    assert answer.text.startswith("\ufeff")
    cells = [cell for row in csv.reader(io.StringIO(answer.text.lstrip("\ufeff"))) for cell in row]
    assert {"'=1+1", "'@SUM(A1)", "'  +1|2"} <= set(cells)
    assert "9.60" in cells
    markdown = api.get("/reports/weekly", params={"week": "2026-W48", "format": "md"}).text
    assert "+1\\|2" in markdown


@pytest.mark.parametrize(
    ("text", "shown"), [("=1", "'=1"), ("-1", "'-1"), ("\tx", "'\tx"), ("a=1", "a=1"), ("", ""), (" @", "' @")]
)
def test_plain_text(text: str, shown: str) -> None:
    assert plain_text(text) == shown


def test_credits_are_negative_numbers_in_every_format(api: ApiClient) -> None:
    project_id = make_project(api)
    api.post(
        f"/projects/{project_id}/charges",
        json={
            "category": "credit",
            "amount": {"amount": "-10", "currency": "CNY"},
            "period_start": "2026-11-25T00:00:00+08:00",
            "period_end": "2026-11-25T00:00:00+08:00",
        },
    )
    for wanted in ("csv", "md"):
        text = api.get("/reports/weekly", params={"week": "2026-W48", "format": wanted}).text
        assert "-10.00" in text
        assert "'-10.00" not in text
