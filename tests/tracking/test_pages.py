"""The forms and tables of runs and charges, by a browser without JavaScript and by htmx."""

import html
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.accounts.models import Team
from tests.fixtures.clients import ApiClient, Clients
from tests.tracking.stories import change, log_charge, log_run, make_project

HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
FORM = {
    "name": "sft-1",
    "started_at": "2026-11-02T09:00",
    "ended_at": "",
    "hours": "12",
    "state": "",
    "offer_id": "",
    "price_per_hour.amount": "3.20",
    "price_per_hour.currency": "CNY",
}
CHARGE_FORM = {
    "category": "credit",
    "service": "compute",
    "amount.amount": "-10",
    "amount.currency": "CNY",
    "period_start": "2026-11-02T09:00",
    "period_end": "",
}


@pytest.fixture
def project_id(api: ApiClient) -> int:
    return make_project(api)


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page))).replace("\u00a0", " ")


def field_errors(page: str) -> dict[str, str]:
    """The errors that stand at fields, by the end of the field's id."""
    found = re.findall(
        r'<p class="field-error" id="(?:run|charge)-\w+-field-([\w-]+)-error">([^<]*)</p>', page
    )
    return {name: html.unescape(text) for name, text in found}


def shown_values(page: str) -> dict[str, str]:
    """What the form's fields hold, as a browser would send them."""
    values = dict(re.findall(r'<input [^>]*name="([^"]+)"[^>]*? value="([^"]*)"', page))
    for name, options in re.findall(r'<select [^>]*name="([^"]+)"[^>]*>(.*?)</select>', page, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options) or re.search(
            r'<option value="([^"]*)"', options
        )
        values[name] = chosen[1] if chosen else ""
    if not re.search(r'name="out_of_memory"[^>]* checked', page):
        values.pop("out_of_memory", None)
    return {name: html.unescape(value) for name, value in values.items()}


def stored(api: ApiClient, project_id: int, kind: str = "runs") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.get(f"/projects/{project_id}/{kind}").json()["items"]
    return items


def test_a_run_is_logged_in_the_teams_own_time(pages: TestClient, api: ApiClient, project_id: int) -> None:
    answer = pages.post(
        f"/projects/{project_id}/runs", data=FORM | {"peak_memory_gib": "17.4", "note": "first"}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, f"/projects/{project_id}")
    (run,) = stored(api, project_id)
    assert (run["started_at"], run["ended_at"]) == ("2026-11-02T01:00:00Z", "2026-11-02T13:00:00Z")
    assert (run["cost"]["amount"], run["peak_memory_bytes"], run["note"]) == (
        "38.40",
        18_683_107_738,
        "first",
    )
    text = text_of(pages.get(f"/projects/{project_id}").text)
    assert "1 run · 12.0 h · 12.0 GPU·h" in text
    assert "2026-11-02 09:00 12.0 sft-1" in text


def test_mistakes_stand_at_their_fields_and_nothing_is_lost(
    pages: TestClient, api: ApiClient, project_id: int
) -> None:
    wrong = FORM | {
        "hours": "many",
        "price_per_hour.amount": "-1",
        "peak_memory_gib": "",
        "note": "kept",
        "gpu": "a11",
    }
    answer = pages.post(f"/projects/{project_id}/runs", data=wrong)
    assert answer.status_code == 422
    assert field_errors(answer.text) == {
        "hours": "This must be a number.",
        "price-per-hour-amount": "This amount cannot be negative.",
    }
    assert shown_values(answer.text)["note"] == "kept"
    assert "<html" in answer.text
    assert stored(api, project_id) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"price_per_hour.amount": ""}, "price-per-hour-amount"),
        ({"price_per_hour.currency": "KWD"}, "exchange-rate-rate"),
        ({"peak_memory_gib": "much"}, "peak-memory-gib"),
        ({"peak_memory_gib": "0"}, "peak-memory-gib"),
        ({"ended_at": "2026-11-02T08:00", "hours": ""}, "ended-at"),
        ({"gpu": "a11"}, "gpu"),
    ],
)
def test_every_mistake_has_a_field(
    pages: TestClient, project_id: int, changes: dict[str, str], field: str
) -> None:
    answer = pages.post(f"/projects/{project_id}/runs", data=FORM | changes)
    assert (answer.status_code, list(field_errors(answer.text))) == (422, [field])


def test_htmx_gets_the_form_back_into_its_place(pages: TestClient, project_id: int) -> None:
    answer = pages.post(f"/projects/{project_id}/runs", data=FORM | {"name": ""}, headers=HTMX)
    assert (answer.status_code, answer.headers["hx-retarget"]) == (422, "#run-new")
    assert answer.text.lstrip().startswith('<div id="run-new"')
    accepted = pages.post(f"/projects/{project_id}/runs", data=FORM, headers=HTMX)
    assert accepted.status_code == 303


def test_an_offer_alone_brings_its_price(pages: TestClient, api: ApiClient, project_id: int) -> None:
    price = {"amount": "4.00", "currency": "CNY"}
    offer = {
        "provider": "here",
        "instance_type": "box",
        "gpu": "a10",
        "billing": "spot",
        "price_per_hour": price,
    }
    offer_id = str(api.post("/catalog/offers", json=offer).json()["id"])
    form = FORM | {"offer_id": offer_id, "price_per_hour.amount": ""}
    assert pages.post(f"/projects/{project_id}/runs", data=form).status_code == 303
    assert (stored(api, project_id)[0]["cost"]["amount"], stored(api, project_id)[0]["gpu"]) == (
        "48.00",
        "a10",
    )
    next_form = shown_values(pages.get(f"/projects/{project_id}/runs/new").text)
    assert (next_form["name"], next_form["offer_id"], next_form["price_per_hour.amount"]) == (
        "sft-2",
        offer_id,
        "",
    )


def test_saving_an_untouched_form_changes_nothing(pages: TestClient, api: ApiClient, project_id: int) -> None:
    run = log_run(
        api,
        project_id,
        started_at="2026-11-02T09:00:17.25+08:00",
        peak_memory_bytes=18_683_107_739,
        tokens_per_second=1050.1234567,
        out_of_memory=True,
        note="two\nlines",
        interruptions=1,
        gpus_per_instance=0.25,
    )
    path = f"/projects/{project_id}/runs/{run['id']}"
    assert pages.post(path, data=shown_values(pages.get(f"{path}/edit").text)).status_code == 303
    assert api.get(path).json() == run


def test_what_the_form_changes_is_changed_and_nothing_else(
    pages: TestClient, api: ApiClient, project_id: int
) -> None:
    run = log_run(
        api, project_id, started_at="2026-11-02T09:00:17+08:00", note="x", steps_done=5, out_of_memory=True
    )
    path = f"/projects/{project_id}/runs/{run['id']}"
    values = shown_values(pages.get(f"{path}/edit").text)
    del values["out_of_memory"]
    changed = values | {"note": "", "steps_done": "", "hours": "2", "out_of_memory.shown": "1"}
    assert pages.post(path, data=changed).status_code == 303
    after = api.get(path).json()
    assert (after["note"], after["steps_done"], after["out_of_memory"]) == ("", None, False)
    assert (after["started_at"], after["hours"]) == ("2026-11-02T01:00:17Z", 2.0)


def test_another_offer_takes_the_place_of_the_shown_price(
    pages: TestClient, api: ApiClient, project_id: int
) -> None:
    run = log_run(api, project_id)
    price = {"amount": "1.00", "currency": "CNY"}
    offer = {"provider": "here", "instance_type": "box", "gpu": "t4", "price_per_hour": price}
    offer_id = api.post("/catalog/offers", json=offer).json()["id"]
    path = f"/projects/{project_id}/runs/{run['id']}"
    values = shown_values(pages.get(f"{path}/edit").text)
    assert pages.post(path, data=values | {"offer_id": str(offer_id)}).status_code == 303
    assert (api.get(path).json()["cost"]["amount"], api.get(path).json()["gpu"]) == ("12.00", "t4")


def test_an_old_version_shows_the_new_one(pages: TestClient, api: ApiClient, project_id: int) -> None:
    run = log_run(api, project_id)
    path = f"/projects/{project_id}/runs/{run['id']}"
    values = shown_values(pages.get(f"{path}/edit").text)
    change(api, path, note="by another")
    answer = pages.post(path, data=values | {"note": "mine"}, headers=HTMX)
    assert (answer.status_code, answer.headers["hx-retarget"]) == (412, f"#run-{run['id']}")
    assert "Somebody changed this in the meantime." in answer.text
    assert shown_values(answer.text)["note"] == "by another"
    assert api.get(path).json()["note"] == "by another"
    assert pages.post(f"{path}/delete", data={"version": "1"}).status_code == 412


def test_a_blocking_budget_says_so_in_the_form_and_stores_nothing(pages: TestClient, api: ApiClient) -> None:
    project_id = make_project(api, amount="10", block_when_spent=True)
    answer = pages.post(f"/projects/{project_id}/runs", data=FORM)
    assert answer.status_code == 409
    assert "This would take spend past the budget of CNY 10.00." in text_of(answer.text)
    assert stored(api, project_id) == []
    run = log_run(api, project_id, hours=1, ended_at=None)
    path = f"/projects/{project_id}/runs/{run['id']}"
    values = shown_values(pages.get(f"{path}/edit").text)
    assert pages.post(path, data=values | {"hours": "12"}).status_code == 409
    assert api.get(path).json()["hours"] == 1.0


def test_a_deleted_run_can_be_brought_back(pages: TestClient, api: ApiClient, project_id: int) -> None:
    run = log_run(api, project_id)
    path = f"/projects/{project_id}/runs/{run['id']}"
    gone = pages.post(f"{path}/delete", data={"version": "1"})
    assert gone.headers["location"] == f"/projects/{project_id}?deleted_run={run['id']}"
    assert api.get(path).status_code == 404
    assert f'action="{path}/restore"' in pages.get(gone.headers["location"]).text
    for _ in range(2):  # once more is no error and changes nothing
        assert pages.post(f"{path}/restore").status_code == 303
    assert (api.get(path).json()["version"], api.get(path).json()["cost"]["amount"]) == (3, "38.40")
    assert api.get(f"/projects/{project_id}").json()["spent"]["amount"] == "38.40"


def test_a_charge_is_logged_changed_deleted_and_brought_back(
    pages: TestClient, api: ApiClient, project_id: int
) -> None:
    assert pages.post(f"/projects/{project_id}/charges", data=CHARGE_FORM).status_code == 303
    (charge,) = stored(api, project_id, "charges")
    assert charge["period_start"] == charge["period_end"] == "2026-11-02T01:00:00Z"
    path = f"/projects/{project_id}/charges/{charge['id']}"
    values = shown_values(pages.get(f"{path}/edit").text)
    assert pages.post(path, data=values | {"amount.amount": "-12", "note": "voucher"}).status_code == 303
    assert (api.get(path).json()["amount"]["amount"], api.get(path).json()["note"]) == ("-12.00", "voucher")
    assert pages.post(f"{path}/delete", data={"version": "2"}).status_code == 303
    assert api.get(f"/projects/{project_id}").json()["spent"]["amount"] == "0.00"
    assert pages.post(f"{path}/restore").status_code == 303
    assert api.get(f"/projects/{project_id}").json()["spent"]["amount"] == "-12.00"
    refused = pages.post(path, data=values | {"version": "4", "amount.amount": "12"})
    assert field_errors(refused.text) == {"amount-amount": "A credit is negative."}


def test_saving_an_untouched_charge_changes_nothing(
    pages: TestClient, api: ApiClient, project_id: int
) -> None:
    charge = log_charge(api, project_id, list_amount={"amount": "8", "currency": "CNY"}, note="a\nb")
    path = f"/projects/{project_id}/charges/{charge['id']}"
    assert pages.post(path, data=shown_values(pages.get(f"{path}/edit").text)).status_code == 303
    assert api.get(path).json() == charge


def test_a_viewer_reads_and_changes_nothing(
    viewer_pages: TestClient, clients: Clients, other_team: Team, api: ApiClient, project_id: int
) -> None:
    run, charge = log_run(api, project_id), log_charge(api, project_id)
    stranger = clients.pages(other_team)
    page = viewer_pages.get(f"/projects/{project_id}").text
    assert "sft-1" in page
    assert "/edit" not in page.split('id="runs"')[1]
    base = f"/projects/{project_id}"
    for path in (f"{base}/runs/new", f"{base}/runs/{run['id']}/edit", f"{base}/charges/{charge['id']}/edit"):
        assert (viewer_pages.get(path).status_code, stranger.get(path).status_code) == (403, 404)
    for path in (
        f"{base}/runs",
        f"{base}/runs/{run['id']}",
        f"{base}/runs/{run['id']}/delete",
        f"{base}/charges",
    ):
        assert (viewer_pages.post(path).status_code, stranger.post(path).status_code) == (403, 404)
    assert viewer_pages.get(f"{base}/runs/999/edit").status_code == 404
    assert viewer_pages.post(f"{base}/runs/999").status_code == 404


def test_text_is_shown_as_text(pages: TestClient, api: ApiClient, project_id: int) -> None:
    run = log_run(api, project_id, name="<script>alert(1)</script>", note='"><img src=x>', instance="<b>")
    for path in ("", "/runs", f"/runs/{run['id']}/edit"):
        page = pages.get(f"/projects/{project_id}{path}").text
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "<b>" not in page


def test_pages_of_the_tables(pages: TestClient, project_id: int) -> None:
    for page in ("0", "-1", "7", "many", "1" * 30):
        assert pages.get(f"/projects/{project_id}/runs", params={"page": page}).status_code == 200
        assert pages.get(f"/projects/{project_id}/charges", params={"page": page}).status_code == 200
    assert "No runs yet" in pages.get(f"/projects/{project_id}/runs").text
    assert pages.get(f"/projects/{project_id}?deleted_run=x").status_code == 200


def test_in_chinese(clients: Clients, team: Team, api: ApiClient, project_id: int) -> None:
    log_run(api, project_id, state="interrupted", interruptions=2, lost_hours=0.6, billing="spot")
    text = text_of(clients.pages(team, language="zh-CN").get(f"/projects/{project_id}/runs").text)
    assert "1 次 · 12.0 h" in text
    assert "中断 2 次 损失 0.6 小时" in text
