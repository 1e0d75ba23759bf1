"""``tuneledger estimate``: what a job needs, without a server or a database."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from app.commands.words import environment_language, said
from app.errors import InvalidInput
from app.i18n import Message
from app.planning.estimates import answer_for, read_estimate_input

_FILE_HELP = said(Message("The body of POST /estimates; - reads stdin."))


def estimate(
    file: Annotated[Path, typer.Argument(help=_FILE_HELP)],
) -> None:
    """Memory, time and cost of a job, as the JSON API answers."""
    wanted = read_estimate_input(_document(file))
    answer = answer_for(wanted, environment_language())
    typer.echo(json.dumps(answer, ensure_ascii=False, allow_nan=False, indent=2))


def _document(file: Path) -> Any:
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return json.loads(content)
    except OSError as error:
        raise InvalidInput.at(str(file), Message("This file cannot be read.")) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput.at(str(file), Message("This is not valid JSON: %(reason)s", reason=str(error))) from error
