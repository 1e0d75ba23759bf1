"""Hosted fine-tuning in a real browser: in the catalogue and under a search, in both languages, narrow and wide."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app.accounts.models import Team
from app.i18n import Language
from tests.fixtures.chromium import PHONE, WIDE, Windows
from tests.fixtures.clients import ApiClient

pytestmark = [pytest.mark.browser, pytest.mark.one_database]


@pytest.fixture
def search_path(api: ApiClient) -> str:
    """The search of a project, for 18 million tokens."""
    budget = {"amount": "500", "period": "total", "starts_on": "2026-10-01"}
    project = api.post("/projects", json={"name": "中文问答", "currency": "CNY", "budget": budget}).json()
    job = "model=llama-7b&sequence_length=512&workload.samples=20000&workload.epochs=3&workload.mean_tokens=300"
    return f"/projects/{project['id']}/plans/search?{job}&budget=80&providers="


def add_price(page: Page) -> None:
    page.goto("/catalog/hosted")
    page.get_by_text("Add a price of your own").click()
    form = page.locator("form", has=page.get_by_role("button", name="Add the price"))
    form.get_by_label("Provider").fill("lab")
    form.get_by_label("Service").fill("Campus trainer")
    form.get_by_label("Price per million tokens").fill("1.50")
    form.get_by_label("Parameters up to").fill("8")
    form.get_by_role("button", name="Add the price").click()


def test_a_price_is_added_changed_deleted_and_brought_back(page: Page, search_path: str) -> None:
    add_price(page)
    row = page.locator("tr", has_text="Campus trainer")
    expect(row).to_contain_text("up to 8\u00a0B")
    row.get_by_role("link", name="Edit").click()
    editing = page.locator("tr.edit-row")
    editing.get_by_label("Price per million tokens").fill("0")
    editing.get_by_role("button", name="Save").click()
    expect(editing).to_contain_text("A price must be greater than zero.")
    editing.get_by_label("Price per million tokens").fill("1.25")
    editing.get_by_label("Minimum charge").fill("25")
    editing.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("CNY\u00a01.25")
    page.goto(search_path)
    # 18 million tokens at 1.25 are 22.50, and 25 at least.
    expect(page.locator("#search-hosted tr", has_text="Campus trainer")).to_contain_text("CNY\u00a025.00")
    page.goto("/catalog/hosted")
    row.locator("summary", has_text="Delete").click()
    row.get_by_role("button", name="Delete").click()
    gone = page.locator("tr", has_text="was deleted")
    gone.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("CNY\u00a01.25")


def test_the_section_follows_the_search(page: Page, search_path: str) -> None:
    page.goto(search_path)
    section = page.locator("#search-hosted")
    expect(section.locator("tbody tr")).to_have_count(5)
    page.get_by_label("Method").select_option("full")
    expect(section.locator("tbody tr")).to_have_count(2)
    page.get_by_label("Samples").fill("")
    expect(section).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "width", "scheme"), [("en", PHONE, "dark"), ("zh-CN", PHONE, "light"), ("zh-CN", WIDE, "light")]
)
def test_everybody_can_read_it(
    windows: Windows,
    team: Team,
    page: Page,
    search_path: str,
    assert_accessible: Callable[[Page], None],
    screenshot: Callable[[Page, str], None],
    language: Language,
    width: int,
    scheme: str,
) -> None:
    add_price(page)
    page = windows.new(team, language=language, width=width, scheme="dark" if scheme == "dark" else "light")
    for name, path in (("catalog-hosted", "/catalog/hosted"), ("search-hosted", search_path)):
        page.goto(path)
        page.locator("#main details.more summary").last.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert_accessible(page)
        screenshot(page, f"{name}-{language}-{width}-{scheme}")
    page.goto("/catalog/hosted")
    page.locator("tr", has_text="Campus trainer").locator(".actions a").click()
    expect(page.locator("tr.edit-row")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert_accessible(page)
