"""``tuneledger demo``: the sample project."""

from datetime import date
from typing import Annotated

import typer
from sqlmodel import Session

from app.accounts.inputs import TeamInput, read_input
from app.accounts.models import Team
from app.accounts.teams import list_teams
from app.commands.surroundings import Surroundings, surroundings
from app.commands.teams import get_named_or_only_team, get_or_create_team
from app.commands.words import said
from app.errors import InvalidInput
from app.i18n import Message
from app.sample import load_sample

app = typer.Typer(help=said(Message("The sample project.")))

NEW_TEAM = "Demo"


@app.callback()
def _group() -> None:
    """Keeps the command's name even while it is the only one."""


@app.command(help=said(Message("Puts the sample project into a team, once, and prints its id.")))
def load(
    context: typer.Context,
    team: Annotated[
        str | None, typer.Option(help=said(Message("The team, made when it is missing; the only one, or Demo.")))
    ] = None,
    today: Annotated[
        str | None, typer.Option(metavar="DATE", help=said(Message("The day that the story is told on; today.")))
    ] = None,
) -> None:
    """See ``help``."""
    day = None if today is None else _day(today)
    around = surroundings(context)
    wanted = None if team is None else read_input(TeamInput, {"name": team})
    with around.database() as database, database.write() as session:
        stored = _team(session, around, wanted)
        project = load_sample(session, around.actor(stored), day)
    typer.echo(str(project.id))


def _team(session: Session, around: Surroundings, wanted: TeamInput | None) -> Team:
    if wanted is None and list_teams(session):
        return get_named_or_only_team(session, None)
    return get_or_create_team(session, around, wanted or TeamInput(name=NEW_TEAM))


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput.at("today", Message("This is not a date; write it like 2026-12-01.")) from error
