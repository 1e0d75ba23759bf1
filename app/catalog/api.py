"""JSON routes of the catalogue: models, GPUs, offers, exchange rates."""

from typing import Annotated, Literal

from fastapi import File, Form, Request, Response, UploadFile

from app.accounts.access import Editor, Viewer
from app.api.answers import ListAnswer, PreconditionHeader, created, with_etag
from app.api.pagination import PageParams, page_of_sequence
from app.api.routes import api_router
from app.catalog import history, rates, service
from app.catalog.access import OfferQuery, OfferToChange, SeenOffer
from app.catalog.answers import (
    GpuAnswer,
    ModelAnswer,
    OfferAnswer,
    OfferPriceAnswer,
    PriceListAnswer,
    RateAnswer,
)
from app.catalog.gpus import list_gpus
from app.catalog.imports import import_price_list
from app.catalog.inputs import OfferChange, OfferInput, RateInput
from app.catalog.known_models import list_models
from app.catalog.price_list import LARGEST_BYTES
from app.db import ReadSession, WriteSession
from app.web.language import language_of

router = api_router("catalog")


@router.get("/catalog/models")
def read_models(_actor: Viewer, wanted: PageParams) -> ListAnswer[ModelAnswer]:
    """The models that can be planned by name."""
    page = page_of_sequence(list_models(), wanted)
    return ListAnswer(items=[ModelAnswer.of(model) for model in page.items], next_cursor=page.next_cursor)


@router.get("/catalog/gpus")
def read_gpus(_actor: Viewer, wanted: PageParams) -> ListAnswer[GpuAnswer]:
    """The GPUs with their figures and sources."""
    page = page_of_sequence(list_gpus(), wanted)
    return ListAnswer(items=[GpuAnswer.of(gpu) for gpu in page.items], next_cursor=page.next_cursor)


@router.get("/catalog/offers")
def read_offers(
    actor: Viewer, session: ReadSession, narrowed: OfferQuery, wanted: PageParams
) -> ListAnswer[OfferAnswer]:
    """The packaged offers and the team's own."""
    page = service.list_offers_page(session, actor.team_id, narrowed, wanted)
    items = [OfferAnswer.of(offer, actor.today) for offer in page.items]
    return ListAnswer(items=items, next_cursor=page.next_cursor)


@router.post("/catalog/offers", status_code=201)
def create_offer(
    request: Request, response: Response, actor: Editor, session: WriteSession, data: OfferInput
) -> OfferAnswer:
    """Adds an offer of the team's own."""
    offer = service.create_offer(session, actor, data)
    created(response, request, "read_offer", offer_id=offer.id)
    with_etag(response, offer.version)
    return OfferAnswer.of(offer, actor.today)


@router.post("/catalog/offers/import")
def import_offers(
    request: Request,
    actor: Editor,
    session: WriteSession,
    file: Annotated[UploadFile, File(description="CSV with a header, in UTF-8 or GB18030.")],
    dry_run: Annotated[Literal["true", "false"], Form()] = "false",
) -> PriceListAnswer:
    """Brings a price list into the team's own offers; a second time, the same file changes nothing."""
    content = file.file.read(LARGEST_BYTES + 1)
    made = import_price_list(session, actor, content, dry_run=dry_run == "true")
    return PriceListAnswer.of(made, language_of(request))


@router.get("/catalog/offers/{offer_id}")
def read_offer(response: Response, actor: Viewer, offer: SeenOffer) -> OfferAnswer:
    """One offer."""
    with_etag(response, offer.version)
    return OfferAnswer.of(offer, actor.today)


@router.patch("/catalog/offers/{offer_id}")
def change_offer(
    response: Response,
    offer: OfferToChange,
    actor: Editor,
    session: WriteSession,
    data: OfferChange,
    precondition: PreconditionHeader,
) -> OfferAnswer:
    """Changes an offer of the team's own, for the future: runs keep their price."""
    service.change_offer(session, actor, offer, data, precondition)
    with_etag(response, offer.version)
    return OfferAnswer.of(offer, actor.today)


@router.delete("/catalog/offers/{offer_id}", status_code=204)
def delete_offer(offer: OfferToChange, actor: Editor, session: WriteSession, precondition: PreconditionHeader) -> None:
    """Hides an offer of the team's own; what refers to it stays as it is."""
    service.delete_offer(session, actor, offer, precondition)


@router.get("/catalog/offers/{offer_id}/prices")
def read_offer_prices(
    actor: Viewer, session: ReadSession, offer: SeenOffer, wanted: PageParams
) -> ListAnswer[OfferPriceAnswer]:
    """What one of the team's own offers has cost, the oldest price first."""
    page = history.list_prices_page(session, actor.team_id, offer, wanted)
    return ListAnswer(items=[OfferPriceAnswer.of(price) for price in page.items], next_cursor=page.next_cursor)


@router.get("/rates")
def read_rates(actor: Viewer, session: ReadSession, wanted: PageParams) -> ListAnswer[RateAnswer]:
    """The team's dated exchange rates."""
    page = rates.list_rates_page(session, actor.team_id, wanted)
    return ListAnswer(items=[RateAnswer.of(rate) for rate in page.items], next_cursor=page.next_cursor)


@router.post("/rates", status_code=201)
def save_rate(response: Response, actor: Editor, session: WriteSession, data: RateInput) -> RateAnswer:
    """Stores a rate; 200 when it replaces one of the same currencies and day."""
    rate, is_new = rates.save_rate(session, actor, data)
    response.status_code = 201 if is_new else 200
    return RateAnswer.of(rate)
