"""A user's own password."""

import pytest
from starlette.testclient import TestClient

from tests.accounts.conftest import PASSWORD, AddPerson, OpenBrowser
from tests.fixtures.clients import ApiClient

FORM = {"current_password": PASSWORD, "new_password": "another horse"}


@pytest.fixture
def browser(add_person: AddPerson, open_browser: OpenBrowser) -> TestClient:
    """Li Wei's, signed in."""
    add_person("Li Wei")
    browser = open_browser()
    browser.post("/sign-in", data={"name": "Li Wei", "password": PASSWORD})
    return browser


def test_a_new_password_signs_out_every_other_browser(browser: TestClient, open_browser: OpenBrowser) -> None:
    other = open_browser()
    other.post("/sign-in", data={"name": "Li Wei", "password": PASSWORD})
    answer = browser.post("/account/password", data=FORM)
    assert answer.status_code == 303
    assert "The password was changed." in browser.get("/account/password").text
    assert other.get("/team").status_code == 303
    assert other.post("/sign-in", data={"name": "Li Wei", "password": PASSWORD}).status_code == 401
    assert other.post("/sign-in", data={"name": "Li Wei", "password": "another horse"}).status_code == 303


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"current_password": "wrong horse"}, "This is not your password."),
        ({"current_password": ""}, "This field is required."),
        ({"new_password": "short"}, "at least 8 characters"),
    ],
)
def test_a_wrong_form_changes_nothing(browser: TestClient, form: dict[str, str], words: str) -> None:
    answer = browser.post("/account/password", data=FORM | form)
    assert answer.status_code == 422
    assert words in answer.text
    assert browser.post("/account/password", data=FORM).status_code == 303


def test_guessing_here_is_counted_too(browser: TestClient) -> None:
    for _ in range(10):
        browser.post("/account/password", data=FORM | {"current_password": "wrong horse"})
    refused = browser.post("/account/password", data=FORM)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1


def test_a_token_has_no_password(api: ApiClient, browser: TestClient) -> None:
    bearer = {"Authorization": api.headers["Authorization"]}
    assert browser.get("/account/password", headers=bearer).status_code == 404
