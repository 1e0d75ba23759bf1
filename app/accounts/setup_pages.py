"""The page behind the set-up link."""

from collections.abc import Mapping
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Request, Response
from sqlmodel import Session

from app.accounts.cookies import set_session_cookie
from app.accounts.inputs import SetupInput
from app.accounts.passwords import SHORTEST
from app.accounts.preference_pages import keep_language
from app.accounts.sessions import start_session
from app.accounts.setup import SetUpAlready, WrongSetupLink, check_setup_token, complete_setup
from app.accounts.sign_in import Door
from app.accounts.teams import list_teams
from app.accounts.zones import DEFAULT_ZONE, zones_by_region
from app.errors import InvalidInput
from app.money import CURRENCIES
from app.web.forms import Form, FormValues, form_of_input, read_form
from app.web.language import language_of
from app.web.render import render, see_other

router = APIRouter()

_UTC = ZoneInfo("UTC")
Token = Annotated[str, Query()]


@router.get("/setup", name="setup_page")
def setup_page(request: Request, token: Token = "") -> Response:
    """The form for the first owner and team; 403 for a link that does not work, 404 once there is a user."""
    try:
        with request.app.state.database.read() as session:
            check_setup_token(session, token)
            values = _first_values(request, session)
    except (SetUpAlready, WrongSetupLink) as error:
        return _closed(request, error)
    return _form_page(request, Form(values), token)


@router.post("/setup", name="set_up")
def set_up(request: Request, values: FormValues, token: Token = "") -> Response:
    """Makes the first owner and team, and signs the browser in; the link is used up."""
    token = values.get("token") or token
    try:
        with request.app.state.database.read() as session:
            check_setup_token(session, token)
        data = read_form(SetupInput, values, _UTC)
        secret = _complete(request, token, data)
    except (SetUpAlready, WrongSetupLink) as error:
        return _closed(request, error)
    except InvalidInput as error:
        return _form_page(request, form_of_input(request, values, error), token, status=422)
    response = see_other(request, "dashboard")
    set_session_cookie(request, response, secret, request.app.state.settings.session_days)
    keep_language(request, response, data.language)
    return response


def _complete(request: Request, token: str, data: SetupInput) -> str:
    """The secret of the first session."""
    state = request.app.state
    door: Door = state.door
    # Before the transaction: nobody waits for the database while a hash is computed.
    password_hash = door.passwords.hash(data.password)
    with door.database.write() as session:
        user, team = complete_setup(session, token, data, password_hash, door.clock, state.load_sample)
        return start_session(session, user, team, door.clock(), door.session_days)


def _first_values(request: Request, session: Session) -> dict[str, str]:
    """What the form proposes: the only team there is, made for a token, or a new one."""
    teams = list_teams(session)
    if len(teams) == 1:
        team = teams[0]
        return {
            "team_name": team.name,
            "currency": team.currency,
            "time_zone": team.time_zone,
            "language": team.language,
        }
    language = language_of(request)
    return {"currency": "CNY", "time_zone": DEFAULT_ZONE, "language": language, "fill_zone": "yes"}


def _form_page(request: Request, form: Form, token: str, status: int = 200) -> Response:
    return render(
        request,
        "accounts/setup.html",
        status=status,
        form=form,
        token=token,
        currencies=currency_options(),
        zones=zone_options(),
        shortest_password=SHORTEST,
    )


def _closed(request: Request, error: SetUpAlready | WrongSetupLink) -> Response:
    is_done = isinstance(error, SetUpAlready)
    return render(request, "accounts/setup_closed.html", status=error.status, is_done=is_done)


def zone_options() -> list[tuple[str, list[tuple[str, str]]]]:
    """The time zones as a list to choose from, grouped by region."""
    regions: Mapping[str, tuple[str, ...]] = zones_by_region()
    return [(region, [(name, name.replace("_", " ")) for name in names]) for region, names in regions.items()]


def currency_options() -> list[tuple[str, str]]:
    """The currencies as a list to choose from."""
    return [(code, code) for code in sorted(CURRENCIES)]
