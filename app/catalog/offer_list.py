"""The page of offers: the table as its address narrows and sorts it, and the forms beside it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query, Request, Response
from pydantic import BeforeValidator
from sqlmodel import Session

from app.accounts.access import Actor
from app.catalog.gpus import list_gpus
from app.catalog.history import list_prices
from app.catalog.names import provider_name
from app.catalog.offer_form import has_wrong_terms, tier_rows
from app.catalog.offer_table import (
    SORTS,
    OfferRow,
    Sort,
    TablePage,
    choices_of,
    page_of_rows,
    row_of,
    sorted_rows,
    with_memory,
)
from app.catalog.packaged_offers import provider_names
from app.catalog.service import OfferFilter, list_offers
from app.i18n import BABEL_LOCALE
from app.money import CURRENCIES, AmountError, parse_amount
from app.web.forms import Form
from app.web.language import language_of
from app.web.render import render

NEW_OFFER = "new-offer"
IMPORT = "import"


def _number_or_first(value: object) -> object:
    # A hand-written page number leads to the first page rather than to an error.
    return value if isinstance(value, str) and value.isdecimal() and len(value) < 10 else 1


def _sort_or_first(value: object) -> object:
    return value if value in SORTS else SORTS[0]


Word = Annotated[str, Query()]
SortWord = Annotated[Sort, BeforeValidator(_sort_or_first), Query()]
PageNumber = Annotated[int, BeforeValidator(_number_or_first), Query()]


@dataclass(frozen=True, slots=True)
class TableView:
    """How the table is seen: narrowed to what, in which order, which page of it."""

    narrowed: OfferFilter = field(default_factory=OfferFilter)
    memory: str = ""
    sort: Sort = "price"
    page: int = 1

    @property
    def least_memory_gib(self) -> Decimal | None:
        """The memory asked for; a text that is no number asks for nothing."""
        try:
            return parse_amount(self.memory.strip())
        except AmountError:
            return None

    @property
    def words(self) -> dict[str, str]:
        """The view as an address has it, without the page."""
        return {**asdict(self.narrowed), "memory": self.memory, "sort": self.sort}


def _table_view(
    gpu: Word = "",
    provider: Word = "",
    region: Word = "",
    billing: Word = "",
    memory: Word = "",
    sort: SortWord = "price",
    page: PageNumber = 1,
) -> TableView:
    return TableView(OfferFilter(gpu, provider, region, billing), memory, sort, page)


TableQuery = Annotated[TableView, Depends(_table_view)]


def offers_page(
    request: Request,
    actor: Actor,
    session: Session,
    view: TableView,
    *,
    form: Form | None = None,
    import_form: Form | None = None,
    status: int = 200,
) -> Response:
    """The page; a form that was refused is shown as it was sent."""
    locale = locale_of(request)
    table = _table(session, actor, view, locale)
    form = form or _empty_form(actor)
    return render(
        request,
        "catalog/offers.html",
        block="offers_table",
        status=status,
        tab="offers",
        filters=Form(view.words, id="filter"),
        table=table,
        page_links=_page_links(request, view, table),
        choices=choices_of(list_offers(session, actor.team_id), language_of(request)),
        import_form=import_form or Form(id=IMPORT),
        form=form,
        **form_context(request, form),
    )


def form_context(request: Request, form: Form) -> dict[str, Any]:
    """What the fields of an offer need beside their values."""
    locale = locale_of(request)
    return {
        "nav": "catalog",
        "gpu_options": [(gpu.id, gpu.name) for gpu in list_gpus()],
        "currencies": [(code, code) for code in sorted(CURRENCIES)],
        "known_providers": [(provider, provider_name(provider, locale)) for provider in provider_names()],
        "tier_rows": tier_rows(form.values),
        "open_terms": has_wrong_terms(form.errors),
    }


def locale_of(request: Request) -> str:
    """``en`` or ``zh_CN``."""
    return BABEL_LOCALE[language_of(request)]


def _table(session: Session, actor: Actor, view: TableView, locale: str) -> TablePage:
    offers = list_offers(session, actor.team_id, view.narrowed)
    prices = list_prices(session, actor.team_id, offers)
    rows: list[OfferRow] = [row_of(offer, actor.today, locale, prices.get(offer.id or 0, ())) for offer in offers]
    return page_of_rows(sorted_rows(with_memory(rows, view.least_memory_gib), view.sort), view.page)


def _empty_form(actor: Actor) -> Form:
    values = {"gpu": "a10", "gpu_count": "1", "price_per_hour.currency": actor.team.currency}
    return Form(values | {"as_of": actor.today.isoformat()}, id=NEW_OFFER)


def _page_links(request: Request, view: TableView, table: TablePage) -> Mapping[str, str]:
    """Where the table's earlier and later pages are."""
    words = {name: word for name, word in view.words.items() if word}
    path = request.app.url_path_for("catalog_page")
    numbers = {"previous": table.number - 1, "next": table.number + 1}
    return {name: f"{path}?{urlencode(words | {'page': number})}" for name, number in numbers.items()}
