"""The members of a team: who they are, and what an owner may do with them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, delete, select

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.accounts.inputs import MemberInput
from app.accounts.models import BrowserSession, Membership, Role, User
from app.accounts.passwords import Passwords
from app.accounts.teams import lock_team
from app.accounts.users import create_user, find_user, is_member_anywhere, name_taken, set_password
from app.errors import Conflict, InvalidInput, NotFound
from app.i18n import Message


@dataclass(frozen=True, slots=True)
class Member:
    """A user in a team."""

    id: int
    user_id: int
    name: str
    role: Role
    since: datetime


def list_members(session: Session, team_id: int) -> list[Member]:
    """The team's members, the first one first."""
    statement = (
        select(Membership, User)
        .join(User, col(User.id) == col(Membership.user_id))
        .where(col(Membership.team_id) == team_id)
        .order_by(col(Membership.id))
    )
    return [_member(membership, user) for membership, user in session.exec(statement)]


def get_membership(session: Session, actor: Actor, membership_id: int) -> Membership:
    """The membership of a path. Raises NotFound, for another team's alike."""
    statement = select(Membership).where(
        col(Membership.id) == membership_id, col(Membership.team_id) == actor.team_id
    )
    membership = session.exec(statement.execution_options(populate_existing=True)).first()
    if membership is None:
        raise NotFound
    return membership


def add_member(session: Session, actor: Actor, data: MemberInput, passwords: Passwords) -> Member:
    """A new user in the team. One whom no team holds any more comes back under the old name, with the new password.

    Raises InvalidInput for a name that a member of any team has.
    """
    actor.require("owner")
    # Before the first query: nobody waits for the database while a hash is computed.
    password_hash = passwords.hash(data.password)
    user = find_user(session, data.name)
    if user is None:
        user = create_user(session, data.name, password_hash, actor.clock())
    elif is_member_anywhere(session, user.id or 0):
        raise name_taken()
    else:
        set_password(session, user, password_hash)
    return join_team(session, actor, user, data.role)


def join_team(session: Session, actor: Actor, user: User, role: Role) -> Member:
    """Makes a user a member of the actor's team. Raises InvalidInput when the user is one already."""
    membership = Membership(
        team_id=actor.team_id, user_id=user.id or 0, role=role, created_at=actor.clock()
    )
    try:
        with session.begin_nested():
            session.add(membership)
    except IntegrityError as error:
        raise InvalidInput.at("name", Message("This user is a member of the team already.")) from error
    record_event(session, actor, "added", "member", membership.user_id, name=user.name, role=role)
    return _member(membership, user)


def change_role(session: Session, actor: Actor, membership: Membership, role: Role) -> None:
    """Gives a member another role. Raises Conflict for the last owner."""
    actor.require("owner")
    membership = _locked(session, actor, membership)
    if membership.role == role:
        return
    if role != "owner":
        _keep_an_owner(session, membership)
    before, membership.role = membership.role, role
    session.add(membership)
    record_event(session, actor, "changed", "member", membership.user_id, before=before, role=role)


def remove_member(session: Session, actor: Actor, membership: Membership) -> None:
    """Takes a member out of the team and signs them out of it; what they logged stays.

    Raises Conflict for the last owner.
    """
    actor.require("owner")
    membership = _locked(session, actor, membership)
    _keep_an_owner(session, membership)
    session.exec(
        delete(BrowserSession).where(
            col(BrowserSession.user_id) == membership.user_id, col(BrowserSession.team_id) == actor.team_id
        )
    )
    session.delete(membership)
    record_event(session, actor, "removed", "member", membership.user_id, role=membership.role)


def _locked(session: Session, actor: Actor, membership: Membership) -> Membership:
    """The membership as it stands once nobody else changes the team's members. Raises NotFound when it is gone."""
    membership_id = membership.id or 0
    lock_team(session, actor.team_id)
    return get_membership(session, actor, membership_id)


def _keep_an_owner(session: Session, membership: Membership) -> None:
    if membership.role != "owner":
        return
    statement = select(func.count(col(Membership.id))).where(
        col(Membership.team_id) == membership.team_id, col(Membership.role) == "owner"
    )
    if session.exec(statement).one() == 1:
        raise Conflict(Message("A team needs an owner. Make somebody else one first."), "last-owner")


def _member(membership: Membership, user: User) -> Member:
    return Member(
        membership.id or 0,
        membership.user_id,
        user.name,
        membership.role,  # type: ignore[arg-type]
        membership.created_at,
    )
