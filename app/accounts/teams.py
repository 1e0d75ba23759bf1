"""Teams: found by name, made, changed by their owners."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.accounts.inputs import TeamInput, check_zone
from app.accounts.models import Membership, Team
from app.errors import InvalidInput, NotFound
from app.i18n import Message
from app.versions import Precondition


def find_team(session: Session, name: str) -> Team | None:
    """The team of a name; for the command line and set-up, which stand outside the teams."""
    return session.exec(select(Team).where(col(Team.name) == name)).first()


def list_teams(session: Session) -> Sequence[Team]:
    """All teams, the oldest first; for the command line and set-up."""
    return session.exec(select(Team).order_by(col(Team.id))).all()


def create_team(session: Session, data: TeamInput, now: datetime) -> Team:
    """A new team. Raises InvalidInput for a name that is taken and for an unknown zone."""
    check_zone(data.time_zone)
    team = Team(**data.model_dump(), created_at=now)
    try:
        with session.begin_nested():
            session.add(team)
    except IntegrityError as error:
        raise _name_taken() from error
    return team


def change_team(session: Session, actor: Actor, data: TeamInput, precondition: Precondition) -> Team:
    """Changes the team's name and what new records start from; days in the ledger stay as they are.

    Raises InvalidInput, PreconditionFailed.
    """
    actor.require("owner")
    check_zone(data.time_zone)
    team = lock_team(session, actor.team_id)
    precondition.check(team.version)
    apply_team(session, actor, team, data)
    return team


def apply_team(session: Session, actor: Actor, team: Team, data: TeamInput) -> None:
    """Writes what differs into a team; a change is audited. Raises InvalidInput for a name that is taken."""
    changes = {name: value for name, value in data.model_dump().items() if getattr(team, name) != value}
    if not changes:
        return
    before = {name: getattr(team, name) for name in changes}
    try:
        # A savepoint, so that the transaction outlives a name that was taken meanwhile.
        with session.begin_nested():
            for name, value in changes.items():
                setattr(team, name, value)
            team.version += 1
    except IntegrityError as error:
        raise _name_taken() from error
    record_event(session, actor, "changed", "team", actor.team_id, before=before, after=changes)


def lock_team(session: Session, team_id: int) -> Team:
    """The team's row, locked: its members change one after the other."""
    # populate_existing: the row may have been read before the lock was there.
    statement = select(Team).where(col(Team.id) == team_id).with_for_update()
    return session.exec(statement.execution_options(populate_existing=True)).one()


def teams_of_user(session: Session, user_id: int) -> Sequence[Team]:
    """The teams that a user is a member of, the oldest membership first."""
    return session.exec(
        select(Team)
        .join(Membership, col(Membership.team_id) == col(Team.id))
        .where(col(Membership.user_id) == user_id)
        .order_by(col(Membership.id))
    ).all()


def get_own_team(session: Session, user_id: int, team_id: int) -> Team:
    """A team that the user is a member of. Raises NotFound."""
    team = next((team for team in teams_of_user(session, user_id) if team.id == team_id), None)
    if team is None:
        raise NotFound
    return team


def _name_taken() -> InvalidInput:
    return InvalidInput.at("name", Message("Another team has this name."))
