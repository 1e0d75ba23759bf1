"""``tuneledger token``: bearer tokens for scripts."""

from typing import Annotated, Any

import structlog
import typer

from app.accounts.inputs import TeamInput, TokenInput, read_input
from app.accounts.models import Role, Team
from app.accounts.tokens import create_token
from app.commands.surroundings import surroundings
from app.commands.teams import get_or_create_team
from app.commands.words import said
from app.i18n import Language, Message

app = typer.Typer(help=said(Message("Bearer tokens for scripts.")))
log = structlog.get_logger()


@app.callback()
def _group() -> None:
    """Keeps the command's name even while it is the only one."""


@app.command(help=said(Message("Prints a new token; makes the team when it is missing.")))
def create(
    context: typer.Context,
    team: Annotated[str, typer.Option(help=said(Message("The team's name.")))],
    role: Annotated[Role, typer.Option(help=said(Message("What the token may do.")))],
    expires_days: Annotated[
        int | None, typer.Option(help=said(Message("Days until it expires; left out: never.")))
    ] = None,
    name: Annotated[str, typer.Option(help=said(Message("What the token is for.")))] = "command line",
    currency: Annotated[str | None, typer.Option(help=said(Message("Of a new team; CNY.")))] = None,
    time_zone: Annotated[str | None, typer.Option(help=said(Message("Of a new team; Asia/Shanghai.")))] = None,
    language: Annotated[Language | None, typer.Option(help=said(Message("Of a new team; zh-CN.")))] = None,
) -> None:
    """See ``help``."""
    around = surroundings(context)
    token_input = read_input(TokenInput, {"name": name, "role": role, "expires_days": expires_days})
    chosen = {"currency": currency, "time_zone": time_zone, "language": language}
    asked = {field: value for field, value in chosen.items() if value is not None}
    team_input = read_input(TeamInput, {"name": team, **asked})
    with around.database() as database, database.write() as session:
        stored = get_or_create_team(session, around, team_input)
        _warn_of_what_differs(stored, asked)
        secret = create_token(session, around.actor(stored), token_input)
    # After the commit: a token that is printed works.
    typer.echo(secret)


def _warn_of_what_differs(team: Team, asked: dict[str, Any]) -> None:
    for name, value in asked.items():
        if getattr(team, name) != value:
            log.warning("the team exists and keeps its setting", setting=name, kept=getattr(team, name), asked=value)
