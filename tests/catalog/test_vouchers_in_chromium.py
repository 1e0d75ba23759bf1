"""Vouchers in a real browser: from the catalogue to a credit and back, without scripts, narrow and wide."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from app.accounts.models import Team
from app.i18n import Language
from tests.catalog.test_vouchers import add
from tests.fixtures.chromium import PHONE, WIDE, Windows
from tests.fixtures.clients import ApiClient
from tests.tracking.stories import make_project

pytestmark = [pytest.mark.browser, pytest.mark.one_database]


def add_voucher(page: Page) -> None:
    """Into the form that is open while there are none."""
    page.goto("/catalog/vouchers")
    form = page.locator("form", has=page.get_by_role("button", name="Add the voucher"))
    form.get_by_label("Provider").fill("alibaba")
    form.get_by_label("Amount").fill("50")
    form.get_by_label("Valid until").fill("2026-12-31")
    form.get_by_role("button", name="Add the voucher").click()


def log_credit(page: Page, form: Locator, amount: str) -> None:
    form.get_by_label("Kind").select_option("credit")
    form.get_by_label("Amount").fill(amount)
    form.get_by_label("From (Asia/Shanghai)").fill("2026-11-03T09:00")
    form.get_by_label("Voucher").select_option(label="alibaba · CNY 50.00 left · until 31 Dec 2026")
    page.get_by_role("button", name="Add the charge").click()


def test_a_credit_takes_of_a_voucher_and_gives_it_back(page: Page, api: ApiClient) -> None:
    project_id = make_project(api)
    add_voucher(page)
    row = page.locator("tbody tr")
    expect(row).to_contain_text("valid")
    expect(row.locator("td").nth(1)).to_contain_text("50.00")
    page.goto(f"/projects/{project_id}")
    page.get_by_role("link", name="Add a charge").click()
    form = page.locator("#charge-new form")
    log_credit(page, form, "-50.01")
    expect(form.locator(".field-error")).to_have_text("This voucher has only CNY 50.00 left.")
    form.get_by_label("Amount").fill("-30")
    form.get_by_role("button", name="Add the charge").click()
    charge = page.locator("#charges tbody tr")
    expect(charge).to_contain_text("From the voucher of alibaba")
    page.goto("/catalog/vouchers")
    expect(row.locator("td").nth(1)).to_contain_text("20.00")
    page.goto(f"/projects/{project_id}")
    charge.get_by_role("link", name="Edit").click()
    charge.locator("summary", has_text="Delete").click()
    charge.get_by_role("button", name="Delete the charge").click()
    expect(page.locator("#charges")).to_contain_text("A charge was deleted.")
    page.goto("/catalog/vouchers")
    expect(row.locator("td").nth(1)).to_contain_text("50.00")


def test_a_voucher_is_changed_in_its_place_deleted_and_brought_back(page: Page, api: ApiClient) -> None:
    add(api)
    page.goto("/catalog/vouchers")
    row = page.locator("tbody tr")
    row.get_by_role("link", name="Edit").click()
    row.get_by_label("Valid until").fill("2026-09-01")
    row.get_by_role("button", name="Save").click()
    expect(row.locator(".field-error")).to_have_text("The end lies before the beginning.")
    row.get_by_label("Valid until").fill("2026-12-10")
    row.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("expires within 14 days")
    row.locator("summary", has_text="Delete").click()
    row.get_by_role("button", name="Delete").click()
    expect(row).to_contain_text("The voucher was deleted.")
    row.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("expires within 14 days")


def test_it_works_without_scripts(windows: Windows, team: Team, api: ApiClient) -> None:
    project_id = make_project(api)
    page = windows.new(team, javascript=False)
    add_voucher(page)
    expect(page.locator("#flashes")).to_contain_text("The voucher was added.")
    page.goto(f"/projects/{project_id}/charges/new")
    log_credit(page, page.locator("main form").first, "-30")
    page.goto("/catalog/vouchers")
    expect(page.locator("tbody tr")).to_contain_text("20.00")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Amount").fill("29")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".field-error")).to_have_text("CNY 30.00 of it is used already.")


@pytest.mark.parametrize(
    ("language", "width", "scheme"), [("en", WIDE, "light"), ("zh-CN", PHONE, "dark"), ("zh-CN", WIDE, "light")]
)
def test_everybody_can_read_the_pages(
    windows: Windows,
    team: Team,
    api: ApiClient,
    assert_accessible: Callable[[Page], None],
    screenshot: Callable[[Page, str], None],
    language: Language,
    width: int,
    scheme: str,
) -> None:
    page = windows.new(team, language=language, width=width, scheme="dark" if scheme == "dark" else "light")
    project_id = make_project(api)

    def look(path: str, name: str) -> None:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert_accessible(page)
        screenshot(page, f"vouchers-{name}-{language}-{width}-{scheme}")

    look("/catalog/vouchers", "empty")
    first = add(api)["id"]
    add(api, provider="", valid_until=None, valid_from="2026-12-24")
    add(api, valid_until="2026-12-10", amount={"amount": "100000.00", "currency": "JPY"})
    add(api, valid_until="2026-11-30", note="a note that is rather long, as notes are when there is much to say")
    look("/catalog/vouchers", "table")
    look(f"/catalog/vouchers/{first}/edit", "form")
    look(f"/projects/{project_id}/charges/new", "charge")
    page.goto("/catalog/vouchers")
    page.locator(f"#voucher-{first} a.button").click()
    page.locator(f"#voucher-{first} form.form").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert_accessible(page)
