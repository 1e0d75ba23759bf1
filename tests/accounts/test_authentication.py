"""Bearer tokens: wrong ones are counted, right ones never."""

from fastapi import FastAPI
from starlette.testclient import TestClient

from app.accounts.access import Actor
from app.accounts.inputs import TokenInput
from app.accounts.models import Team
from app.accounts.tokens import create_token
from tests.fixtures.clients import ApiClient
from tests.fixtures.clock import MovableClock
from tests.fixtures.people import People


def test_wrong_tokens_are_counted_and_right_ones_are_not(app: FastAPI, api: ApiClient) -> None:
    with TestClient(app, headers={"Authorization": "Bearer tl_guess"}) as guesser:
        statuses = [guesser.get("/api/v1/projects").status_code for _ in range(10)]
        refused = guesser.get("/api/v1/projects")
    assert statuses == [401] * 10
    assert refused.status_code == 429
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["type"] == "too-many-attempts"
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    # From the same address: a valid token is never held up.
    assert [api.get("/projects").status_code for _ in range(30)] == [200] * 30


def test_a_missing_token_is_no_attempt(anonymous: TestClient) -> None:
    answers = [anonymous.get("/api/v1/projects") for _ in range(12)]
    assert {answer.status_code for answer in answers} == {401}
    assert answers[0].headers["www-authenticate"] == "Bearer"


def test_an_unreadable_body_does_not_come_before_the_token(anonymous: TestClient) -> None:
    headers = {"Content-Type": "application/json", "Authorization": "Bearer tl_guess"}
    assert anonymous.post("/api/v1/projects", content=b"{", headers=headers).status_code == 401


def test_a_wrong_token_beside_a_valid_cookie_opens_nothing(pages: TestClient) -> None:
    headers = {"Authorization": "Bearer tl_guess"}
    assert pages.get("/team", headers=headers).status_code == 401
    assert pages.get("/api/v1/projects", headers=headers).status_code == 401


def test_a_browser_session_opens_the_api(pages: TestClient) -> None:
    assert pages.get("/api/v1/projects").status_code == 200


def test_an_expired_token_opens_nothing(app: FastAPI, people: People, team: Team, clock: MovableClock) -> None:
    with people.database.write() as session:
        data = TokenInput(name="nightly", role="viewer", expires_days=1)
        secret = create_token(session, Actor(team, "owner", "owner", clock), data)
    with TestClient(app, headers={"Authorization": f"Bearer {secret}"}) as script:
        assert script.get("/api/v1/projects").status_code == 200
        clock.advance(days=1)
        assert script.get("/api/v1/projects").status_code == 401


def test_readiness_needs_nobody(anonymous: TestClient) -> None:
    assert anonymous.get("/readyz").status_code in (200, 503)
    assert anonymous.get("/healthz").json() == {"status": "ok"}
