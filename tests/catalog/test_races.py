"""Two members at the same moment: nobody's change is lost, nothing is stored twice."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from app.accounts.models import Team
from tests.fixtures.clients import Clients


def at_once(calls: list[Callable[[], Any]]) -> list[int]:
    """The status codes of requests that start together."""
    start = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> int:
        start.wait()
        status: int = call().status_code
        return status

    with ThreadPoolExecutor(len(calls)) as pool:
        return sorted(pool.map(run, calls))


def test_of_two_changes_to_one_version_the_second_is_refused(clients: Clients, team: Team) -> None:
    first, second = clients.api(team, "editor"), clients.api(team, "owner")
    body = {
        "provider": "here",
        "instance_type": "box",
        "gpu": "a10",
        "price_per_hour": {"amount": "3.20", "currency": "CNY"},
    }
    made = first.post("/catalog/offers", json=body)
    path, headers = made.headers["location"], {"If-Match": made.headers["etag"]}
    statuses = at_once(
        [
            lambda: first.patch(path, json={"region": "first"}, headers=headers),
            lambda: second.patch(path, json={"region": "second"}, headers=headers),
        ]
    )
    assert statuses == [200, 412]


def test_a_rate_saved_twice_at_once_is_one_rate(clients: Clients, team: Team) -> None:
    apis = [clients.api(team, "editor") for _ in range(4)]
    rate = {"from": "USD", "to": "CNY", "date": "2026-11-02", "rate": "7.10"}
    statuses = at_once([lambda api=api: api.post("/rates", json=rate) for api in apis])  # type: ignore[misc]
    assert statuses == [200, 200, 200, 201]
    assert len(apis[0].get("/rates").json()["items"]) == 1
