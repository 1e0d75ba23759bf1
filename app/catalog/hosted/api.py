"""JSON routes of hosted fine-tuning by the token."""

from fastapi import Request, Response

from app.accounts.access import Actor, Editor, Viewer
from app.api.answers import ListAnswer, PreconditionHeader, created, with_etag
from app.api.pagination import PageParams, page_of_sequence
from app.api.routes import api_router
from app.catalog.hosted import prices
from app.catalog.hosted.access import HostedToChange, SeenHosted
from app.catalog.hosted.answers import HostedAnswer
from app.catalog.hosted.inputs import HostedChange, HostedInput
from app.catalog.models import HostedPrice
from app.db import ReadSession, WriteSession
from app.web.language import language_of

router = api_router("catalog")


@router.get("/catalog/hosted")
def read_hosted_prices(
    request: Request, actor: Viewer, session: ReadSession, wanted: PageParams
) -> ListAnswer[HostedAnswer]:
    """The packaged prices of hosted fine-tuning, then the team's own."""
    page = page_of_sequence(prices.list_hosted(session, actor.team_id), wanted)
    language = language_of(request)
    items = [HostedAnswer.of(hosted, actor.today, language) for hosted in page.items]
    return ListAnswer(items=items, next_cursor=page.next_cursor)


@router.post("/catalog/hosted", status_code=201)
def create_hosted_price(
    request: Request, response: Response, actor: Editor, session: WriteSession, data: HostedInput
) -> HostedAnswer:
    """Adds a price of the team's own."""
    price = prices.create_hosted_price(session, actor, data)
    created(response, request, "read_hosted_price", hosted_id=price.id)
    return _answer(request, response, actor, price)


@router.get("/catalog/hosted/{hosted_id}")
def read_hosted_price(request: Request, response: Response, actor: Viewer, price: SeenHosted) -> HostedAnswer:
    """One of the team's own prices."""
    return _answer(request, response, actor, price)


@router.patch("/catalog/hosted/{hosted_id}")
def change_hosted_price(
    request: Request,
    response: Response,
    price: HostedToChange,
    actor: Editor,
    session: WriteSession,
    data: HostedChange,
    precondition: PreconditionHeader,
) -> HostedAnswer:
    """Changes a price of the team's own."""
    prices.change_hosted_price(session, actor, price, data, precondition)
    return _answer(request, response, actor, price)


@router.delete("/catalog/hosted/{hosted_id}", status_code=204)
def delete_hosted_price(
    price: HostedToChange, actor: Editor, session: WriteSession, precondition: PreconditionHeader
) -> None:
    """Hides a price of the team's own."""
    prices.delete_hosted_price(session, actor, price, precondition)


def _answer(request: Request, response: Response, actor: Actor, price: HostedPrice) -> HostedAnswer:
    with_etag(response, price.version)
    return HostedAnswer.of(prices.hosted_of(price), actor.today, language_of(request))
