"""The catalogue's pages in a real browser: in place, in both languages, narrow and wide, for everybody."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Page, expect

from app.accounts.models import Team
from app.i18n import Language
from tests.fixtures.chromium import PHONE, WIDE, Windows

pytestmark = [pytest.mark.browser, pytest.mark.one_database]

PAGES = ["/catalog", "/catalog/compare?ids=50,72,74,90,120,150", "/catalog/gpus", "/catalog/models", "/catalog/rates"]


def add_offer(page: Page, price: str) -> None:
    page.goto("/catalog")
    page.get_by_text("Add an offer of your own").click()
    form = page.locator("form", has=page.get_by_role("button", name="Add the offer"))
    form.get_by_label("Provider").fill("tencent")
    form.get_by_label("Instance type").fill("PNV4.7XLARGE116")
    form.get_by_label("GPU", exact=True).select_option("a10")
    form.get_by_label("Billing").select_option("spot")
    form.get_by_label("Price per hour").fill(price)
    form.get_by_role("button", name="Add the offer").click()


def test_filters_change_the_table_at_once(page: Page) -> None:
    page.goto("/catalog")
    page.locator("#filter-field-gpu").select_option("a10")
    page.locator("#filter-field-region").select_option("cn-wulanchabu")
    expect(page.locator("#offers-table tbody tr")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"gpu=a10.*region=cn-wulanchabu"))


def test_an_offer_is_added_changed_deleted_and_brought_back(page: Page) -> None:
    add_offer(page, "3.20")
    page.goto("/catalog?gpu=a10&billing=spot")
    row = page.locator("tr", has_text="PNV4.7XLARGE116")
    expect(row).to_contain_text("CNY\u00a03.20")
    row.get_by_role("link", name="Edit").click()
    editing = page.locator("tr.edit-row")
    editing.get_by_label("Price per hour").fill("-1")
    editing.get_by_role("button", name="Save").click()
    expect(editing).to_contain_text("This amount cannot be negative.")
    editing.get_by_label("Price per hour").fill("3.05")
    editing.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("CNY\u00a03.05")
    row.locator("summary", has_text="Delete").click()
    row.get_by_role("button", name="Delete").click()
    gone = page.locator("tr", has_text="was deleted")
    expect(gone).to_be_visible()
    gone.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("CNY\u00a03.05")
    page.reload()
    expect(row).to_contain_text("CNY\u00a03.05")


def test_it_works_without_scripts(windows: Windows, team: Team) -> None:
    page = windows.new(team, javascript=False)
    add_offer(page, "3.20")
    page.locator("#filter-field-billing").select_option("spot")
    page.locator("#filter-field-gpu").select_option("a10")
    page.get_by_role("button", name="Show").click()
    page.locator("tr", has_text="PNV4.7XLARGE116").get_by_role("link", name="Edit").click()
    page.get_by_label("Price per hour").fill("3.05")
    page.get_by_role("button", name="Save").click()
    page.goto("/catalog?gpu=a10&billing=spot")
    expect(page.locator("tr", has_text="PNV4.7XLARGE116")).to_contain_text("CNY\u00a03.05")


@pytest.mark.parametrize(
    ("language", "width", "scheme"), [("zh-CN", WIDE, "light"), ("en", PHONE, "dark")]
)
def test_everybody_can_read_the_pages(
    windows: Windows,
    team: Team,
    assert_accessible: Callable[[Page], None],
    screenshot: Callable[[Page, str], None],
    language: Language,
    width: int,
    scheme: str,
) -> None:
    page = windows.new(team, language=language, width=width, scheme="dark" if scheme == "dark" else "light")
    for path in PAGES:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert_accessible(page)
        name = path.partition("?")[0].strip("/").replace("/", "-")
        screenshot(page, f"{name}-{language}-{width}-{scheme}")


def test_ticked_offers_stand_side_by_side_without_scripts(windows: Windows, team: Team) -> None:
    page = windows.new(team, javascript=False)
    page.goto("/catalog?provider=tencent&gpu=t4")
    for box in page.get_by_role("checkbox").all()[:2]:
        box.check()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("thead th.num")).to_have_count(2)


def test_a_price_list_is_previewed_and_imported(
    page: Page, assert_accessible: Callable[[Page], None], screenshot: Callable[[Page, str], None]
) -> None:
    content = (
        "provider,instance_type,gpu,billing,price_per_hour,currency\n"
        "here,box,a10,spot,3.20,CNY\nhere,crate,a11,spot,3.20,CNY\n"
    )
    page.goto("/catalog")
    page.get_by_text("Import a price list").click()
    file = FilePayload(name="prices.csv", mimeType="text/csv", buffer=content.encode())
    page.get_by_label("CSV file").set_input_files(file)
    page.get_by_role("button", name="Show a preview").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    assert_accessible(page)
    screenshot(page, "catalog-import-preview")
    page.get_by_role("button", name="Import").click()
    expect(page.locator("#flashes")).to_contain_text("1 new, 0 changed, 0 known, 1 refused.")
    page.goto("/catalog?gpu=a10&billing=spot")
    expect(page.locator("tr", has_text="box")).to_contain_text("CNY\u00a03.20")


def test_the_open_terms_and_history_can_be_read(
    windows: Windows,
    team: Team,
    assert_accessible: Callable[[Page], None],
    screenshot: Callable[[Page, str], None],
) -> None:
    page = windows.new(team, width=PHONE)
    add_offer(page, "3.20")
    page.goto("/catalog?gpu=a10&billing=spot")
    page.locator("tr", has_text="PNV4.7XLARGE116").get_by_role("link", name="Edit").click()
    editing = page.locator("tr.edit-row")
    editing.get_by_text("Terms", exact=True).click()
    editing.get_by_label("Discount", exact=True).fill("10")
    editing.get_by_label("Tier 1 from").fill("96")
    editing.get_by_label("Tier 1 costs").fill("50")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    assert_accessible(page)
    screenshot(page, "catalog-terms-form")
    editing.get_by_role("button", name="Save").click()
    row = page.locator("tr", has_text="PNV4.7XLARGE116")
    expect(row).to_contain_text("CNY\u00a02.88 today")
    row.get_by_text("Price history").click()
    assert_accessible(page)
    screenshot(page, "catalog-terms-row")
