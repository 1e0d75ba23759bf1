"""What an offer has cost: kept at every change of the price, never shown to another team."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text

from app.accounts.models import Team
from app.db import Database
from tests.fixtures.clients import ApiClient
from tests.fixtures.clock import MovableClock

OFFER: dict[str, Any] = {
    "provider": "tencent",
    "instance_type": "PNV4.7XLARGE116",
    "gpu": "a10",
    "price_per_hour": {"amount": "3.20", "currency": "CNY"},
    "as_of": "2026-12-01",
    "source": "console",
}


def change(api: ApiClient, path: str, **body: Any) -> None:
    etag = api.get(path).headers["etag"]
    assert api.patch(path, json=body, headers={"If-Match": etag}).status_code == 200


def test_every_new_price_is_kept_with_its_day_and_who_entered_it(editor_api: ApiClient, clock: MovableClock) -> None:
    path = editor_api.post("/catalog/offers", json=OFFER).headers["location"]
    clock.advance(hours=1)
    change(editor_api, path, price_per_hour={"amount": "2.95", "currency": "CNY"}, source="mail")
    change(editor_api, path, as_of=None)
    change(editor_api, path, price_per_hour={"amount": "2.95", "currency": "USD"})
    # Neither of these is another price.
    change(editor_api, path, region="ap-guangzhou")
    change(editor_api, path, price_per_hour={"amount": "2.950", "currency": "USD"})
    prices = editor_api.get(f"{path}/prices").json()
    found = [(item["price_per_hour"]["amount"], item["price_per_hour"]["currency"], item["as_of"], item["source"])
             for item in prices["items"]]  # fmt: skip
    assert found == [
        ("3.20", "CNY", "2026-12-01", "console"),
        ("2.95", "CNY", "2026-12-01", "mail"),
        ("2.95", "CNY", None, "mail"),
        ("2.95", "USD", None, "mail"),
    ]
    assert [item["changed_at"] for item in prices["items"]][:2] == ["2026-12-01T03:00:00Z", "2026-12-01T04:00:00Z"]
    assert prices["items"][0]["changed_by"] == "editor's script"
    assert prices["next_cursor"] is None


def test_a_refused_change_leaves_no_price(editor_api: ApiClient) -> None:
    path = editor_api.post("/catalog/offers", json=OFFER).headers["location"]
    body = {"price_per_hour": {"amount": "1.00", "currency": "CNY"}}
    assert editor_api.patch(path, json=body, headers={"If-Match": '"9"'}).status_code == 412
    assert len(editor_api.get(f"{path}/prices").json()["items"]) == 1


def test_the_history_has_pages(editor_api: ApiClient) -> None:
    path = editor_api.post("/catalog/offers", json=OFFER).headers["location"]
    change(editor_api, path, as_of="2026-11-30")
    first = editor_api.get(f"{path}/prices", params={"limit": 1}).json()
    second = editor_api.get(f"{path}/prices", params={"limit": 1, "cursor": first["next_cursor"]}).json()
    assert [item["as_of"] for item in first["items"] + second["items"]] == ["2026-12-01", "2026-11-30"]


def test_another_team_s_prices_are_not_there(editor_api: ApiClient, other_api: ApiClient) -> None:
    path = editor_api.post("/catalog/offers", json=OFFER).headers["location"]
    assert other_api.get(f"{path}/prices").status_code == 404
    packaged = other_api.get("/catalog/offers").json()["items"][0]["id"]
    assert other_api.get(f"/catalog/offers/{packaged}/prices").json() == {"items": [], "next_cursor": None}


INSERT_OFFER = text(
    "INSERT INTO offer (team_id, provider, instance_type, gpu, gpu_label, gpu_count, region, billing, currency, "
    "price_per_hour, as_of, source, note, created_at, version) VALUES (:team, 'here', :name, 'a10', '', '1', '', "
    "'spot', 'CNY', 3200000, '2026-11-30', 'console', '', '2026-11-01 00:00:00', 1)"
)
INSERT_EVENT = text(
    "INSERT INTO audit_event (team_id, at, actor_name, action, subject_type, subject_id, details) "
    "VALUES (:team, '2026-11-05 10:00:00', 'Mei', 'changed', 'offer', :offer, '{}')"
)


def test_offers_that_were_there_begin_with_the_price_they_have(database: Database, team: Team) -> None:
    database.downgrade("0002")
    with database.engine.begin() as connection:
        connection.execute(INSERT_OFFER, {"team": team.id, "name": "old"})
        connection.execute(INSERT_OFFER, {"team": team.id, "name": "changed"})
        changed = connection.execute(text("SELECT id FROM offer WHERE instance_type = 'changed'")).scalar_one()
        connection.execute(INSERT_EVENT, {"team": team.id, "offer": changed})
    database.migrate()
    with database.engine.begin() as connection:
        rows = connection.execute(
            text("SELECT offer_id = :changed, price_per_hour, changed_by FROM offer_price ORDER BY id"),
            {"changed": changed},
        ).all()
        assert [(bool(row[0]), row[1], row[2]) for row in rows] == [(False, 3_200_000, ""), (True, 3_200_000, "Mei")]
        instants = [datetime.fromisoformat(str(row[0])) for row in connection.execute(
            text("SELECT changed_at FROM offer_price ORDER BY id"))]  # fmt: skip
    assert [instant.replace(tzinfo=UTC).day for instant in instants] == [1, 5]
    database.downgrade("0002")
    database.migrate()
    assert database.is_current()
