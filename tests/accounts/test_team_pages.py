"""The team's page, by a browser without JavaScript."""

import re
from collections.abc import Callable

import pytest
from sqlmodel import col, select
from starlette.testclient import TestClient

from app.accounts.access import Actor
from app.accounts.models import Membership, Team, User
from app.accounts.service import join_team
from app.accounts.users import find_user
from app.db import Database
from tests.accounts.conftest import PASSWORD, AddPerson, OpenBrowser
from tests.fixtures.clients import Clients

SETTINGS = {"name": "Four students", "currency": "CNY", "time_zone": "Asia/Shanghai", "language": "en", "version": "1"}

IdOf = Callable[[str], int]


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("&nbsp;", " ")


@pytest.fixture
def membership_id(database: Database) -> IdOf:
    """The id of a person's membership, by name."""

    def find(name: str) -> int:
        with database.read() as session:
            statement = select(Membership.id).join(User, col(User.id) == Membership.user_id)
            return session.exec(statement.where(col(User.name) == name)).one() or 0

    return find


def test_an_owner_adds_a_member_who_can_sign_in(pages: TestClient, open_browser: OpenBrowser) -> None:
    form = {"name": "Chen Yu", "password": PASSWORD, "role": "viewer"}
    answer = pages.post("/team/members", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/team")
    page = pages.get("/team").text
    assert "Chen Yu is a member now." in page
    browser = open_browser()
    assert browser.post("/sign-in", data={"name": "Chen Yu", "password": PASSWORD}).status_code == 303
    assert "Add a member" not in browser.get("/team").text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"password": "short"}, "at least 8 characters"),
        ({"name": ""}, "This field is required."),
        ({"role": "king"}, "Choose one of"),
    ],
)
def test_a_wrong_member_is_told_at_the_field(pages: TestClient, form: dict[str, str], words: str) -> None:
    answer = pages.post("/team/members", data={"name": "Chen Yu", "password": PASSWORD, "role": "viewer", **form})
    assert answer.status_code == 422
    assert words in answer.text
    assert PASSWORD not in answer.text
    assert "Chen Yu" not in text_of(pages.get("/team").text)


def test_roles_are_changed_and_members_removed(
    pages: TestClient, add_person: AddPerson, membership_id: IdOf
) -> None:
    add_person("Chen Yu", "viewer")
    path = f"/team/members/{membership_id('Chen Yu')}"
    assert pages.post(f"{path}/role", data={"role": "owner"}).status_code == 303
    row = re.search(r'<tr id="member-\d+">\s*<th scope="row">Chen Yu.*?</tr>', pages.get("/team").text, re.DOTALL)
    assert row is not None
    assert '<option value="owner" selected>' in row[0]
    assert pages.post(f"{path}/remove").status_code == 303
    assert "Chen Yu" not in text_of(pages.get("/team").text)
    assert pages.post(f"{path}/remove").status_code == 404


def test_the_last_owner_is_told_to_make_another_first(pages: TestClient, database: Database) -> None:
    with database.read() as session:
        (own,) = session.exec(select(Membership.id)).all()
    for path, form in ((f"/team/members/{own}/role", {"role": "viewer"}), (f"/team/members/{own}/remove", {})):
        answer = pages.post(path, data=form)
        assert answer.status_code == 409
        assert "A team needs an owner" in answer.text
    assert pages.get("/team").status_code == 200


def test_a_token_is_shown_once_and_works(pages: TestClient, anonymous: TestClient) -> None:
    made = pages.post("/team/tokens", data={"name": "nightly", "role": "viewer", "expires_days": "7"})
    assert made.status_code == 201
    found = re.search(r'value="(tl_[\w-]+)"', made.text)
    assert found is not None
    page = pages.get("/team").text
    assert found[1] not in page
    # Seven days after 11:00 on 1 December.
    assert "nightly viewer 1 Dec 2026 2026-12-08 11:00" in text_of(page)
    bearer = {"Authorization": f"Bearer {found[1]}"}
    assert anonymous.get("/api/v1/projects", headers=bearer).status_code == 200
    revoke = re.search(r'action="(/team/tokens/\d+/revoke)"', page)
    assert revoke is not None
    assert pages.post(revoke[1]).status_code == 303
    assert anonymous.get("/api/v1/projects", headers=bearer).status_code == 401


@pytest.mark.parametrize("days", ["0", "-1", "soon", "9999"])
def test_wrong_days_make_no_token(pages: TestClient, days: str) -> None:
    answer = pages.post("/team/tokens", data={"name": "nightly", "role": "viewer", "expires_days": days})
    assert answer.status_code == 422
    assert "No tokens yet" in answer.text


def test_the_settings_are_changed(pages: TestClient) -> None:
    answer = pages.post("/team/settings", data=SETTINGS | {"name": "Five students", "time_zone": "Europe/Berlin"})
    assert answer.status_code == 303
    page = pages.get("/team").text
    assert "<h1>Five students</h1>" in page
    assert '<option value="Europe/Berlin" selected>' in page
    assert "for new entries only" in page


def test_settings_changed_meanwhile_are_not_overwritten(pages: TestClient) -> None:
    pages.post("/team/settings", data=SETTINGS | {"name": "Five students"})
    late = pages.post("/team/settings", data=SETTINGS | {"name": "Six students"})
    assert late.status_code == 412
    assert "Somebody changed this" in late.text
    assert 'value="Five students"' in late.text


def test_wrong_settings_are_told(pages: TestClient, other_team: Team) -> None:
    assert "no such time zone" in pages.post("/team/settings", data=SETTINGS | {"time_zone": "X/Y"}).text
    taken = pages.post("/team/settings", data=SETTINGS | {"name": other_team.name})
    assert taken.status_code == 422
    assert "Another team has this name." in taken.text


def test_a_viewer_sees_who_is_there_and_changes_nothing(
    viewer_pages: TestClient, add_person: AddPerson, membership_id: IdOf
) -> None:
    add_person("Chen Yu")
    page = text_of(viewer_pages.get("/team").text)
    assert "Chen Yu editor" in page
    assert "Tokens for scripts" not in page
    member = f"/team/members/{membership_id('Chen Yu')}"
    for path in ("/team/members", f"{member}/role", f"{member}/remove", "/team/tokens", "/team/settings"):
        assert viewer_pages.post(path, data=SETTINGS).status_code == 403


def test_another_team_s_members_and_tokens_are_not_there(
    pages: TestClient, clients: Clients, other_team: Team, add_person: AddPerson, membership_id: IdOf
) -> None:
    add_person("Chen Yu")
    pages.post("/team/tokens", data={"name": "nightly", "role": "viewer"})
    revoke = re.search(r'action="(/team/tokens/\d+/revoke)"', pages.get("/team").text)
    assert revoke is not None
    stranger = clients.pages(other_team, "owner")
    assert "Chen Yu" not in stranger.get("/team").text
    member = f"/team/members/{membership_id('Chen Yu')}"
    assert stranger.post(f"{member}/role", data={"role": "owner"}).status_code == 404
    assert stranger.post(f"{member}/remove").status_code == 404
    assert stranger.post(revoke[1]).status_code == 404
    # 404 comes before the role is judged.
    assert clients.pages(other_team, "viewer").post(revoke[1]).status_code == 404
    assert clients.pages(other_team, "owner").post("/team/members/abc/remove").status_code == 404


def test_a_user_of_two_teams_goes_from_one_to_the_other(
    database: Database, owner: Actor, stranger: Actor, add_person: AddPerson, open_browser: OpenBrowser
) -> None:
    add_person("Chen Yu")
    with database.write() as session:
        user = find_user(session, "Chen Yu")
        assert user is not None
        join_team(session, stranger, user, "viewer")
    browser = open_browser()
    browser.post("/sign-in", data={"name": "Chen Yu", "password": PASSWORD})
    page = browser.get("/team").text
    assert "<h1>Four students</h1>" in page
    assert "Go to Another lab" in page
    assert browser.post("/team/switch", data={"team_id": str(stranger.team_id)}).status_code == 303
    assert "<h1>Another lab</h1>" in browser.get("/team").text
    assert owner.team_id != stranger.team_id


def test_nobody_goes_to_a_team_that_is_not_theirs(pages: TestClient, other_team: Team) -> None:
    assert pages.post("/team/switch", data={"team_id": str(other_team.id)}).status_code == 404
    assert pages.post("/team/switch", data={"team_id": "999"}).status_code == 404


def test_another_site_changes_nothing(pages: TestClient) -> None:
    form = {"name": "Mallory", "password": PASSWORD, "role": "owner"}
    assert pages.post("/team/members", data=form, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert "Mallory" not in pages.get("/team").text


def test_names_that_look_like_markup_stay_text(pages: TestClient) -> None:
    pages.post("/team/members", data={"name": "<script>alert(1)</script>", "password": PASSWORD, "role": "viewer"})
    page = pages.get("/team").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_in_chinese(clients: Clients, team: Team) -> None:
    page = text_of(clients.pages(team, "owner", language="zh-CN").get("/team").text)
    assert "成员" in page
    assert "脚本令牌" in page
