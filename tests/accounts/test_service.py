"""Members of a team, on both databases."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest
from sqlmodel import Session, col, select

from app.accounts import service
from app.accounts.access import Actor
from app.accounts.inputs import MemberInput
from app.accounts.models import AuditEvent, Membership, Role, Team, User
from app.accounts.passwords import Passwords
from app.db import Database
from app.errors import Conflict, Forbidden, InvalidInput, NotFound
from tests.fixtures.people import People, id_of

passwords = Passwords("argon2-cheap")


def add(session: Session, actor: Actor, name: str, role: Role = "editor") -> service.Member:
    return service.add_member(session, actor, MemberInput(name=name, password="correct horse", role=role), passwords)


def membership_of(session: Session, actor: Actor) -> Membership:
    statement = select(Membership).where(
        col(Membership.user_id) == actor.user_id, col(Membership.team_id) == actor.team_id
    )
    return session.exec(statement).one()


def test_an_owner_adds_a_member(session: Session, owner: Actor) -> None:
    member = add(session, owner, "Chen Yu", "viewer")
    listed = service.list_members(session, owner.team_id)
    assert [(one.name, one.role) for one in listed] == [(owner.name, "owner"), ("Chen Yu", "viewer")]
    event = session.exec(select(AuditEvent).where(col(AuditEvent.action) == "added")).one()
    assert (event.subject_type, event.subject_id, event.actor_name) == ("member", member.user_id, owner.name)
    assert "correct horse" not in str(event.details)


@pytest.mark.parametrize("role", ["editor", "viewer"])
def test_nobody_else_does(session: Session, people: People, team: Team, role: Role) -> None:
    actor = people.make_actor(team, role)
    with pytest.raises(Forbidden):
        add(session, actor, "Chen Yu")


def test_a_name_is_one_person_s(session: Session, owner: Actor, stranger: Actor) -> None:
    add(session, owner, "Chen Yu")
    with pytest.raises(InvalidInput) as refused:
        add(session, owner, "Chen Yu")
    assert [error.field for error in refused.value.errors] == ["name"]
    with pytest.raises(InvalidInput):
        add(session, stranger, "Chen Yu")
    assert [member.name for member in service.list_members(session, stranger.team_id)] == [stranger.name]


def test_one_name_however_it_was_composed(session: Session, owner: Actor) -> None:
    add(session, owner, "Ren\u00e9")
    with pytest.raises(InvalidInput):
        add(session, owner, "Rene\u0301")


def test_the_last_owner_stays_owner(session: Session, owner: Actor) -> None:
    membership = membership_of(session, owner)
    with pytest.raises(Conflict):
        service.change_role(session, owner, membership, "editor")
    with pytest.raises(Conflict):
        service.remove_member(session, owner, membership)
    assert service.list_members(session, owner.team_id)[0].role == "owner"


def test_one_of_two_owners_may_go(session: Session, owner: Actor) -> None:
    second = add(session, owner, "Chen Yu", "owner")
    service.change_role(session, owner, membership_of(session, owner), "viewer")
    roles = {member.name: member.role for member in service.list_members(session, owner.team_id)}
    assert roles == {owner.name: "viewer", "Chen Yu": "owner"}
    acting = replace(owner, user_id=second.user_id, name="Chen Yu")
    service.remove_member(session, acting, membership_of(session, owner))
    assert [member.name for member in service.list_members(session, owner.team_id)] == ["Chen Yu"]


def test_an_editor_changes_no_roles(session: Session, owner: Actor, editor: Actor) -> None:
    membership = membership_of(session, owner)
    with pytest.raises(Forbidden):
        service.change_role(session, editor, membership, "viewer")
    with pytest.raises(Forbidden):
        service.remove_member(session, editor, membership)


def test_another_team_s_member_is_not_there(session: Session, owner: Actor, stranger: Actor) -> None:
    membership = membership_of(session, stranger)
    with pytest.raises(NotFound):
        service.get_membership(session, owner, membership.id or 0)


def test_who_was_removed_comes_back_with_a_new_password(session: Session, owner: Actor, stranger: Actor) -> None:
    member = add(session, owner, "Chen Yu")
    service.remove_member(session, owner, service.get_membership(session, owner, member.id))
    data = MemberInput(name="Chen Yu", password="another horse", role="viewer")
    back = service.add_member(session, stranger, data, passwords)
    assert back.user_id == member.user_id
    user = session.get(User, back.user_id)
    assert user is not None
    assert passwords.verify("another horse", user.password_hash).is_right
    assert not passwords.verify("correct horse", user.password_hash).is_right


def at_once(calls: list[Callable[[], Any]]) -> list[str]:
    """What calls that start together end with."""
    start = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> str:
        start.wait()
        try:
            call()
        except (Conflict, InvalidInput, NotFound) as error:
            return type(error).__name__
        return "done"

    with ThreadPoolExecutor(len(calls)) as pool:
        return sorted(pool.map(run, calls))


def test_two_owners_cannot_both_step_down(database: Database, people: People, team: Team) -> None:
    first, second = people.make_actor(team), people.make_actor(team)

    def step_down(actor: Actor) -> None:
        with database.write() as session:
            service.change_role(session, actor, membership_of(session, actor), "editor")

    assert at_once([lambda: step_down(first), lambda: step_down(second)]) == ["Conflict", "done"]
    with database.read() as session:
        assert sorted(member.role for member in service.list_members(session, id_of(team))) == ["editor", "owner"]


def test_a_name_taken_by_two_at_once_is_one_s(database: Database, owner: Actor, stranger: Actor) -> None:
    def take(actor: Actor) -> None:
        with database.write() as session:
            add(session, actor, "Chen Yu")

    assert at_once([lambda: take(owner), lambda: take(stranger)]) == ["InvalidInput", "done"]
    with database.read() as session:
        assert len(session.exec(select(User).where(col(User.name) == "Chen Yu")).all()) == 1
