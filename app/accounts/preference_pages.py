"""A reader's own language and theme: cookies, so that they hold before and after signing in."""

from typing import Literal
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.routing import Match

from app.accounts.access import Actor
from app.accounts.cookies import is_https
from app.accounts.local_paths import path_of_referer
from app.accounts.users import get_user
from app.db import WriteSession
from app.fields import Input
from app.i18n import Language
from app.web.forms import FormValues, read_form
from app.web.language import COOKIE as LANGUAGE_COOKIE
from app.web.render import THEME_COOKIE

router = APIRouter(prefix="/preferences")

_UTC = ZoneInfo("UTC")
_YEAR_SECONDS = 31_536_000


class LanguageInput(Input):
    """The language that pages are shown in."""

    language: Language


class ThemeInput(Input):
    """Light, dark, or as the system has it."""

    theme: Literal["auto", "light", "dark"]


@router.post("/language", name="set_language")
def set_language(request: Request, values: FormValues, session: WriteSession) -> Response:
    """Keeps the language, with the user too where one is signed in, and goes back to the page."""
    language = read_form(LanguageInput, values, _UTC).language
    actor: Actor | None = request.state.actor
    if actor is not None and actor.user_id is not None:
        get_user(session, actor.user_id, lock=True).language = language
    response = _back(request)
    keep_language(request, response, language)
    return response


@router.post("/theme", name="set_theme")
def set_theme(request: Request, values: FormValues) -> Response:
    """Keeps the theme and goes back to the page."""
    response = _back(request)
    _keep(request, response, THEME_COOKIE, read_form(ThemeInput, values, _UTC).theme)
    return response


def keep_language(request: Request, response: Response, language: Language) -> None:
    """The browser shows this language from now on."""
    _keep(request, response, LANGUAGE_COOKIE, language)


def _keep(request: Request, response: Response, name: str, value: str) -> None:
    response.set_cookie(
        name, value, _YEAR_SECONDS, path="/", secure=is_https(request), httponly=True, samesite="lax"
    )


def _back(request: Request) -> RedirectResponse:
    path = path_of_referer(request.headers.get("referer"), request.headers.get("host"))
    # A form that was refused stands at an address which only takes forms.
    return RedirectResponse(path if _is_page(request, path) else "/", 303)


def _is_page(request: Request, path: str) -> bool:
    scope = {**request.scope, "method": "GET", "path": path.partition("?")[0]}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)
