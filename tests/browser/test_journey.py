"""The main journey in Chromium: plan a job, save it, log hours, see the line move, hand in the report."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.accounts.access import Actor
from app.accounts.models import Team
from app.db import Database
from app.i18n import Language
from app.sample import load_sample
from tests.fixtures.chromium import PHONE, WIDE, Windows

pytestmark = [pytest.mark.browser, pytest.mark.one_database]

Check = Callable[[Page], None]
Screenshot = Callable[[Page, str], None]

GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "plan": "New plan", "name": "Name of the plan", "tokens": "Training tokens", "gpu": "or GPU",
        "price": "Own price per hour", "fits": "fits", "save": "Save the plan", "baseline": "Make it the baseline",
        "approve": "Approve", "approved": "approved",
    },
    "zh-CN": {
        "plan": "新方案", "name": "方案名称", "tokens": "训练 token 数", "gpu": "或 GPU", "price": "自填每小时价",
        "fits": "装得下", "save": "保存方案", "baseline": "设为基线", "approve": "批准", "approved": "已批准",
    },
}  # fmt: skip

PAGES = {
    "dashboard": "/",
    "projects": "/projects",
    "project": "/projects/1",
    "project-form": "/projects/1/edit",
    "new-project": "/projects/new",
    "plan": "/projects/1/plans/2",
    "plan-that-does-not-fit": "/projects/1/plans/1",
    "plan-form": "/projects/1/plans/2/edit",
    "run-form": "/projects/1/runs/new",
    "charge-form": "/projects/1/charges/new",
    "report": "/reports/weekly?week=2026-W48&project=1",
    "team-report": "/reports/weekly?week=2026-W49",
    "search": "/projects/1/plans/search",
    "compare": "/projects/1/plans/compare",
    "advice": "/catalog/advice",
    "api-docs": "/api/v1/docs",
    "missing": "/projects/999",
}


@pytest.fixture
def sample(database: Database, owner: Actor) -> None:
    with database.write() as session:
        load_sample(session, owner, date(2026, 12, 1))


@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize(("language", "width"), [("en", WIDE), ("zh-CN", PHONE)])
def test_from_a_plan_to_an_approval(windows: Windows, team: Team, language: Language, width: int) -> None:
    words = WORDS[language]
    page = windows.new(team, language=language, width=width)
    page.goto("/projects/1")
    page.get_by_role("link", name=words["plan"]).click()
    page.get_by_label(words["name"], exact=True).fill("Second")
    page.get_by_label(words["tokens"], exact=True).fill("50000000")
    page.get_by_label(words["gpu"], exact=True).select_option("a10")
    page.get_by_label(words["price"], exact=True).fill("3.20")
    page.get_by_label(words["price"], exact=True).blur()
    # The result follows the form without a reload.
    expect(page.locator("#plan-result")).to_contain_text("24,415")
    expect(page.locator("#plan-result")).to_contain_text("22.5")
    page.get_by_role("button", name=words["save"], exact=True).click()
    expect(page.locator("h1")).to_contain_text("Second")
    page.get_by_role("button", name=words["baseline"]).click()
    page.get_by_role("button", name=words["approve"]).click()
    expect(page.locator("h1")).to_contain_text(words["approved"])


@pytest.mark.usefixtures("sample")
def test_a_wrong_figure_waits_at_its_field_and_a_fix_is_applied(windows: Windows, team: Team) -> None:
    page = windows.new(team)
    page.goto("/projects/1/plans/1/edit")
    expect(page.locator("#plan-result")).to_contain_text("too much")
    page.get_by_role("button", name="Apply").first.click()
    expect(page.locator("#plan-result")).to_contain_text("GiB free")
    page.get_by_label("Length", exact=True).fill("-5")
    page.get_by_label("Length", exact=True).blur()
    expect(page.locator("#plan-result")).to_contain_text("This must be at least 1.")


@pytest.mark.usefixtures("sample")
def test_without_scripts_a_plan_is_recalculated_and_saved(windows: Windows, team: Team) -> None:
    page = windows.new(team, javascript=False)
    page.goto("/projects/1/plans/new")
    page.get_by_label("Name of the plan").fill("Plain")
    page.get_by_label("or GPU", exact=True).select_option("t4")
    page.get_by_role("button", name="Recalculate").click()
    expect(page.locator("#plan-result")).to_contain_text("has no bf16")
    page.get_by_role("button", name="Save the plan").click()
    expect(page.locator("h1")).to_contain_text("Plain")


@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize(
    ("language", "scheme", "width"),
    [("zh-CN", "light", WIDE), ("en", "dark", PHONE)],
)
def test_every_page_is_accessible_and_keeps_its_width(
    windows: Windows,
    team: Team,
    assert_accessible: Check,
    screenshot: Screenshot,
    language: Language,
    scheme: str,
    width: int,
) -> None:
    page = windows.new(team, language=language, scheme=scheme, width=width)  # type: ignore[arg-type]
    for name, path in PAGES.items():
        page.goto(path)
        assert_accessible(page)
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert (name, overflow) == (name, 0)
        screenshot(page, f"{name}-{language}-{scheme}-{width}")


@pytest.mark.usefixtures("sample")
def test_an_uploaded_configuration_is_planned_and_one_that_is_none_is_told_at_its_field(
    windows: Windows, team: Team, tmp_path: Path
) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(GPT2), encoding="utf-8")
    page = windows.new(team)
    page.goto("/projects/1/plans/new")
    page.get_by_label("Name of the plan").fill("From a file")
    page.get_by_label("Method").select_option("full")
    page.locator("summary", has_text="config.json").click()
    page.get_by_label("or choose the file").set_input_files(config)
    page.get_by_role("button", name="Save the plan").click()
    expect(page.locator("h1")).to_contain_text("From a file")
    page.get_by_text("Moments and formulas").click()
    # GPT-2's published count.
    expect(page.locator("main")).to_contain_text("124,439,808")
    config.write_text("not json", encoding="utf-8")
    page.goto("/projects/1/plans/new")
    page.get_by_label("Name of the plan").fill("Broken")
    page.locator("summary", has_text="config.json").click()
    page.get_by_label("or choose the file").set_input_files(config)
    page.get_by_role("button", name="Save the plan").click()
    expect(page.get_by_role("alert").first).to_contain_text("This is not JSON.")
