"""Language and theme, before and after signing in."""

import pytest
from starlette.testclient import TestClient

from tests.accounts.conftest import PASSWORD, AddPerson, OpenBrowser

HERE = "http://127.0.0.1:8000"


@pytest.fixture
def browser(add_person: AddPerson, open_browser: OpenBrowser) -> TestClient:
    """Nobody's, in English; Li Wei could sign in."""
    add_person("Li Wei")
    return open_browser(HERE)


def test_the_language_stays_with_the_browser(browser: TestClient) -> None:
    back = {"Referer": f"{HERE}/sign-in?next=%2Fteam"}
    answer = browser.post("/preferences/language", data={"language": "zh-CN"}, headers=back)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2Fteam")
    assert 'lang="zh-CN"' in browser.get("/sign-in").text


def test_the_language_comes_along_to_another_browser(browser: TestClient, open_browser: OpenBrowser) -> None:
    form = {"name": "Li Wei", "password": PASSWORD}
    browser.post("/sign-in", data=form)
    browser.post("/preferences/language", data={"language": "zh-CN"})
    other = open_browser(language="en")
    other.post("/sign-in", data=form)
    assert 'lang="zh-CN"' in other.get("/team").text


def test_the_theme_stays_with_the_browser(browser: TestClient) -> None:
    browser.post("/preferences/theme", data={"theme": "dark"})
    assert 'data-theme="dark"' in browser.get("/sign-in").text
    browser.post("/preferences/theme", data={"theme": "auto"})
    assert "data-theme" not in browser.get("/sign-in").text


@pytest.mark.parametrize(
    "referer", ["https://evil.example/", f"{HERE}//evil.example", f"{HERE}/team/tokens", f"{HERE}/no/such/page"]
)
def test_the_way_back_is_a_page_of_this_site(browser: TestClient, referer: str) -> None:
    answer = browser.post("/preferences/theme", data={"theme": "dark"}, headers={"Referer": referer})
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize(
    ("path", "form"), [("language", {"language": "fr"}), ("theme", {"theme": "pink"}), ("language", {})]
)
def test_there_is_no_other_language_or_theme(browser: TestClient, path: str, form: dict[str, str]) -> None:
    assert browser.post(f"/preferences/{path}", data=form).status_code == 422
