"""``tuneledger prices``: current prices of international clouds as a price list to import."""

from typing import Annotated

import typer

from app.catalog.gpuhunt_prices import WantedPrices, fetch_price_list
from app.commands.surroundings import surroundings
from app.commands.words import said
from app.i18n import Message

_PROVIDER = said(Message("Only of this provider; may be given several times."))
_GPU = said(Message("Only with this GPU of the catalogue, like l40s; may be given several times."))
_REGION = said(Message("Only in this region; may be given several times."))


def prices(
    context: typer.Context,
    provider: Annotated[list[str] | None, typer.Option(help=_PROVIDER)] = None,
    gpu: Annotated[list[str] | None, typer.Option(help=_GPU)] = None,
    region: Annotated[list[str] | None, typer.Option(help=_REGION)] = None,
) -> None:
    """A CSV on stdout, for the import of the catalogue page or ``POST /catalog/offers/import``."""
    wanted = WantedPrices(provider or (), gpu or (), region or ())
    fetched = fetch_price_list(wanted, surroundings(context).clock().date())
    typer.echo(fetched.csv, nl=False)
    if fetched.missing:
        typer.echo(said(Message("No prices of: %(names)s.", names=", ".join(fetched.missing))), err=True)
