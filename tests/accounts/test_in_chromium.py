"""Set-up, sign-in and the team's page in a real browser: both languages, narrow and wide, without scripts too."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app.accounts.cookies import SECURE_COOKIE
from app.accounts.models import Team
from app.accounts.setup import new_setup_token
from app.db import Database
from app.i18n import Language
from tests.accounts.conftest import PASSWORD, AddPerson
from tests.fixtures.chromium import PHONE, WIDE, Windows
from tests.fixtures.clock import MovableClock

pytestmark = [pytest.mark.browser, pytest.mark.one_database]

Check = Callable[[Page], None]
Screenshot = Callable[[Page, str], None]

WORDS: dict[Language, dict[str, str]] = {
    "en": {"name": "User name", "password": "Password", "team": "Name of the team", "begin": "Begin", "in": "Sign in"},
    "zh-CN": {"name": "用户名", "password": "密码", "team": "团队名称", "begin": "开始使用", "in": "登录"},
}


@pytest.fixture
def token(database: Database, clock: MovableClock) -> str:
    with database.write() as session:
        return new_setup_token(session, clock())


def set_up(page: Page, token: str, language: Language) -> None:
    words = WORDS[language]
    page.goto(f"/setup?token={token}")
    page.get_by_label(words["name"]).fill("Li Wei")
    page.get_by_label(words["password"]).fill(PASSWORD)
    page.get_by_label(words["team"]).fill("四人小组")
    page.get_by_role("button", name=words["begin"]).click()
    expect(page.get_by_text("LLaMA-7B 中文问答").first).to_be_visible()


@pytest.mark.parametrize(("language", "width"), [("en", WIDE), ("zh-CN", PHONE)])
def test_from_the_link_to_the_sample_project(
    windows: Windows,
    token: str,
    assert_accessible: Check,
    screenshot: Screenshot,
    language: Language,
    width: int,
) -> None:
    page = windows.new(language=language, width=width)
    page.goto("/")
    expect(page.locator("h1")).to_be_visible()
    assert_accessible(page)
    # The browser logs that the page answered 503, which is what it should.
    assert [fault for fault in windows.faults if "503" not in fault] == []
    windows.faults.clear()
    page.goto(f"/setup?token={token}")
    assert_accessible(page)
    screenshot(page, f"setup-{language}-{width}")
    set_up(page, token, language)
    # The choice of the form holds from the first page on.
    expect(page.locator("html")).to_have_attribute("lang", language)
    page.goto(f"/setup?token={token}")
    expect(page.get_by_role("link", name=WORDS[language]["in"])).to_be_visible()


def test_the_form_proposes_the_browser_s_time_zone(windows: Windows, token: str) -> None:
    page = windows.new()
    zone = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    page.goto(f"/setup?token={token}")
    expect(page.get_by_label("Time zone")).to_have_value(zone)
    page.get_by_label("Time zone").select_option("Asia/Urumqi")
    page.get_by_label("User name").fill("Li Wei")
    page.get_by_label("Password").fill(PASSWORD)
    # Spaces pass the browser's own check and not ours.
    page.get_by_label("Name of the team").fill(" ")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("alert")).to_contain_text("This field is required.")
    # What was chosen stays chosen.
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Urumqi")


@pytest.mark.parametrize("javascript", [True, False])
def test_signing_in_with_the_secure_cookie_and_out(
    windows: Windows, team: Team, add_person: AddPerson, javascript: bool
) -> None:
    add_person("Li Wei")
    page = windows.new(javascript=javascript)
    page.goto("/team")
    expect(page).to_have_url(f"{windows.address}/sign-in?next=%2Fteam")
    page.get_by_label("User name").fill("Li Wei")
    page.get_by_label("Password").fill("wrong horse")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("The name or the password is wrong.")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name=team.name)).to_be_visible()
    cookies = {cookie["name"]: cookie for cookie in page.context.cookies()}
    assert cookies[SECURE_COOKIE]["secure"]
    assert cookies[SECURE_COOKIE]["httpOnly"]
    # Chromium keeps it on plain http to this host, and it is enough.
    page.context.clear_cookies(name="tuneledger")
    page.reload()
    expect(page.get_by_role("heading", name=team.name)).to_be_visible()
    page.locator("summary", has_text=team.name).click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert SECURE_COOKIE not in {cookie["name"] for cookie in page.context.cookies()}


@pytest.mark.parametrize("javascript", [True, False])
def test_an_owner_adds_changes_and_removes_a_member(windows: Windows, team: Team, javascript: bool) -> None:
    page = windows.new(team, javascript=javascript)
    page.goto("/team")
    page.locator("summary", has_text="Add a member").click()
    page.get_by_label("User name").fill("Chen Yu")
    page.get_by_label("First password").fill(PASSWORD)
    page.get_by_role("button", name="Add the member").click()
    row = page.locator("tr", has_text="Chen Yu")
    expect(row.get_by_label("Role of Chen Yu")).to_have_value("editor")
    row.get_by_label("Role of Chen Yu").select_option("viewer")
    row.get_by_role("button", name="Change").click()
    expect(row.get_by_label("Role of Chen Yu")).to_have_value("viewer")
    row.locator("summary", has_text="Remove").click()
    row.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("status").filter(has_text="The member was removed.")).to_be_visible()
    expect(row).to_have_count(0)


def test_a_new_token_is_there_to_be_copied(page: Page, assert_accessible: Check, screenshot: Screenshot) -> None:
    page.goto("/team")
    page.locator("summary", has_text="Make a token").click()
    page.get_by_label("Name", exact=True).fill("nightly")
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_label("The new token")).to_have_value(re.compile(r"tl_[\w-]{40,}"))
    assert_accessible(page)
    screenshot(page, "team-new-token")


@pytest.mark.parametrize(
    ("language", "width", "scheme"), [("zh-CN", WIDE, "light"), ("en", PHONE, "dark")]
)
def test_everybody_can_read_the_pages(
    windows: Windows,
    team: Team,
    assert_accessible: Check,
    screenshot: Screenshot,
    language: Language,
    width: int,
    scheme: str,
) -> None:
    look = "dark" if scheme == "dark" else "light"
    for who, path in ((team, "/team"), (team, "/account/password"), (None, "/sign-in")):
        page = windows.new(who, language=language, width=width, scheme=look)  # type: ignore[arg-type]
        page.goto(path)
        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        screenshot(page, f"accounts{path.replace('/', '-')}-{language}-{width}-{scheme}")
