"""Signing in and out."""

from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.accounts.attempts import TooManyAttempts, address_of
from app.accounts.authentication import SIGN_IN
from app.accounts.cookies import delete_session_cookie, session_secret, set_session_cookie
from app.accounts.inputs import SignInInput
from app.accounts.local_paths import local_path
from app.accounts.preference_pages import keep_language
from app.accounts.sessions import end_session
from app.accounts.sign_in import Door
from app.db import WriteSession
from app.errors import Forbidden, InvalidInput, TuneledgerError
from app.i18n import LANGUAGES
from app.web.forms import Form, FormValues, errors_by_field, read_form
from app.web.language import language_of
from app.web.render import render

router = APIRouter()

_UTC = ZoneInfo("UTC")
Next = Annotated[str, Query()]


@router.get(SIGN_IN, name="sign_in_page")
def sign_in_page(request: Request, next: Next = "/") -> Response:
    """The form; who is signed in already goes on."""
    if request.state.actor is not None:
        return RedirectResponse(local_path(next), 303)
    return render(request, "accounts/sign_in.html", form=Form(), next=local_path(next))


@router.post(SIGN_IN, name="sign_in")
def sign_in(request: Request, values: FormValues) -> Response:
    """Signs a browser in and leads to the page that was asked for."""
    door: Door = request.app.state.door
    wanted = local_path(values.get("next"))
    try:
        data = read_form(SignInInput, values, _UTC)
        secret, user = door.sign_in(data.name, data.password, address_of(request), session_secret(request))
    except (InvalidInput, TooManyAttempts, Forbidden) as error:
        return _refused(request, values, error, wanted)
    response = RedirectResponse(wanted, 303)
    set_session_cookie(request, response, secret, door.session_days)
    for language in LANGUAGES:
        if user.language == language:
            keep_language(request, response, language)
    return response


@router.post("/sign-out", name="sign_out")
def sign_out(request: Request, session: WriteSession) -> Response:
    """Ends the browser's session."""
    secret = session_secret(request)
    if secret is not None:
        end_session(session, secret)
    response = RedirectResponse(SIGN_IN, 303)
    delete_session_cookie(response)
    return response


def _refused(request: Request, values: dict[str, str], error: TuneledgerError, wanted: str) -> Response:
    form = Form(values, errors_of(request, error))
    headers = error.headers if isinstance(error, TooManyAttempts) else None
    return render(
        request, "accounts/sign_in.html", status=error.status, headers=headers, form=form, next=wanted
    )


def errors_of(request: Request, error: TuneledgerError) -> dict[str, str]:
    """A refusal as a form shows it: at its fields, or over the whole form."""
    language = language_of(request)
    if isinstance(error, InvalidInput):
        return errors_by_field(error.errors, language)
    return errors_by_field(InvalidInput.at("", error.message).errors, language)
