"""The first start: one link, once; until then nothing else answers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from fastapi import FastAPI
from sqlmodel import select
from starlette.testclient import TestClient

from app.accounts.models import AuditEvent, Membership, Team, User
from app.accounts.setup import new_setup_token
from app.db import Database
from tests.accounts.conftest import OpenBrowser
from tests.fixtures.clock import MovableClock
from tests.fixtures.people import People

FORM = {
    "name": "Li Wei",
    "password": "correct horse",
    "team_name": "四人小组",
    "currency": "CNY",
    "time_zone": "Asia/Shanghai",
    "language": "zh-CN",
}
PrintLink = Callable[[], str]


@pytest.fixture
def print_link(database: Database, clock: MovableClock) -> PrintLink:
    """The token of a new link, as a start of the server prints it."""

    def make() -> str:
        with database.write() as session:
            return new_setup_token(session, clock())

    return make


@pytest.fixture
def browser(open_browser: OpenBrowser) -> TestClient:
    return open_browser()


def users(database: Database) -> list[str]:
    with database.read() as session:
        return sorted(session.exec(select(User.name)).all())


@pytest.mark.parametrize("path", ["/", "/sign-in", "/projects", "/team", "/catalog", "/no/such/page"])
def test_until_set_up_no_page_answers(browser: TestClient, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == 503
    assert "Open the link that the server printed" in answer.text


def test_until_set_up_no_form_is_taken(browser: TestClient) -> None:
    assert browser.post("/sign-in", data={"name": "x", "password": "y"}).status_code == 503


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/api/v1/openapi.json", "/static/css/page.css"])
def test_what_answers_before_set_up(browser: TestClient, path: str) -> None:
    assert browser.get(path).status_code == 200


def test_a_bearer_token_works_at_once_but_opens_no_page(browser: TestClient, people: People) -> None:
    bearer = {"Authorization": f"Bearer {people.make_token(people.make_team('Lab'))}"}
    assert browser.get("/api/v1/projects", headers=bearer).status_code == 200
    assert browser.get("/api/v1/projects").status_code == 401
    assert browser.get("/team", headers=bearer).status_code == 503


def test_set_up_makes_an_owner_with_the_sample_project(
    browser: TestClient, print_link: PrintLink, database: Database
) -> None:
    token = print_link()
    form = browser.get(f"/setup?token={token}")
    assert form.status_code == 200
    assert "At least 8 characters" in form.text
    assert '<option value="Asia/Shanghai" selected>' in form.text
    answer = browser.post("/setup", data=FORM | {"token": token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    with database.read() as session:
        team = session.exec(select(Team)).one()
        membership = session.exec(select(Membership)).one()
        events = session.exec(select(AuditEvent.action, AuditEvent.subject_type)).all()
    assert (team.name, team.currency, team.time_zone, team.language) == ("四人小组", "CNY", "Asia/Shanghai", "zh-CN")
    assert membership.role == "owner"
    assert ("created", "team") in events
    # Signed in, in the language that was chosen.
    page = browser.get("/team")
    assert page.status_code == 200
    assert 'lang="zh-CN"' in page.text
    projects = browser.get("/api/v1/projects").json()["items"]
    assert [(project["name"], project["spent"]["amount"]) for project in projects] == [("LLaMA-7B 中文问答", "188.40")]


def test_the_token_in_the_address_is_enough(browser: TestClient, print_link: PrintLink) -> None:
    assert browser.post(f"/setup?token={print_link()}", data=FORM).status_code == 303


def test_the_link_works_once(
    browser: TestClient, open_browser: OpenBrowser, print_link: PrintLink, database: Database
) -> None:
    token = print_link()
    browser.post("/setup", data=FORM | {"token": token})
    other = open_browser()
    page = other.get(f"/setup?token={token}")
    assert page.status_code == 404
    assert "set up already" in page.text
    assert other.post("/setup", data=FORM | {"token": token, "name": "Mallory"}).status_code == 404
    assert users(database) == ["Li Wei"]


def test_only_the_newest_link_works(browser: TestClient, print_link: PrintLink, database: Database) -> None:
    old, new = print_link(), print_link()
    assert browser.get(f"/setup?token={old}").status_code == 403
    refused = browser.post("/setup", data=FORM | {"token": old})
    assert refused.status_code == 403
    assert "Only the newest link works" in refused.text
    assert users(database) == []
    assert browser.post("/setup", data=FORM | {"token": new}).status_code == 303


@pytest.mark.parametrize("query", ["", "?token=", "?token=guess", "?token=%00"])
def test_a_wrong_link_opens_nothing(browser: TestClient, print_link: PrintLink, query: str) -> None:
    print_link()
    assert browser.get(f"/setup{query}").status_code == 403
    assert browser.post(f"/setup{query}", data=FORM).status_code == 403


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "  ", "This field is required."),
        ("name", "a\x00b", "cannot be stored"),
        ("password", "7 chars", "at least 8 characters"),
        ("team_name", "", "This field is required."),
        ("currency", "XXL", "ISO 4217"),
        ("time_zone", "Asia/Nowhere", "There is no such time zone"),
        ("language", "fr", "Choose one of"),
    ],
)
def test_a_wrong_field_is_told_and_nothing_is_stored(
    browser: TestClient, print_link: PrintLink, database: Database, field: str, value: str, words: str
) -> None:
    token = print_link()
    answer = browser.post("/setup", data=FORM | {"token": token, field: value})
    assert answer.status_code == 422
    assert words in answer.text
    assert "correct horse" not in answer.text
    assert users(database) == []
    assert browser.post("/setup", data=FORM | {"token": token}).status_code == 303


def test_a_team_that_a_token_made_becomes_the_owner_s(
    browser: TestClient, print_link: PrintLink, people: People, database: Database
) -> None:
    people.make_team("Lab", language="en", currency="USD")
    token = print_link()
    form = browser.get(f"/setup?token={token}").text
    assert 'value="Lab"' in form
    assert '<option value="USD" selected>' in form
    browser.post("/setup", data=FORM | {"token": token, "team_name": "Lab", "currency": "CNY"})
    with database.read() as session:
        team = session.exec(select(Team)).one()
    assert (team.name, team.currency, team.language) == ("Lab", "CNY", "zh-CN")


def test_of_two_who_open_the_link_one_wins(app: FastAPI, print_link: PrintLink, database: Database) -> None:
    token = print_link()
    start = Barrier(4)

    def attempt(number: int) -> int:
        with TestClient(app, follow_redirects=False) as browser:
            start.wait()
            form = FORM | {"token": token, "name": f"User {number}", "team_name": f"Team {number}"}
            return browser.post("/setup", data=form).status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(attempt, range(4)))
    assert statuses == [303, 404, 404, 404]
    assert len(users(database)) == 1


def test_another_site_cannot_set_up(open_browser: OpenBrowser, print_link: PrintLink, database: Database) -> None:
    browser = open_browser()
    form = FORM | {"token": print_link()}
    assert browser.post("/setup", data=form, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert users(database) == []
