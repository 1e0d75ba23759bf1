"""``tuneledger user``: people who sign in with a name and a password."""

import sys
from typing import Annotated

import structlog
import typer
from sqlmodel import Session

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.accounts.credentials import new_password
from app.accounts.inputs import MemberInput, ResetInput, read_input
from app.accounts.models import Role, User
from app.accounts.passwords import Passwords
from app.accounts.service import add_member, join_team
from app.accounts.teams import teams_of_user
from app.accounts.users import find_user, is_member_anywhere, set_password
from app.commands.surroundings import Surroundings, surroundings
from app.commands.teams import get_named_or_only_team
from app.commands.words import said
from app.errors import InvalidInput
from app.i18n import Message

app = typer.Typer(help=said(Message("People who sign in.")))
log = structlog.get_logger()

PersonName = Annotated[str, typer.Argument(help=said(Message("The user's name.")))]
PasswordStdin = Annotated[
    bool,
    typer.Option("--password-stdin", help=said(Message("Read the password from stdin; else one is made and printed."))),
]


@app.command(help=said(Message("Adds a user to a team. One of another team joins with the password they have.")))
def add(
    context: typer.Context,
    name: PersonName,
    role: Annotated[Role, typer.Option(help=said(Message("What the user may do.")))],
    team: Annotated[str | None, typer.Option(help=said(Message("The team; the only one when left out.")))] = None,
    password_stdin: PasswordStdin = False,
) -> None:
    """See ``help``."""
    around = surroundings(context)
    password, is_made = _password(password_stdin)
    data = read_input(MemberInput, {"name": name, "password": password, "role": role})
    passwords = _passwords(around)
    with around.database() as database:
        with database.read() as session:
            actor = around.actor(get_named_or_only_team(session, team))
            known = _known_elsewhere(session, data.name)
        with database.write() as session:
            if known is None:
                add_member(session, actor, data, passwords)
            else:
                _let_join(session, actor, known, role, password_given=password_stdin)
    if known is None and is_made:
        typer.echo(password)


@app.command("reset-password", help=said(Message("Gives a user a new password and signs them out everywhere.")))
def reset_password(context: typer.Context, name: PersonName, password_stdin: PasswordStdin = False) -> None:
    """See ``help``."""
    around = surroundings(context)
    password, is_made = _password(password_stdin)
    data = read_input(ResetInput, {"name": name, "password": password})
    password_hash = _passwords(around).hash(data.password)
    with around.database() as database, database.write() as session:
        user = find_user(session, data.name)
        if user is None:
            raise InvalidInput.at("name", Message("There is no user %(name)s.", name=data.name))
        set_password(session, user, password_hash)
        for team in teams_of_user(session, user.id or 0):
            record_event(session, around.actor(team), "reset", "password", user.id or 0)
    if is_made:
        typer.echo(password)


def _password(from_stdin: bool) -> tuple[str, bool]:
    """The password, and whether it was made here."""
    return (sys.stdin.readline().rstrip("\r\n"), False) if from_stdin else (new_password(), True)


def _passwords(around: Surroundings) -> Passwords:
    return Passwords(around.settings().password_hash)


def _known_elsewhere(session: Session, name: str) -> User | None:
    user = find_user(session, name)
    return user if user is not None and is_member_anywhere(session, user.id or 0) else None


def _let_join(session: Session, actor: Actor, user: User, role: Role, *, password_given: bool) -> None:
    if password_given:
        raise InvalidInput.at(
            "password-stdin", Message("%(name)s has a password already; reset-password changes it.", name=user.name)
        )
    join_team(session, actor, user, role)
    log.info("the user keeps the password they have", user=user.name)
