"""The table of hosted prices that a page shows: what stands in a row."""

from dataclasses import dataclass
from datetime import date

from app.catalog.freshness import is_stale
from app.catalog.hosted.packaged import Hosted, hosted_provider_names
from app.catalog.known_models import find_model


@dataclass(frozen=True, slots=True)
class HostedRow:
    """One line of the table, in the reader's language."""

    hosted: Hosted
    provider_name: str
    service: str
    model_name: str | None
    note: str
    is_stale: bool


def row_of_hosted(hosted: Hosted, today: date, locale: str) -> HostedRow:
    """The line of a price, for a reader of ``locale`` (``en``, ``zh_CN``)."""
    model = None if hosted.model is None else find_model(hosted.model)
    return HostedRow(
        hosted,
        hosted_provider_names().get(hosted.provider, {}).get(locale, hosted.provider),
        hosted.service[locale],
        hosted.model if model is None else model.name,
        hosted.note[locale],
        is_stale(hosted.as_of, today),
    )


def sorted_hosted_rows(rows: list[HostedRow]) -> list[HostedRow]:
    """The team's own first, then by provider; within one as they are listed."""
    return sorted(rows, key=lambda row: (not row.hosted.is_own, row.provider_name.lower()))
