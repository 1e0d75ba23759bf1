"""What every command runs in: the settings, the clock, and a database that is up to date."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import typer
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from app.accounts.access import Actor
from app.accounts.models import Team
from app.catalog.sync import sync_packaged_offers
from app.db import Database, open_database
from app.errors import FieldError, InvalidInput
from app.fields import message_of
from app.i18n import Message
from app.settings import Settings
from app.time import Clock


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Made once from the options that stand before the command."""

    given: Mapping[str, str]
    clock: Clock

    def settings(self, **more: str | None) -> Settings:
        """The settings, a command's own options included. Raises InvalidInput."""
        given = {**self.given, **{name: text for name, text in more.items() if text is not None}}
        try:
            return Settings(**given)  # type: ignore[arg-type]
        except ValidationError as error:
            raise InvalidInput(*(_setting_error(details) for details in error.errors())) from error

    @contextmanager
    def database(self) -> Iterator[Database]:
        """The settings' database, made or migrated where it is empty or older, with the packaged catalogue."""
        with ready_database(self.settings(), self.clock) as database:
            yield database

    def actor(self, team: Team) -> Actor:
        """Who acts in a team when a command is run: whoever runs the server may do everything."""
        return Actor(team, "owner", "command line", self.clock)


@contextmanager
def ready_database(settings: Settings, clock: Clock) -> Iterator[Database]:
    """See ``Surroundings.database``."""
    database = open_database(settings)
    try:
        database.migrate()
        with database.write() as session:
            sync_packaged_offers(session, clock())
        yield database
    finally:
        database.close()


def surroundings(context: typer.Context) -> Surroundings:
    """What the callback before the command has put there."""
    found = context.find_object(Surroundings)
    if found is None:
        raise RuntimeError("the command was called without its surroundings")
    return found


def _setting_error(details: ErrorDetails) -> FieldError:
    """A wrong setting under the name of its variable; our own validators say themselves what is wrong."""
    name = "_".join(str(part) for part in details["loc"])
    own = details.get("ctx", {}).get("error")
    return FieldError(f"TUNELEDGER_{name.upper()}", Message(str(own)) if own else message_of(details))
