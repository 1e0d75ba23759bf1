"""``tuneledger serve``: the web server, in this process."""

import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

import structlog
import typer
import uvicorn

from app.accounts.cookies import is_loopback
from app.accounts.setup import new_setup_token
from app.accounts.users import any_user_exists
from app.commands.surroundings import ready_database, surroundings
from app.commands.words import said
from app.db import Database
from app.i18n import Message
from app.main import create_app
from app.settings import Settings
from app.time import Clock
from app.web.static_files import check_assets

log = structlog.get_logger()

# How long requests that are being answered may take to end when the server is told to stop.
_GRACE_SECONDS = 10


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help=said(Message("The address to listen on; 127.0.0.1.")))] = None,
    port: Annotated[str | None, typer.Option(help=said(Message("The port to listen on; 8000.")))] = None,
) -> None:
    """Serves until it is told to stop (Ctrl-C, SIGTERM)."""
    around = surroundings(context)
    wanted = around.settings(host=host, port=port)
    check_assets()
    # Before the database is touched: who has the port has the database too.
    with listen(wanted.host, wanted.port) as listener:
        settings = wanted.model_copy(update={"port": listener.getsockname()[1]})
        _warn_of_dangers(settings)
        with ready_database(settings, around.clock) as database:
            _run(settings, database, around.clock, listener)


def _run(settings: Settings, database: Database, clock: Clock, listener: socket.socket) -> None:
    app = create_app(settings, clock=clock, database=database)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        # Nobody on this machine may say where a request came from, unless a proxy is known to stand in front.
        proxy_headers=bool(settings.base_url),
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    # uvicorn ends in order on both signals and raises them once more; then they end this command as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        _Server(config, lambda: _announce(settings, database, clock)).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Says when it answers."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # What is there now stays: the collector need not look through it again for every thousand new objects.
        gc.collect()
        gc.freeze()
        if self.started:
            self._on_start()


def _announce(settings: Settings, database: Database, clock: Clock) -> None:
    log.info("serving", address=settings.public_url)
    with database.write() as session:
        token = None if any_user_exists(session) else new_setup_token(session, clock())
    if token is not None:
        log.info("nobody can sign in yet: open the link below to choose a name and a password")
        typer.echo(f"{settings.public_url}/setup?token={token}")
        sys.stdout.flush()


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises OSError with the address in its text."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, reason, f"{host}:{port}") from error
    # Its connections inherit it. An answer is written in two pieces, and the second would wait 40 ms for the client to
    # acknowledge the first.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _warn_of_dangers(settings: Settings) -> None:
    is_encrypted = settings.base_url.startswith("https://")
    if not is_encrypted and not is_loopback(settings.host):
        log.warning(
            "passwords and sessions travel unencrypted: put https in front and say so by TUNELEDGER_BASE_URL"
        )
    if settings.password_hash != "argon2":  # noqa: S105 - the name of a method
        log.warning("passwords are hashed in the way that is meant for tests only")
