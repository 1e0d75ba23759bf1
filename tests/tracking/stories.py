"""Projects, runs and charges as the tests of tracking begin with them."""

from typing import Any

from tests.fixtures.clients import ApiClient

RUN: dict[str, Any] = {
    "name": "sft-1",
    "instance": "ins-ab12",
    "price_per_hour": {"amount": "3.20", "currency": "CNY"},
    "started_at": "2026-11-02T09:00:00+08:00",
    "ended_at": "2026-11-02T21:00:00+08:00",
}
CHARGE: dict[str, Any] = {
    "category": "usage",
    "service": "storage",
    "amount": {"amount": "6.40", "currency": "CNY"},
    "period_start": "2026-11-01T00:00:00+08:00",
    "period_end": "2026-11-29T00:00:00+08:00",
}


def make_project(
    api: ApiClient, name: str = "QA", amount: str = "500", *, block_when_spent: bool = False
) -> int:
    """A project in CNY with a budget in total."""
    budget = {
        "amount": amount,
        "period": "total",
        "starts_on": "2026-10-01",
        "block_when_spent": block_when_spent,
    }
    answer = api.post("/projects", json={"name": name, "currency": "CNY", "budget": budget})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def figures(api: ApiClient, project_id: int) -> dict[str, Any]:
    """The project's answer."""
    answer: dict[str, Any] = api.get(f"/projects/{project_id}").json()
    return answer


def log_run(api: ApiClient, project_id: int, **changes: Any) -> dict[str, Any]:
    """Twelve hours at 3.20, unless changed."""
    return _made(api, f"/projects/{project_id}/runs", RUN | changes)


def log_charge(api: ApiClient, project_id: int, **changes: Any) -> dict[str, Any]:
    """Four weeks of storage for 6.40, unless changed."""
    return _made(api, f"/projects/{project_id}/charges", CHARGE | changes)


def change(api: ApiClient, path: str, **changes: Any) -> dict[str, Any]:
    """Patches whatever version there is."""
    answer = api.patch(path, json=changes, headers={"If-Match": "*"})
    assert answer.status_code == 200, answer.text
    changed: dict[str, Any] = answer.json()
    return changed


def _made(api: ApiClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post(path, json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made
