"""The table of offers that a page shows: what stands in a row, in which order, and what can be chosen."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal, get_args

from app.catalog.freshness import is_stale
from app.catalog.gpus import Gpu, find_gpu
from app.catalog.misnomers import find_misnomer
from app.catalog.models import Offer, OfferPrice
from app.catalog.names import provider_name, region_name
from app.catalog.terms import discount_on
from app.i18n import BABEL_LOCALE, Language, translate

Sort = Literal["price", "gpu_price", "tflop_price", "memory", "gpu", "provider", "as_of"]
SORTS: tuple[Sort, ...] = get_args(Sort)
ROWS_PER_PAGE = 50

_DEAREST = Decimal(10) ** 12
_BYTES_PER_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class OfferRow:
    """One line of the table."""

    offer: Offer
    gpu: Gpu | None
    provider_name: str
    is_stale: bool
    # What is taken off today, a share from 0 to 1.
    discount: Decimal
    # What the instance is often mistaken for, in the reader's language, and who knows better.
    misnomer: str | None = None
    misnomer_source: str | None = None
    # Of one of the team's own, the latest first.
    prices: Sequence[OfferPrice] = ()

    @property
    def price_per_gpu_hour(self) -> Decimal | None:
        """The instance's price by its number of GPUs, for comparing; a slice is brought to a whole card."""
        price = self.offer.price_per_hour
        return None if price is None else price / self.offer.gpu_count

    @property
    def price_per_tflop_hour(self) -> Decimal | None:
        """The price by the dense rate, in bf16 or fp16, of all its GPUs; None where either is unknown."""
        rate = self.gpu.training_tflops if self.gpu else None
        price = self.price_per_gpu_hour
        return None if price is None or rate is None else price / Decimal(str(rate))

    @property
    def reduced_price_per_hour(self) -> Decimal | None:
        """What the instance costs with the discount of today; None without one."""
        price = self.offer.price_per_hour
        return price * (1 - self.discount) if price is not None and self.discount else None

    @property
    def memory_bytes(self) -> int | None:
        """Usable memory of one GPU, or of the slice of one; None where it is unknown."""
        memory = self.gpu.memory_bytes if self.gpu else None
        return None if memory is None else int(memory * min(self.offer.gpu_count, Decimal(1)))

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


def row_of(offer: Offer, today: date, locale: str, prices: Sequence[OfferPrice] = ()) -> OfferRow:
    """The line of an offer, for a reader of ``locale`` (``en``, ``zh_CN``)."""
    misnomer = find_misnomer(offer.provider, offer.instance_type)
    return OfferRow(
        offer,
        find_gpu(offer.gpu),
        provider_name(offer.provider, locale),
        is_stale(offer.as_of, today),
        discount_on(offer, today),
        misnomer.note[locale] if misnomer else None,
        misnomer.source if misnomer else None,
        prices,
    )


def with_memory(rows: Iterable[OfferRow], at_least_gib: Decimal | None) -> list[OfferRow]:
    """Those whose GPU has so much usable memory; one whose memory is unknown has not."""
    if at_least_gib is None:
        return list(rows)
    wanted_bytes = at_least_gib * _BYTES_PER_GIB
    return [row for row in rows if row.memory_bytes is not None and row.memory_bytes >= wanted_bytes]


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


def choices_of(offers: Iterable[Offer], language: Language) -> OfferChoices:
    """The values that occur among the offers, with their names in the reader's language."""
    everything, locale = list(offers), BABEL_LOCALE[language]
    gpus = {offer.gpu: gpu.name for offer in everything if (gpu := find_gpu(offer.gpu))}
    providers = {offer.provider: provider_name(offer.provider, locale) for offer in everything}
    regions = {offer.region for offer in everything if offer.region}
    return OfferChoices(_by_name(gpus), _by_name(providers), _named(regions, language))


def _named(regions: Iterable[str], language: Language) -> list[tuple[str, str]]:
    return [(region, translate(region_name(region), language)) for region in sorted(regions)]


def _by_name(names: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(names.items(), key=lambda pair: pair[1].lower())


_PRICES: Mapping[str, Callable[[OfferRow], Decimal | None]] = {
    "price": lambda row: row.offer.price_per_hour,
    "gpu_price": lambda row: row.price_per_gpu_hour,
    "tflop_price": lambda row: row.price_per_tflop_hour,
}


def _order(row: OfferRow, sort: Sort) -> tuple[Any, ...]:
    if sort == "provider":
        return ()
    if sort == "gpu":
        return (row.gpu.name if row.gpu else row.offer.gpu,)
    if sort == "as_of":
        return (-row.offer.as_of.toordinal() if row.offer.as_of else 0,)
    if sort == "memory":
        return (-(row.memory_bytes or 0),)
    price = _PRICES[sort](row)
    return (price is None, row.offer.currency, price or _DEAREST)
