"""The command line. Answers go to stdout, log lines and errors to stderr; bad use ends with 2, a fault with 1."""

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

import typer
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app import __version__
from app.commands import database, demo, token, user
from app.commands.estimate import estimate
from app.commands.prices import prices
from app.commands.report import report
from app.commands.serve import serve
from app.commands.surroundings import Surroundings
from app.commands.words import said, sentence_of
from app.errors import InvalidInput, TuneledgerError
from app.i18n import Message
from app.logs import configure_logs
from app.settings import Settings
from app.time import Clock, utc_now
from app.web.static_files import MissingAssetsError

BAD_USE = 2
FAULT = 1


def _begin(context: typer.Context, **given: str | None) -> None:
    given.pop("version")
    around = Surroundings({name: text for name, text in given.items() if text is not None}, context.obj)
    context.obj = around
    configure_logs(around.settings().log_format)


def _with_every_setting(callback: Callable[..., None]) -> Callable[..., None]:
    """Gives the callback an option for every setting, so that none can be forgotten."""
    word = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY, default=None)
    options = [
        word(name, annotation=Annotated[str | None, typer.Option(_option(name), help=info.description)])
        for name, info in Settings.model_fields.items()
    ]
    version = typer.Option("--version", help=said(Message("Prints the version.")), is_eager=True, callback=_version)
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    options.append(word("version", default=False, annotation=Annotated[bool, version]))
    callback.__signature__ = inspect.Signature([context, *options])  # type: ignore[attr-defined]
    return callback


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


def _option(setting: str) -> str:
    return "--" + setting.replace("_", "-")


def _build() -> typer.Typer:
    app = typer.Typer(
        add_completion=False, rich_markup_mode=None, help=said(Message("Plans fine-tuning jobs and keeps their money."))
    )
    # Every setting is a variable too: TUNELEDGER_DATABASE_URL is --database-url.
    app.callback()(_with_every_setting(_begin))
    app.command(help=said(Message("Serves the pages and the JSON API.")))(serve)
    app.add_typer(token.app, name="token")
    app.add_typer(user.app, name="user")
    app.add_typer(demo.app, name="demo")
    app.command(help=said(Message("Prints memory, time and cost of a job; needs no server.")))(estimate)
    app.command(help=said(Message("Writes the weekly report of a project or a team.")))(report)
    app.command(help=said(Message("Writes current prices of international clouds as a list to import.")))(prices)
    app.command(help=said(Message("Makes the database, or brings it up to date.")))(database.migrate)
    app.command(help=said(Message("Checks settings, database and assets.")))(database.check)
    return app


cli = _build()


def run(arguments: Sequence[str], *, clock: Clock = utc_now) -> int:
    """Runs one command; returns its exit status."""
    try:
        status: Any = cli(list(arguments), prog_name="tuneledger", standalone_mode=False, obj=clock)
    except Exception as error:  # noqa: BLE001 - _explained() hands on what it does not know
        line, status = _explained(error)
        typer.echo(f"{said(Message('Error'))}: {line}", err=True)
    return status if isinstance(status, int) else 0


def _explained(error: Exception) -> tuple[str, int]:
    """An error in one line, and the exit status; one that nobody expected goes on."""
    match error:
        case typer.TyperException():
            return " ".join(error.format_message().split()), error.exit_code
        case TuneledgerError():
            return sentence_of(error), BAD_USE if isinstance(error, InvalidInput) else FAULT
        case MissingAssetsError():
            return str(error), FAULT
        case CommandError():
            return said(Message("The database is not of this version: %(reason)s", reason=str(error))), FAULT
        case SQLAlchemyError():
            return said(Message("The database cannot be used: %(reason)s", reason=_reason(error))), FAULT
        case OSError():
            return f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "), FAULT
    raise error


def _reason(error: SQLAlchemyError) -> str:
    """The driver's own first line; SQLAlchemy adds the statement and a link."""
    text = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    return text.strip().partition("\n")[0]


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
