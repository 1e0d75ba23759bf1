"""``tuneledger report``: the weekly report as a file."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from sqlmodel import Session

from app.accounts.access import Actor
from app.accounts.teams import list_teams
from app.commands.surroundings import Surroundings, surroundings
from app.commands.teams import get_named_or_only_team
from app.commands.words import said
from app.errors import InvalidInput, NotFound
from app.i18n import Message
from app.projects.access import get_project
from app.reports.answers import wanted_week
from app.reports.service import build_weekly_report
from app.reports.weekly import WeeklyReport
from app.reports.writers.csv_text import report_csv
from app.reports.writers.json_document import report_document
from app.reports.writers.markdown import report_markdown
from app.time import week_of

Format = Literal["csv", "md", "json"]


def report(
    context: typer.Context,
    week: Annotated[str | None, typer.Option(help=said(Message("An ISO week such as 2026-W49; this one.")))] = None,
    project: Annotated[int | None, typer.Option(help=said(Message("A project's id; the whole team.")))] = None,
    team: Annotated[str | None, typer.Option(help=said(Message("The team; the only one, or the project's.")))] = None,
    format: Annotated[Format, typer.Option(help=said(Message("How it is written.")))] = "md",
    output: Annotated[Path | None, typer.Option(help=said(Message("The file to write; stdout.")))] = None,
) -> None:
    """The weekly report of a project or a team, in the team's language."""
    wanted = None if week is None else wanted_week(week)
    around = surroundings(context)
    with around.database() as database, database.read() as session:
        actor = _actor(session, around, team, project)
        found = build_weekly_report(session, actor, wanted or week_of(actor.today), project)
    written = _written(found, actor, format)
    if output is None:
        typer.echo(written, nl=False)
    else:
        output.write_bytes(written)


def _actor(session: Session, around: Surroundings, team: str | None, project_id: int | None) -> Actor:
    if project_id is None or team is not None:
        actor = around.actor(get_named_or_only_team(session, team))
        if project_id is not None and not _has(session, actor, project_id):
            raise _no_project(project_id)
        return actor
    actors = (around.actor(one) for one in list_teams(session))
    found = next((actor for actor in actors if _has(session, actor, project_id)), None)
    if found is None:
        raise _no_project(project_id)
    return found


def _has(session: Session, actor: Actor, project_id: int) -> bool:
    try:
        get_project(session, actor, project_id)
    except NotFound:
        return False
    return True


def _no_project(project_id: int) -> InvalidInput:
    return InvalidInput.at("project", Message("There is no project %(id)s.", id=project_id))


def _written(report: WeeklyReport, actor: Actor, format: Format) -> bytes:
    """The same characters as the page and the JSON API give."""
    if format == "csv":
        return report_csv(report, actor.language).encode()
    if format == "md":
        return report_markdown(report, actor.language).encode()
    return (json.dumps(report_document(report), ensure_ascii=False, indent=2) + "\n").encode()
