"""The first start: a one-time link with which the first owner gets a name, a password and a team."""

from collections.abc import Callable
from datetime import datetime

from sqlmodel import Session, col, delete, select

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.accounts.credentials import digest, new_secret
from app.accounts.inputs import SetupInput, check_zone
from app.accounts.models import SetupLink, Team, User
from app.accounts.service import join_team
from app.accounts.teams import apply_team, create_team, find_team
from app.accounts.users import any_user_exists, create_user
from app.errors import Forbidden, TuneledgerError
from app.i18n import Message
from app.time import Clock

# Puts the sample project into a new team.
LoadSample = Callable[[Session, Actor], object]


class SetUpAlready(TuneledgerError):
    """There is a user: the set-up page is closed for good."""

    status = 404
    type = "not-found"

    def __init__(self) -> None:
        super().__init__(Message("This Tuneledger is set up already."))


class WrongSetupLink(Forbidden):
    """The link was used, replaced by a newer one, or never printed."""

    def __init__(self) -> None:
        super().__init__(Message("This set-up link does not work."))


def new_setup_token(session: Session, now: datetime) -> str:
    """The token of a new set-up link; earlier links stop working."""
    token = new_secret()
    session.exec(delete(SetupLink))
    session.add(SetupLink(token_sha256=digest(token), created_at=now))
    session.flush()
    return token


def check_setup_token(session: Session, token: str, *, lock: bool = False) -> None:
    """Raises SetUpAlready, WrongSetupLink. Locked, a second one who opens the link waits for what the first does."""
    statement = select(SetupLink).order_by(col(SetupLink.id))
    links = session.exec(statement.with_for_update() if lock else statement).all()
    if any_user_exists(session):
        raise SetUpAlready
    if not links or links[-1].token_sha256 != digest(token):
        raise WrongSetupLink


def complete_setup(
    session: Session, token: str, data: SetupInput, password_hash: str, clock: Clock, load_sample: LoadSample
) -> tuple[User, Team]:
    """Makes the first user the owner of a team; a team of that name, made for a token, becomes theirs.

    Raises SetUpAlready, WrongSetupLink, InvalidInput.
    """
    check_zone(data.time_zone)
    check_setup_token(session, token, lock=True)
    user = create_user(session, data.name, password_hash, clock())
    team = find_team(session, data.team.name)
    is_new = team is None
    team = team or create_team(session, data.team, clock())
    actor = Actor(team, "owner", user.name, clock, user_id=user.id)
    if is_new:
        record_event(session, actor, "created", "team", actor.team_id, **data.team.model_dump())
    else:
        apply_team(session, actor, team, data.team)
    join_team(session, actor, user, "owner")
    load_sample(session, actor)
    return user, team
