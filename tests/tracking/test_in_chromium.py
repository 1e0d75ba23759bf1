"""Runs and charges on the project page in a real browser: in place, without scripts, in both languages."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app.accounts.models import Team
from app.i18n import Language
from tests.fixtures.chromium import PHONE, WIDE, Windows
from tests.fixtures.clients import ApiClient

pytestmark = [pytest.mark.browser, pytest.mark.one_database]

PROJECT = {
    "name": "LLaMA-7B 中文问答",
    "currency": "CNY",
    "target": "300",
    "budget": {"amount": "500", "period": "total", "starts_on": "2026-10-01"},
}
RUN: dict[str, Any] = {
    "name": "sft-1",
    "instance": "ins-ab12",
    "gpu": "a10",
    "billing": "spot",
    "price_per_hour": {"amount": "3.20", "currency": "CNY"},
    "started_at": "2026-11-02T09:00:00+08:00",
    "ended_at": "2026-11-02T21:00:00+08:00",
    "peak_memory_bytes": 18_683_107_738,
    "steps_done": 1200,
    "steps_total": 9000,
}
CHARGE = {
    "category": "usage",
    "service": "storage",
    "amount": {"amount": "6.40", "currency": "CNY"},
    "period_start": "2026-11-01T00:00:00+08:00",
    "period_end": "2026-11-29T00:00:00+08:00",
    "note": "dataset and checkpoints",
}


@pytest.fixture
def project_id(api: ApiClient) -> int:
    return int(api.post("/projects", json=PROJECT).json()["id"])


def log_run(api: ApiClient, project_id: int, **changes: Any) -> dict[str, Any]:
    answer = api.post(f"/projects/{project_id}/runs", json=RUN | changes)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def fill_run(form: Locator, hours: str) -> None:
    form.get_by_label("Name").fill("sft-7")
    form.get_by_label("Start (Asia/Shanghai)").fill("2026-11-03T09:00")
    form.get_by_label("or hours").fill(hours)
    form.get_by_label("Price per hour").fill("3.20")


def test_a_run_is_logged_in_place_and_every_figure_follows(page: Page, project_id: int) -> None:
    page.goto(f"/projects/{project_id}")
    page.get_by_role("link", name="Log a run").click()
    form = page.locator("#run-new form")
    fill_run(form, "-1")
    form.get_by_role("button", name="Log the run").click()
    expect(form.locator(".field-error")).to_contain_text("at least 0")
    expect(form.get_by_label("Name")).to_have_value("sft-7")
    form.get_by_label("or hours").fill("12")
    form.get_by_role("button", name="Log the run").click()
    expect(page.locator("#runs tbody tr")).to_contain_text("38.40")
    expect(page.locator("#run-new")).to_be_hidden()
    expect(page.locator("#project-page .answer")).to_contain_text("38.40")
    expect(page.locator("#flashes")).to_contain_text("The run sft-7 was logged.")
    expect(page).to_have_url(f"{page.url.split('/projects')[0]}/projects/{project_id}")


def test_a_run_is_changed_given_up_deleted_and_brought_back(
    page: Page, api: ApiClient, project_id: int
) -> None:
    run = log_run(api, project_id)
    page.goto(f"/projects/{project_id}")
    row = page.locator(f"#run-{run['id']}")
    row.get_by_role("link", name="Edit").click()
    expect(row).to_have_class("edit-row")
    row.get_by_role("link", name="Cancel").click()
    expect(row).to_contain_text("38.40")
    row.get_by_role("link", name="Edit").click()
    row.get_by_label("End (Asia/Shanghai)").fill("2026-11-02T08:00")
    row.get_by_role("button", name="Save").click()
    expect(row.locator(".field-error")).to_have_text("The end lies before the start.")
    row.get_by_label("End (Asia/Shanghai)").fill("2026-11-02T10:30")
    row.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("4.80")
    row.get_by_role("link", name="Edit").click()
    row.locator("summary", has_text="Delete").click()
    row.get_by_role("button", name="Delete the run").click()
    expect(row).to_have_count(0)
    expect(page.locator("#runs")).to_contain_text("A run was deleted.")
    page.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("4.80")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


def test_who_edits_an_old_version_is_shown_the_new_one(page: Page, api: ApiClient, project_id: int) -> None:
    run = log_run(api, project_id)
    page.goto(f"/projects/{project_id}")
    row = page.locator(f"#run-{run['id']}")
    row.get_by_role("link", name="Edit").click()
    path = f"/projects/{project_id}/runs/{run['id']}"
    assert api.patch(path, json={"note": "by another"}, headers={"If-Match": '"1"'}).status_code == 200
    row.get_by_label("Note").fill("mine")
    row.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Somebody changed this in the meantime.")
    expect(row.get_by_label("Note")).to_have_value("by another")
    row.get_by_label("Note").fill("mine")
    row.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("mine")


def test_a_charge_is_added_changed_deleted_and_brought_back(page: Page, project_id: int) -> None:
    page.goto(f"/projects/{project_id}")
    page.get_by_role("link", name="Add a charge").click()
    form = page.locator("#charge-new form")
    form.get_by_label("Kind").select_option("credit")
    form.get_by_label("Amount").fill("10")
    form.get_by_label("From (Asia/Shanghai)").fill("2026-11-03T09:00")
    form.get_by_role("button", name="Add the charge").click()
    expect(form.locator(".field-error")).to_have_text("A credit is negative.")
    form.get_by_label("Amount").fill("-10")
    form.get_by_role("button", name="Add the charge").click()
    row = page.locator("#charges tbody tr")
    expect(row).to_contain_text("−10.00")
    row.get_by_role("link", name="Edit").click()
    row.get_by_label("Note").fill("voucher")
    row.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("voucher")
    row.get_by_role("link", name="Edit").click()
    row.locator("summary", has_text="Delete").click()
    row.get_by_role("button", name="Delete the charge").click()
    page.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("voucher")


def test_all_of_it_works_without_scripts(windows: Windows, team: Team, project_id: int) -> None:
    page = windows.new(team, javascript=False)
    page.goto(f"/projects/{project_id}")
    page.get_by_role("link", name="Log a run").click()
    fill_run(page.locator("form", has_text="Log the run"), "12")
    page.get_by_role("button", name="Log the run").click()
    expect(page.locator("#flashes")).to_contain_text("The run sft-7 was logged.")
    page.locator("#runs").get_by_role("link", name="Edit").click()
    page.get_by_label("or hours").fill("1")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#runs tbody tr")).to_contain_text("3.20")
    page.locator("#runs").get_by_role("link", name="Edit").click()
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete the run").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#runs tbody tr")).to_contain_text("3.20")


def test_the_table_is_turned_page_by_page(page: Page, api: ApiClient, project_id: int) -> None:
    for number in range(51):
        log_run(api, project_id, name=f"sft-{number}", instance="", hours=0.1, ended_at=None)
    page.goto(f"/projects/{project_id}")
    expect(page.locator("#runs tbody tr")).to_have_count(50)
    page.locator("#runs").get_by_role("link", name="Next").click()
    expect(page.locator("#runs tbody tr")).to_have_count(1)
    expect(page.locator("#runs")).to_contain_text("Page 2 of 2")


@pytest.mark.parametrize(
    ("language", "width", "scheme"),
    [("zh-CN", WIDE, "light"), ("en", PHONE, "dark")],
)
def test_everybody_can_read_tables_and_forms(
    windows: Windows,
    team: Team,
    api: ApiClient,
    project_id: int,
    assert_accessible: Callable[[Page], None],
    screenshot: Callable[[Page, str], None],
    language: Language,
    width: int,
    scheme: str,
) -> None:
    run = log_run(api, project_id, note="first epoch")
    log_run(api, project_id, name="sft-2", state="interrupted", interruptions=1, lost_hours=0.6)
    price = {
        "price_per_hour": {"amount": "0.50", "currency": "USD"},
        "exchange_rate": {"rate": "7.10", "date": "2026-11-02"},
    }
    log_run(api, project_id, name="sft-3", instance="", instance_count=2, gpus_per_instance=0.5, **price)
    api.post(f"/projects/{project_id}/charges", json=CHARGE)
    page = windows.new(team, language=language, width=width, scheme="dark" if scheme == "dark" else "light")
    for path in ("", "/runs/new", f"/runs/{run['id']}/edit", "/charges/new", "/runs", "/charges"):
        page.goto(f"/projects/{project_id}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert_accessible(page)
        screenshot(page, f"tracking{path.replace('/', '-')}-{language}-{width}-{scheme}")
    page.goto(f"/projects/{project_id}")
    page.locator("#runs a.button-primary").click()
    page.locator("#run-new form").wait_for()
    page.locator(f"#run-{run['id']} a").click()
    page.locator(f"#run-{run['id']} form.form").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert_accessible(page)
    screenshot(page, f"tracking-open-{language}-{width}-{scheme}")
