"""``tuneledger migrate`` and ``tuneledger check``."""

import os
from collections.abc import Iterator

import typer
from sqlalchemy.engine import make_url

from app.commands.surroundings import ready_database, surroundings
from app.commands.words import said
from app.i18n import Message
from app.settings import Settings
from app.web.static_files import check_assets

# Of the tests, not of the product.
_FOREIGN_VARIABLES = {"TUNELEDGER_TEST_CHROMIUM"}


def migrate(context: typer.Context) -> None:
    """Brings the database to this version's tables; every other command does so too."""
    with surroundings(context).database():
        pass


def check(context: typer.Context) -> None:
    """Says whether the settings, the database and the assets are as they must be; the first fault ends it."""
    around = surroundings(context)
    settings = around.settings()
    for line in _settings_lines(settings):
        typer.echo(line)
    with ready_database(settings, around.clock):
        url = make_url(settings.resolved_database_url).render_as_string(hide_password=True)
        typer.echo(said(Message("database: in order (%(url)s)", url=url)))
    check_assets()
    typer.echo(said(Message("assets: in order")))


def _settings_lines(settings: Settings) -> Iterator[str]:
    known = {f"TUNELEDGER_{name.upper()}" for name in type(settings).model_fields} | _FOREIGN_VARIABLES
    for name in sorted(os.environ):
        if name.startswith("TUNELEDGER_") and name not in known:
            yield said(Message("settings: %(name)s is not a setting and does nothing", name=name))
    yield said(Message("settings: in order"))
