"""The page that searches the catalogue for a job: what fits, what it costs, what nothing beats."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from sqlmodel import Session

from app.accounts.access import Actor, Viewer
from app.catalog.gpus import find_gpu
from app.catalog.hosted.table import HostedRow, row_of_hosted
from app.catalog.known_models import list_models
from app.catalog.names import provider_name
from app.catalog.offer_table import OfferChoices, choices_of
from app.catalog.rates import convert_rate
from app.catalog.service import list_offers
from app.db import ReadSession
from app.errors import InvalidInput
from app.i18n import BABEL_LOCALE
from app.planning.hosted import HostedOption, find_hosted
from app.planning.inputs import SearchInput
from app.planning.plan_form import request_values
from app.planning.search import Found, Option, search
from app.planning.search_form import carried, read_search_form, usual_search
from app.projects.access import ProjectToRead
from app.projects.models import Project
from app.web.charts import Alternative, ScatterChart, build_scatter_chart
from app.web.forms import Form, form_of_input
from app.web.language import language_of
from app.web.render import render

router = APIRouter()

# The page shows of each offer its best recipe, and what nothing beats.
SHOWN = 25


@dataclass(frozen=True, slots=True)
class OptionRow:
    """An option with the words and the link that its line needs."""

    option: Option
    gpu_name: str
    provider: str
    on_frontier: bool
    plan_query: str
    request: Mapping[str, Any]


@router.get("/projects/{project_id}/plans/search", name="search_page")
def search_page(request: Request, project: ProjectToRead, session: ReadSession, actor: Viewer) -> Response:
    """The form, and what it finds; the address holds the whole search."""
    sent = dict(request.query_params)
    values = sent or usual_search(project)
    context = _result(request, session, actor, project, values)
    return render(
        request,
        "planning/search.html",
        block="search_result",
        status=422 if context["form"].errors else 200,
        nav="projects",
        project=project,
        model_options=[(model.id, model.name) for model in list_models()],
        choices=_choices(session, actor, request),
        carried=carried(values),
        **context,
    )


def _choices(session: Session, actor: Actor, request: Request) -> OfferChoices:
    return choices_of(list_offers(session, actor.team_id), language_of(request))


def _result(
    request: Request, session: Session, actor: Actor, project: Project, values: Mapping[str, str]
) -> dict[str, Any]:
    try:
        wanted = read_search_form(values, actor, project)
        found = search(session, actor, wanted)
        hosted = find_hosted(session, actor, wanted, found.model)
    except InvalidInput as error:
        form = form_of_input(request, values, error)
        return {"form": form, "found": None, "rows": [], "chart": None, "has_costs": False, "hosted": []}
    rows = _rows(found, request)
    return {
        "form": Form(values),
        "found": found,
        "rows": rows,
        "chart": _chart(rows, wanted, project.currency),
        "has_costs": any(row.option.amount is not None for row in rows),
        "hosted": _hosted_rows(hosted or [], actor, request),
        "without_rate": _without_rate(session, actor, project, rows),
    }


def _without_rate(session: Session, actor: Actor, project: Project, rows: Iterable[OptionRow]) -> list[str]:
    """Currencies of the options in which no plan could be saved today: a plan wants a rate that is not old."""
    found = []
    for currency in sorted({row.option.offer.currency for row in rows} - {project.currency}):
        try:
            convert_rate(session, actor.team_id, currency, project.currency, actor.today)
        except InvalidInput:
            found.append(currency)
    return found


def _hosted_rows(
    options: Iterable[HostedOption], actor: Actor, request: Request
) -> list[tuple[HostedOption, HostedRow]]:
    """Each with the words that its line needs."""
    locale = BABEL_LOCALE[language_of(request)]
    return [(option, row_of_hosted(option.hosted, actor.today, locale)) for option in options]


def _rows(found: Found, request: Request) -> list[OptionRow]:
    locale = BABEL_LOCALE[language_of(request)]
    seen: set[int | None] = set()
    shown: list[Option] = []
    for option in sorted(found.options, key=_by_room):
        if option.offer.id not in seen or found.on_frontier(option):
            seen.add(option.offer.id)
            shown.append(option)
    return [_row(option, found, locale) for option in shown[:SHOWN]]


def _by_room(option: Option) -> tuple[bool, ...]:
    """As the search has them, but what has room to spare before what has little: that is where paid hours are lost."""
    return (not option.safely_within, not option.within, not option.fits, option.is_tight)


def _row(option: Option, found: Found, locale: str) -> OptionRow:
    gpu = find_gpu(option.offer.gpu)
    body = option.body().model_dump(mode="json", exclude_none=True)
    return OptionRow(
        option=option,
        gpu_name=option.offer.gpu if gpu is None else gpu.name,
        provider=provider_name(option.offer.provider, locale),
        on_frontier=found.on_frontier(option),
        plan_query=_plan_query(option, body),
        request=body,
    )


def _plan_query(option: Option, body: Mapping[str, Any]) -> str:
    """The plan's form as a link: the offer stands for its GPU and price."""
    fields = {name: value for name, value in body.items() if name not in ("gpu", "price")}
    if option.place.instances == 1:
        fields.pop("gpu_count", None)
    values = request_values(fields) | {"offer_id": option.offer.id}
    return urlencode({name: str(value).lower() if value in (True, False) else value for name, value in values.items()})


def _chart(rows: list[OptionRow], wanted: SearchInput, currency: str) -> ScatterChart | None:
    """Hours across, cost up, of what fits at a price in the project's currency."""
    placed = [row for row in rows if row.option.fits and row.option.offer.currency == currency]
    budget = None if wanted.budget is None else float(wanted.budget)
    return build_scatter_chart([_alternative(row) for row in placed], wanted.deadline_hours, budget)


def _alternative(row: OptionRow) -> Alternative:
    option = row.option
    hours, cost = option.hours or 0.0, float(option.amount or 0)
    return Alternative(f"{row.gpu_name} · {row.provider}", hours, cost, row.on_frontier, option.within)
