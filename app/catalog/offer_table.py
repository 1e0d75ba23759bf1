"""The table of offers that a page shows: what stands in a row, in which order, and what can be chosen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from app.catalog.freshness import is_stale
from app.catalog.gpus import Gpu, find_gpu
from app.catalog.models import Offer
from app.catalog.packaged_offers import provider_names

Sort = Literal["price", "gpu_price", "gpu", "provider", "as_of"]
SORTS: tuple[Sort, ...] = ("price", "gpu_price", "gpu", "provider", "as_of")
ROWS_PER_PAGE = 50

_DEAREST = Decimal(10) ** 12


@dataclass(frozen=True, slots=True)
class OfferRow:
    """One line of the table."""

    offer: Offer
    gpu: Gpu | None
    provider_name: str
    is_stale: bool

    @property
    def price_per_gpu_hour(self) -> Decimal | None:
        """The instance's price by its number of GPUs, for comparing; a slice is brought to a whole card."""
        price = self.offer.price_per_hour
        return None if price is None else price / self.offer.gpu_count

    @property
    def is_own(self) -> bool:
        """Whether the team may change it."""
        return self.offer.team_id is not None


@dataclass(frozen=True, slots=True)
class TablePage:
    """The rows of one page of the table."""

    rows: Sequence[OfferRow]
    number: int
    count: int
    total_rows: int


@dataclass(frozen=True, slots=True)
class OfferChoices:
    """What the filters of the table offer: the values that occur, with their names."""

    gpus: Sequence[tuple[str, str]]
    providers: Sequence[tuple[str, str]]
    regions: Sequence[tuple[str, str]]


def row_of(offer: Offer, today: date, locale: str) -> OfferRow:
    """The line of an offer, for a reader of ``locale`` (``en``, ``zh_CN``)."""
    return OfferRow(offer, find_gpu(offer.gpu), provider_name(offer.provider, locale), is_stale(offer.as_of, today))


def provider_name(provider: str, locale: str) -> str:
    """What a provider is called; one that the catalogue does not know keeps the word it was entered with."""
    return provider_names().get(provider, {}).get(locale, provider)


def sorted_rows(rows: Iterable[OfferRow], sort: Sort) -> list[OfferRow]:
    """In the order asked for. Prices are ordered within their currency; unknown ones stand last, latest days first."""

    def key(row: OfferRow) -> tuple[Any, ...]:
        return (*_order(row, sort), row.offer.provider, row.offer.instance_type, row.offer.id or 0)

    return sorted(rows, key=key)


def page_of_rows(rows: Sequence[OfferRow], number: int) -> TablePage:
    """The page of that number, or the nearest there is."""
    count = max(1, -(-len(rows) // ROWS_PER_PAGE))
    number = min(max(number, 1), count)
    start = (number - 1) * ROWS_PER_PAGE
    return TablePage(rows[start : start + ROWS_PER_PAGE], number, count, len(rows))


def choices_of(offers: Iterable[Offer], locale: str) -> OfferChoices:
    """The values that occur among the offers."""
    everything = list(offers)
    gpus = {offer.gpu: gpu.name for offer in everything if (gpu := find_gpu(offer.gpu))}
    providers = {offer.provider: provider_name(offer.provider, locale) for offer in everything}
    regions = {offer.region for offer in everything if offer.region}
    return OfferChoices(_by_name(gpus), _by_name(providers), [(region, region) for region in sorted(regions)])


def _by_name(names: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(names.items(), key=lambda pair: pair[1].lower())


def _order(row: OfferRow, sort: Sort) -> tuple[Any, ...]:
    if sort == "provider":
        return ()
    if sort == "gpu":
        return (row.gpu.name if row.gpu else row.offer.gpu,)
    if sort == "as_of":
        return (-row.offer.as_of.toordinal() if row.offer.as_of else 0,)
    price = row.offer.price_per_hour if sort == "price" else row.price_per_gpu_hour
    return (price is None, row.offer.currency, price or _DEAREST)
