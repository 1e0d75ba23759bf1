"""Signing in and out, and what a session is worth."""

import pytest
from fastapi import FastAPI
from sqlmodel import select
from starlette.testclient import TestClient

from app.accounts.access import Actor
from app.accounts.cookies import PLAIN_COOKIE, SECURE_COOKIE
from app.accounts.credentials import digest
from app.accounts.models import BrowserSession, User
from app.accounts.passwords import Passwords
from app.accounts.service import get_membership, remove_member
from app.accounts.users import get_user, set_password
from app.db import Database
from app.settings import Settings
from tests.accounts.conftest import PASSWORD, AddPerson, OpenBrowser
from tests.fixtures.clock import MovableClock


@pytest.fixture(autouse=True)
def _li_wei(add_person: AddPerson) -> None:
    add_person("Li Wei", "owner")


def sign_in(browser: TestClient, **form: str) -> int:
    return browser.post("/sign-in", data={"name": "Li Wei", "password": PASSWORD, **form}).status_code


def cookies_set(browser: TestClient, **form: str) -> dict[str, str]:
    """What each Set-Cookie of a sign-in says, by the cookie's name."""
    answer = browser.post("/sign-in", data={"name": "Li Wei", "password": PASSWORD, **form})
    assert answer.status_code == 303
    lines = answer.headers.get_list("set-cookie")
    return {line.partition("=")[0]: line.lower() for line in lines}


def test_signing_in_and_out(open_browser: OpenBrowser) -> None:
    browser = open_browser()
    assert browser.get("/team").headers["location"] == "/sign-in?next=%2Fteam"
    assert sign_in(browser) == 303
    assert browser.get("/team").status_code == 200
    out = browser.post("/sign-out")
    assert (out.status_code, out.headers["location"]) == (303, "/sign-in")
    assert browser.get("/team").status_code == 303


def test_signing_out_ends_the_session_itself(open_browser: OpenBrowser) -> None:
    browser, thief = open_browser(), open_browser()
    sign_in(browser)
    thief.cookies.set(PLAIN_COOKIE, browser.cookies[PLAIN_COOKIE])
    assert thief.get("/team").status_code == 200
    browser.post("/sign-out")
    assert thief.get("/team").status_code == 303


def test_after_signing_in_comes_the_page_that_was_asked_for(open_browser: OpenBrowser) -> None:
    browser = open_browser()
    asked = browser.get("/reports/weekly?week=2026-W49&format=html")
    form = browser.get(asked.headers["location"])
    assert 'name="next" value="/reports/weekly?week=2026-W49&amp;format=html"' in form.text
    data = {"name": "Li Wei", "password": PASSWORD, "next": "/reports/weekly?week=2026-W49&format=html"}
    assert browser.post("/sign-in", data=data).headers["location"] == "/reports/weekly?week=2026-W49&format=html"


@pytest.mark.parametrize("elsewhere", ["//evil.example", "https://evil.example/", "/\\evil.example"])
def test_nobody_is_sent_to_another_site(open_browser: OpenBrowser, elsewhere: str) -> None:
    browser = open_browser()
    data = {"name": "Li Wei", "password": PASSWORD, "next": elsewhere}
    assert browser.post("/sign-in", data=data).headers["location"] == "/"
    assert browser.get("/sign-in", params={"next": elsewhere}).headers["location"] == "/"


def test_htmx_is_sent_to_the_sign_in_as_a_whole_page(open_browser: OpenBrowser) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://127.0.0.1:8000/catalog?gpu=a10"}
    answer = open_browser().get("/catalog?gpu=t4", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["hx-redirect"] == "/sign-in?next=%2Fcatalog%3Fgpu%3Da10"


@pytest.mark.parametrize("form", [{"password": "wrong horse"}, {"name": "Nobody"}, {"name": "owner"}])
def test_a_wrong_name_and_a_wrong_password_are_answered_alike(open_browser: OpenBrowser, form: dict[str, str]) -> None:
    browser = open_browser()
    answer = browser.post("/sign-in", data={"name": "Li Wei", "password": PASSWORD, **form})
    assert answer.status_code == 401
    assert "The name or the password is wrong." in answer.text
    assert "set-cookie" not in answer.headers


def test_what_is_missing_is_told(open_browser: OpenBrowser) -> None:
    answer = open_browser().post("/sign-in", data={"name": "Li Wei"})
    assert answer.status_code == 422
    assert "This field is required." in answer.text
    assert open_browser().post("/sign-in", data={"name": "a\x00", "password": "b"}).status_code == 422


@pytest.mark.one_database
def test_over_https_the_cookie_is_bound_to_the_host(open_browser: OpenBrowser) -> None:
    cookies = cookies_set(open_browser("https://ledger.example"))
    assert list(cookies) == [SECURE_COOKIE]
    parts = set(cookies[SECURE_COOKIE].split("; ")[1:])
    assert {"secure", "httponly", "samesite=lax", "path=/", "max-age=2592000"} == parts


@pytest.mark.one_database
@pytest.mark.parametrize("address", ["http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000"])
def test_on_loopback_clients_that_hold_secure_cookies_back_get_another(
    open_browser: OpenBrowser, address: str
) -> None:
    cookies = cookies_set(open_browser(address))
    assert set(cookies) == {SECURE_COOKIE, PLAIN_COOKIE}
    assert "; secure" in cookies[SECURE_COOKIE]
    assert "; secure" not in cookies[PLAIN_COOKIE]
    assert "; httponly" in cookies[PLAIN_COOKIE]


@pytest.mark.one_database
def test_over_plain_http_elsewhere_there_is_only_the_plain_cookie(open_browser: OpenBrowser) -> None:
    assert list(cookies_set(open_browser("http://ledger.example"))) == [PLAIN_COOKIE]


@pytest.mark.one_database
def test_behind_a_proxy_with_https_the_cookie_is_secure(
    app: FastAPI, settings: Settings, open_browser: OpenBrowser
) -> None:
    app.state.settings = settings.model_copy(update={"base_url": "https://ledger.example"})
    assert list(cookies_set(open_browser("http://10.0.0.2:8000"))) == [SECURE_COOKIE]


def test_a_cookie_planted_before_signing_in_is_worth_nothing_after(open_browser: OpenBrowser) -> None:
    browser = open_browser()
    browser.cookies.set(PLAIN_COOKIE, "planted")
    sign_in(browser)
    other = open_browser()
    other.cookies.set(PLAIN_COOKIE, "planted")
    assert other.get("/team").status_code == 303


def test_signing_in_again_ends_the_session_that_was(open_browser: OpenBrowser, database: Database) -> None:
    browser = open_browser()
    sign_in(browser)
    first = browser.cookies[PLAIN_COOKIE]
    sign_in(browser)
    assert browser.cookies[PLAIN_COOKIE] != first
    with database.read() as session:
        stored = session.exec(select(BrowserSession.token_sha256)).all()
    assert digest(first) not in stored
    # The secret itself stands nowhere.
    assert browser.cookies[PLAIN_COOKIE] not in stored


def test_a_session_ends_after_its_days(open_browser: OpenBrowser, clock: MovableClock) -> None:
    browser = open_browser()
    sign_in(browser)
    clock.advance(days=30, seconds=-1)
    assert browser.get("/team").status_code == 200
    clock.advance(seconds=1)
    assert browser.get("/team").status_code == 303


def test_dead_sessions_are_cleared_away(open_browser: OpenBrowser, clock: MovableClock, database: Database) -> None:
    sign_in(open_browser())
    clock.advance(days=31)
    sign_in(open_browser())
    with database.read() as session:
        assert len(session.exec(select(BrowserSession)).all()) == 1


def test_a_new_password_ends_every_session(open_browser: OpenBrowser, database: Database) -> None:
    browser = open_browser()
    sign_in(browser)
    with database.write() as session:
        user = session.exec(select(User).where(User.name == "Li Wei")).one()
        set_password(session, user, Passwords("argon2-cheap").hash("another horse"))
    assert browser.get("/team").status_code == 303
    assert sign_in(browser) == 401
    assert sign_in(browser, password="another horse") == 303


def test_who_was_removed_is_out_and_told_so(
    open_browser: OpenBrowser, database: Database, owner: Actor, add_person: AddPerson
) -> None:
    member = add_person("Chen Yu")
    browser = open_browser()
    sign_in(browser, name="Chen Yu")
    with database.write() as session:
        remove_member(session, owner, get_membership(session, owner, member.id))
    assert browser.get("/team").status_code == 303
    refused = browser.post("/sign-in", data={"name": "Chen Yu", "password": PASSWORD})
    assert refused.status_code == 403
    assert "not a member of a team" in refused.text


def test_a_hash_of_an_older_kind_is_replaced_at_sign_in(
    app: FastAPI, open_browser: OpenBrowser, database: Database
) -> None:
    with database.write() as session:
        user_id = session.exec(select(User).where(User.name == "Li Wei")).one().id or 0
    strong = Passwords("argon2")
    object.__setattr__(app.state.door, "passwords", strong)
    assert sign_in(open_browser()) == 303
    with database.read() as session:
        assert "m=65536" in get_user(session, user_id).password_hash


def test_ten_wrong_passwords_and_the_address_must_wait(open_browser: OpenBrowser) -> None:
    browser = open_browser()
    for _ in range(10):
        assert sign_in(browser, password="wrong horse") == 401
    refused = browser.post("/sign-in", data={"name": "Li Wei", "password": PASSWORD})
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert "Too many wrong attempts" in refused.text
    assert sign_in(open_browser(client="10.0.0.8")) == 303


def test_right_passwords_are_not_counted(open_browser: OpenBrowser) -> None:
    for _ in range(12):
        assert sign_in(open_browser()) == 303


def test_another_site_can_neither_sign_in_nor_out(open_browser: OpenBrowser) -> None:
    browser = open_browser()
    cross = {"Sec-Fetch-Site": "cross-site"}
    form = {"name": "Li Wei", "password": PASSWORD}
    assert browser.post("/sign-in", data=form, headers=cross).status_code == 403
    sign_in(browser)
    assert browser.post("/sign-out", headers=cross).status_code == 403
    assert browser.get("/team").status_code == 200


def test_who_is_signed_in_needs_no_form(open_browser: OpenBrowser) -> None:
    browser = open_browser()
    sign_in(browser)
    assert browser.get("/sign-in?next=/team").headers["location"] == "/team"


def test_the_form_speaks_the_reader_s_language(open_browser: OpenBrowser) -> None:
    page = open_browser(language="zh-CN").get("/sign-in").text
    assert 'lang="zh-CN"' in page
    assert "登录" in page
