"""What holds for every JSON route: the order of checks, problems, idempotency, body limits, cross-site requests."""

import json
import threading
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import event
from sqlmodel import Session

from app.db import Database
from tests.fixtures.clients import ApiClient

OFFER: dict[str, Any] = {
    "provider": "lab",
    "instance_type": "shelf",
    "gpu": "a10",
    "gpu_count": 1,
    "region": "basement",
    "billing": "on_demand",
    "price_per_hour": {"amount": "1.50", "currency": "CNY"},
    "as_of": "2026-11-30",
    "source": "our own electricity",
}


def own_offers(api: ApiClient) -> list[int]:
    answer = api.get("/catalog/offers", params={"provider": "lab"})
    return [item["id"] for item in answer.json()["items"]]


def test_without_a_token_even_an_unreadable_body_is_401(api: ApiClient) -> None:
    answer = api.post("/catalog/offers", content=b"{", headers={"Authorization": "Bearer wrong"})
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_path_that_does_not_exist_is_404_before_the_body_is_judged(api: ApiClient) -> None:
    for path in ("/projects/999999", "/projects/abc", "/projects/0", f"/projects/{2**63}"):
        answer = api.patch(path, content=b"{", headers={"Content-Type": "application/json"})
        assert (path, answer.status_code) == (path, 404)


def test_a_role_that_may_not_is_403_before_the_body_is_judged(viewer_api: ApiClient) -> None:
    answer = viewer_api.post("/catalog/offers", content=b"{", headers={"Content-Type": "application/json"})
    assert answer.status_code == 403


UNREADABLE = {
    "broken": b"{",
    "no text": b'{"a": \xff}',
    "deep": b"[" * 100_000,
    "deep but whole": b"[" * 9_999 + b"]" * 9_999,
}


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("path", ["/catalog/offers", "/projects", "/rates", "/estimates", "/plans/search"])
def test_an_unreadable_body_is_422(api: ApiClient, path: str, body: bytes) -> None:
    answer = api.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"field": "body", "message": "The body is not valid JSON."}]


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_change_is_no_empty_change(api: ApiClient, body: bytes) -> None:
    path = api.post("/catalog/offers", json=OFFER).headers["location"]
    headers = {"Content-Type": "application/json", "If-Match": api.get(path).headers["etag"]}
    assert api.patch(path, content=body, headers=headers).status_code == 422
    assert api.patch(path, content=b"{}", headers=headers).status_code == 200


def test_unknown_fields_and_floats_as_money_are_named(api: ApiClient) -> None:
    body = OFFER | {"colour": "red", "price_per_hour": {"amount": 1.5, "currency": "CNY"}}
    answer = api.post("/catalog/offers", json=body)
    assert answer.status_code == 422
    assert {error["field"] for error in answer.json()["errors"]} == {"colour", "price_per_hour.amount"}
    assert own_offers(api) == []


def test_errors_are_told_in_the_language_asked_for(api: ApiClient) -> None:
    english = api.get("/catalog/offers", params={"limit": 0}, headers={"Accept-Language": "en"}).json()
    chinese = api.get("/catalog/offers", params={"limit": 0}, headers={"Accept-Language": "zh-CN"}).json()
    assert english["errors"][0]["field"] == chinese["errors"][0]["field"] == "limit"
    assert english["errors"][0]["message"] == "This must be at least 1."
    assert chinese["errors"][0]["message"] == "不能小于 1。"


@pytest.mark.parametrize("cursor", ["x", "!!", "MTA=", "LTE", "4pi6"])
def test_a_cursor_that_we_did_not_make_is_422(api: ApiClient, cursor: str) -> None:
    answer = api.get("/catalog/offers", params={"cursor": cursor})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "cursor")


def test_pages_follow_one_another_without_gap_or_repetition(api: ApiClient) -> None:
    seen: list[int] = []
    cursor = None
    while True:
        params: dict[str, Any] = {"limit": 100} | ({"cursor": cursor} if cursor else {})
        answer = api.get("/catalog/offers", params=params).json()
        seen += [item["id"] for item in answer["items"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    everything = api.get("/catalog/offers", params={"limit": 500}).json()["items"]
    assert seen == [item["id"] for item in everything]
    assert len(seen) > 100


def test_a_repeated_post_gives_the_first_answer_and_does_nothing_more(api: ApiClient) -> None:
    first = api.post("/catalog/offers", json=OFFER, headers={"Idempotency-Key": "k1"})
    again = api.post("/catalog/offers", json=OFFER, headers={"Idempotency-Key": "k1"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again.headers["etag"] == first.headers["etag"]
    assert len(own_offers(api)) == 1


def test_the_same_key_for_another_body_is_409_and_stores_nothing(api: ApiClient) -> None:
    api.post("/catalog/offers", json=OFFER, headers={"Idempotency-Key": "k1"})
    other = api.post("/catalog/offers", json=OFFER | {"region": "attic"}, headers={"Idempotency-Key": "k1"})
    assert other.status_code == 409
    assert len(own_offers(api)) == 1


def test_a_refused_request_does_not_use_up_its_key(api: ApiClient) -> None:
    bad = api.post("/catalog/offers", json=OFFER | {"gpu": "nothing"}, headers={"Idempotency-Key": "k1"})
    good = api.post("/catalog/offers", json=OFFER, headers={"Idempotency-Key": "k1"})
    assert (bad.status_code, good.status_code) == (422, 201)


def test_keys_of_two_teams_have_nothing_to_do_with_each_other(api: ApiClient, other_api: ApiClient) -> None:
    mine = api.post("/catalog/offers", json=OFFER, headers={"Idempotency-Key": "k1"})
    theirs = other_api.post("/catalog/offers", json=OFFER, headers={"Idempotency-Key": "k1"})
    assert theirs.status_code == 201
    assert theirs.json()["id"] != mine.json()["id"]


def test_twins_sent_at_once_do_the_work_once(api: ApiClient) -> None:
    answers: list[Any] = []

    def send() -> None:
        answers.append(api.post("/catalog/offers", json=OFFER, headers={"Idempotency-Key": "twin"}))

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(own_offers(api)) == 1


def test_a_body_over_a_megabyte_is_413(api: ApiClient) -> None:
    body = json.dumps(OFFER | {"source": "x" * 1_000_001}).encode()
    answer = api.post("/catalog/offers", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


def test_a_body_that_does_not_say_its_length_is_counted(api: ApiClient) -> None:
    def parts() -> Any:
        yield from (b"x" * 100_000 for _ in range(11))

    answer = api.post("/catalog/offers", content=parts(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://odd.example"}, 401),
        ({}, 401),
    ],
)
def test_a_cross_site_change_without_a_token_is_403_before_all_else(
    app: FastAPI, api: ApiClient, headers: dict[str, str], status: int
) -> None:
    answer = api.post("/catalog/offers", content=b"{", headers={"Authorization": ""} | headers)
    assert answer.status_code == status


def test_a_cross_site_change_with_a_token_is_a_script(api: ApiClient) -> None:
    answer = api.post("/catalog/offers", json=OFFER, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 201


def test_no_answer_comes_before_the_commit(api: ApiClient, database: Database) -> None:
    """The commit is held back; no first byte of an answer may come until it is let go."""
    reached, let_go, answered = threading.Event(), threading.Event(), threading.Event()
    statuses: list[int] = []

    def hold(_session: Session) -> None:
        reached.set()
        let_go.wait(10)

    def send() -> None:
        statuses.append(api.post("/catalog/offers", json=OFFER).status_code)
        answered.set()

    event.listen(Session, "before_commit", hold)
    try:
        thread = threading.Thread(target=send)
        thread.start()
        assert reached.wait(10)
        assert not answered.wait(0.3)
        let_go.set()
        thread.join(10)
    finally:
        event.remove(Session, "before_commit", hold)
        let_go.set()
    assert statuses == [201]


def test_an_unexpected_fault_is_told_without_detail_and_stores_nothing(app: FastAPI, api: ApiClient) -> None:
    def fail(_session: Session) -> None:
        raise OSError("disk full at /secret/place")

    quiet = ApiClient(app, headers=dict(api.headers), raise_server_exceptions=False)
    event.listen(Session, "before_commit", fail)
    try:
        answer = quiet.post("/catalog/offers", json=OFFER)
    finally:
        event.remove(Session, "before_commit", fail)
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert own_offers(api) == []
