"""A team's vouchers: added, changed and deleted by script and by form; how they stand on a day."""

import re
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlmodel import Session, col, select
from starlette.testclient import TestClient

from app.accounts.access import Actor
from app.accounts.models import AuditEvent, Team
from app.catalog.models import Voucher
from app.catalog.vouchers.inputs import VoucherChange, VoucherInput
from app.catalog.vouchers.service import (
    balance_of,
    change_voucher,
    create_voucher,
    delete_voucher,
    list_vouchers,
    restore_voucher,
)
from app.catalog.vouchers.uses import Balance, forget_use, is_valid_on, record_use
from app.errors import Forbidden, InvalidInput
from app.versions import Precondition
from tests.catalog.test_races import at_once
from tests.fixtures.clients import ApiClient, Clients
from tests.fixtures.clock import START, MovableClock

HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
VOUCHER: dict[str, Any] = {
    "provider": "alibaba",
    "amount": {"amount": "50.00", "currency": "CNY"},
    "valid_from": "2026-10-01",
    "valid_until": "2026-12-31",
    "note": "for students",
}
FORM = {
    "provider": "alibaba",
    "amount.amount": "50",
    "amount.currency": "CNY",
    "valid_from": "2026-10-01",
    "valid_until": "2026-12-31",
    "note": "",
}
ANY = Precondition("*")


def add(api: ApiClient, **changes: Any) -> dict[str, Any]:
    answer = api.post("/catalog/vouchers", json=VOUCHER | changes)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("\u00a0", " ").replace("&nbsp;", " ")


def fields_of(answer: Any) -> list[str]:
    return [error["field"] for error in answer.json()["errors"]]


def voucher_of(
    amount: str = "50", begins: date | None = None, ends: date | None = None, currency: str = "CNY"
) -> Voucher:
    return Voucher(
        team_id=1, amount=Decimal(amount), currency=currency, valid_from=begins, valid_until=ends, created_at=START
    )


def test_a_voucher_is_answered_with_what_is_left_of_it(api: ApiClient) -> None:
    made = api.post("/catalog/vouchers", json=VOUCHER)
    id_ = made.json()["id"]
    assert made.json() == {
        "id": id_, "provider": "alibaba", "amount": {"amount": "50.00", "currency": "CNY"},
        "remaining": {"amount": "50.00", "currency": "CNY"}, "valid_from": "2026-10-01", "valid_until": "2026-12-31",
        "state": "valid", "note": "for students",
    }  # fmt: skip
    assert made.headers["location"].endswith(f"/catalog/vouchers/{id_}")
    again = api.get(made.headers["location"])
    assert (again.json(), again.headers["etag"]) == (made.json(), made.headers["etag"])


def test_the_provider_the_days_and_the_note_may_be_left_out(api: ApiClient) -> None:
    made = api.post("/catalog/vouchers", json={"amount": {"amount": "5", "currency": "USD"}}).json()
    assert (made["provider"], made["valid_from"], made["valid_until"], made["note"]) == ("", None, None, "")
    assert made["state"] == "valid"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"amount": {"amount": "0", "currency": "CNY"}}, "amount.amount"),
        ({"amount": {"amount": "-1", "currency": "CNY"}}, "amount.amount"),
        ({"amount": {"amount": "1", "currency": "RMB"}}, "amount.currency"),
        ({"amount": {"amount": 1, "currency": "CNY"}}, "amount.amount"),
        ({"amount": None}, "amount"),
        ({"valid_until": "2026-09-30"}, "valid_until"),
        ({"valid_from": "soon"}, "valid_from"),
        ({"note": None}, "note"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(api: ApiClient, changes: dict[str, Any], field: str) -> None:
    assert fields_of(api.post("/catalog/vouchers", json=VOUCHER | changes)) == [field]
    assert api.get("/catalog/vouchers").json()["items"] == []
    made = add(api)
    path = f"/catalog/vouchers/{made['id']}"
    assert fields_of(api.patch(path, json=changes, headers={"If-Match": "*"})) == [field]
    assert api.get(path).json() == made


def test_one_day_is_a_validity(api: ApiClient) -> None:
    assert add(api, valid_from="2026-12-01", valid_until="2026-12-01")["state"] == "expires_soon"


def test_the_list_is_paged(api: ApiClient) -> None:
    ids = [add(api)["id"] for _ in range(3)]
    first = api.get("/catalog/vouchers", params={"limit": 2}).json()
    second = api.get("/catalog/vouchers", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [item["id"] for item in first["items"] + second["items"]] == ids
    assert second["next_cursor"] is None


def test_a_change_needs_the_version_it_was_made_from(api: ApiClient) -> None:
    made = api.post("/catalog/vouchers", json=VOUCHER)
    path, headers = f"/catalog/vouchers/{made.json()['id']}", {"If-Match": made.headers["etag"]}
    assert (api.patch(path, json={"note": "x"}).status_code, api.delete(path).status_code) == (428, 428)
    unchanged = api.patch(path, json={"note": "for students"}, headers=headers)
    assert unchanged.headers["etag"] == made.headers["etag"]
    changed = api.patch(path, json={"valid_until": None, "note": "x"}, headers=headers)
    assert (changed.json()["valid_until"], changed.json()["note"]) == (None, "x")
    assert api.patch(path, json={"note": "y"}, headers=headers).status_code == 412
    assert api.delete(path, headers=headers).status_code == 412
    assert api.delete(path, headers={"If-Match": changed.headers["etag"]}).status_code == 204
    assert (api.get(path).status_code, api.get("/catalog/vouchers").json()["items"]) == (404, [])


def test_of_two_changes_to_one_version_the_second_is_refused(clients: Clients, team: Team) -> None:
    first, second = clients.api(team, "editor"), clients.api(team, "owner")
    made = first.post("/catalog/vouchers", json=VOUCHER)
    path, headers = made.headers["location"], {"If-Match": made.headers["etag"]}
    statuses = at_once(
        [
            lambda: first.patch(path, json={"note": "first"}, headers=headers),
            lambda: second.patch(path, json={"note": "second"}, headers=headers),
        ]
    )
    assert statuses == [200, 412]


def test_other_teams_and_lesser_roles(api: ApiClient, viewer_api: ApiClient, other_api: ApiClient) -> None:
    path = f"/catalog/vouchers/{add(api)['id']}"
    assert viewer_api.get(path).status_code == 200
    assert viewer_api.post("/catalog/vouchers", json=VOUCHER).status_code == 403
    assert other_api.get("/catalog/vouchers").json()["items"] == []
    for member, status in ((viewer_api, 403), (other_api, 404)):
        assert member.patch(path, json={"note": "x"}, headers={"If-Match": "*"}).status_code == status
        assert member.delete(path, headers={"If-Match": "*"}).status_code == status
    assert other_api.get(path).status_code == 404
    assert api.get("/catalog/vouchers/x").status_code == 404


def test_what_was_taken_must_stay_covered(session: Session, editor: Actor) -> None:
    voucher = create_voucher(session, editor, VoucherInput.model_validate(VOUCHER))
    id_ = voucher.id or 0
    record_use(session, editor.team_id, 1, id_, Decimal("20.000001"))
    record_use(session, editor.team_id, 2, id_, Decimal(10))
    record_use(session, editor.team_id, 1, id_, Decimal("12.345678"))
    assert balance_of(session, voucher).remaining == Decimal("27.654322")
    for amount, field in (
        ({"amount": "22.345677", "currency": "CNY"}, "amount.amount"),
        ({"amount": "50", "currency": "USD"}, "amount.currency"),
    ):
        with pytest.raises(InvalidInput) as refused:
            change_voucher(session, editor, voucher, VoucherChange.model_validate({"amount": amount}), ANY)
        assert [error.field for error in refused.value.errors] == [field]
    exact = {"amount": {"amount": "22.345678", "currency": "CNY"}}
    change_voucher(session, editor, voucher, VoucherChange.model_validate(exact), ANY)
    assert balance_of(session, voucher).state_on(editor.today) == "used_up"
    for charge_id in (1, 2, 3):
        forget_use(session, editor.team_id, charge_id)
    dollars = {"amount": {"amount": "7", "currency": "USD"}}
    change_voucher(session, editor, voucher, VoucherChange.model_validate(dollars), ANY)
    assert (voucher.currency, balance_of(session, voucher).remaining) == ("USD", Decimal(7))


def test_every_change_leaves_an_event(session: Session, editor: Actor, viewer: Actor) -> None:
    voucher = create_voucher(session, editor, VoucherInput.model_validate(VOUCHER))
    change = VoucherChange.model_validate({"amount": {"amount": "60", "currency": "CNY"}})
    change_voucher(session, editor, voucher, change, ANY)
    delete_voucher(session, editor, voucher, ANY)
    restore_voucher(session, editor, voucher.id or 0)
    events = session.exec(select(AuditEvent).where(col(AuditEvent.subject_type) == "voucher")).all()
    assert [event.action for event in events] == ["created", "changed", "deleted", "restored"]
    assert Decimal(events[1].details["before"]["amount"]) == 50
    assert Decimal(events[1].details["after"]["amount"]) == 60
    assert voucher.version == 4
    with pytest.raises(Forbidden):
        create_voucher(session, viewer, VoucherInput.model_validate(VOUCHER))


def test_another_teams_uses_are_not_counted(session: Session, editor: Actor, stranger: Actor) -> None:
    voucher = create_voucher(session, editor, VoucherInput.model_validate(VOUCHER))
    record_use(session, stranger.team_id, 9, voucher.id or 0, Decimal(10))
    (balance,) = list_vouchers(session, editor.team_id)
    assert balance.remaining == 50


@pytest.mark.parametrize(
    ("day", "used", "state"),
    [
        (date(2026, 9, 30), "0", "not_yet_valid"),
        (date(2026, 10, 1), "0", "valid"),
        (date(2026, 12, 16), "49.99", "valid"),
        (date(2026, 12, 17), "0", "expires_soon"),
        (date(2026, 12, 31), "0", "expires_soon"),
        (date(2027, 1, 1), "0", "expired"),
        (date(2027, 1, 1), "50", "used_up"),
        (date(2026, 9, 30), "50", "used_up"),
    ],
)
def test_how_it_stands_on_a_day(day: date, used: str, state: str) -> None:
    balance = Balance(voucher_of(begins=date(2026, 10, 1), ends=date(2026, 12, 31)), Decimal(used))
    assert balance.state_on(day) == state


@given(
    day=st.dates(date(2026, 1, 1), date(2026, 3, 1)),
    begins=st.none() | st.dates(date(2026, 1, 1), date(2026, 3, 1)),
    length=st.none() | st.integers(0, 40),
    used=st.integers(0, 50),
)
def test_it_can_pay_on_just_the_days_that_say_so(day: date, begins: date | None, length: int | None, used: int) -> None:
    ends = None if length is None else (begins or date(2026, 1, 20)) + timedelta(length)
    voucher = voucher_of(begins=begins, ends=ends)
    balance = Balance(voucher, Decimal(used))
    state = balance.state_on(day)
    assert (state in ("valid", "expires_soon")) == (is_valid_on(voucher, day) and used < 50)
    assert balance.percent_left == 100 - 2 * used


def test_the_page_says_what_to_do_first(pages: TestClient) -> None:
    text = text_of(pages.get("/catalog/vouchers").text)
    assert "No vouchers yet Add what a provider gave you" in text


def test_a_voucher_is_added_changed_deleted_and_brought_back(pages: TestClient, api: ApiClient) -> None:
    assert pages.post("/catalog/vouchers", data=FORM).headers["location"] == "/catalog/vouchers"
    (made,) = api.get("/catalog/vouchers").json()["items"]
    text = text_of(pages.get("/catalog/vouchers").text)
    assert "CNY 50.00" in text
    assert "1 Oct 2026 – 31 Dec 2026" in text
    path = f"/catalog/vouchers/{made['id']}"
    assert 'value="50.00"' in pages.get(f"{path}/edit").text
    changed = pages.post(path, data=FORM | {"version": "1", "amount.amount": "60.5", "valid_until": ""}, headers=HTMX)
    assert "CNY 60.50" in text_of(changed.text)
    assert "from 1 Oct 2026" in text_of(changed.text)
    stale = pages.post(path, data=FORM | {"version": "1"}, headers=HTMX)
    assert (stale.status_code, "Somebody changed this" in stale.text) == (412, True)
    gone = pages.post(f"{path}/delete", data={"version": "2"}, headers=HTMX)
    assert "The voucher was deleted." in gone.text
    assert api.get(path).status_code == 404
    assert "CNY 60.50" in text_of(pages.post(f"{path}/restore", headers=HTMX).text)
    assert pages.post(f"{path}/delete", data={"version": "2"}).status_code == 412
    assert pages.post(f"{path}/delete", data={"version": "4"}).status_code == 303
    assert pages.post(f"{path}/restore").status_code == 303
    assert pages.post(path, data=FORM | {"version": "6"}).status_code == 303
    assert api.get(path).json() == made | {"note": ""}


def test_wrong_fields_stand_in_the_form(pages: TestClient, api: ApiClient) -> None:
    refused = pages.post("/catalog/vouchers", data=FORM | {"valid_until": "2026-09-30", "amount.amount": "0"})
    assert refused.status_code == 422
    assert "The end lies before the beginning." in refused.text
    assert "The amount must be greater than zero." in refused.text
    made = add(api)
    wrong = pages.post(
        f"/catalog/vouchers/{made['id']}", data=FORM | {"version": "1", "amount.amount": "-1"}, headers=HTMX
    )
    assert (wrong.status_code, "cannot be negative" in wrong.text) == (422, True)


def test_who_may_see_and_change_the_pages(
    api: ApiClient, viewer_pages: TestClient, clients: Clients, other_team: Team
) -> None:
    path = f"/catalog/vouchers/{add(api)['id']}"
    stranger = clients.pages(other_team)
    page = viewer_pages.get("/catalog/vouchers").text
    assert "CNY&nbsp;50.00" in page
    assert "/edit" not in page
    assert viewer_pages.get(path, headers=HTMX).status_code == 200
    assert viewer_pages.get(path).headers["location"] == "/catalog/vouchers"
    assert (viewer_pages.get(f"{path}/edit").status_code, stranger.get(f"{path}/edit").status_code) == (403, 404)
    for member, status in ((viewer_pages, 403), (stranger, 404)):
        assert member.post(path, data=FORM).status_code == status
        assert member.post(f"{path}/delete").status_code == status
    assert viewer_pages.post("/catalog/vouchers", data=FORM).status_code == 403
    assert "for students" not in stranger.get("/catalog/vouchers").text
    assert api.delete(path, headers={"If-Match": "*"}).status_code == 204
    assert viewer_pages.post(f"{path}/restore").status_code == 403
    assert stranger.post(f"{path}/restore").status_code == 404


def test_in_chinese_with_the_states_in_words(
    clients: Clients, team: Team, api: ApiClient, clock: MovableClock
) -> None:
    add(api, provider="", valid_from="2026-12-02", valid_until=None)
    add(api, valid_until="2026-12-15")
    add(api, valid_until="2026-11-30")
    reader = clients.pages(team, "viewer", language="zh-CN")
    text = text_of(reader.get("/catalog/vouchers").text)
    for words in ("阿里云", "不限服务商", "未生效", "14 天内到期", "已过期", "自 2026年12月2日"):
        assert words in text
    # What can be spent stands first.
    assert text.index("14 天内到期") < text.index("未生效") < text.index("已过期")
    clock.advance(days=30)
    assert "未生效" not in text_of(reader.get("/catalog/vouchers").text)


def test_text_is_shown_as_text(pages: TestClient, api: ApiClient) -> None:
    made = add(api, provider="<b>x", note='"><img src=x>')
    for path in ("", f"/{made['id']}/edit"):
        page = pages.get(f"/catalog/vouchers{path}").text
        assert "<b>x" not in page
        assert "<img" not in page
