"""A user's own password."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from app.accounts.access import Actor, Viewer
from app.accounts.attempts import TooManyAttempts, address_of
from app.accounts.cookies import set_session_cookie
from app.accounts.inputs import PasswordChange
from app.accounts.passwords import SHORTEST
from app.accounts.sign_in import Door
from app.accounts.sign_in_pages import errors_of
from app.errors import InvalidInput, NotFound
from app.i18n import Message
from app.web.flash import flash
from app.web.forms import Form, FormValues, read_form
from app.web.render import render, see_other

router = APIRouter()


def _person(actor: Viewer) -> Actor:
    """A token has no password."""
    if actor.user_id is None:
        raise NotFound
    return actor


Person = Annotated[Actor, Depends(_person)]


@router.get("/account/password", name="own_password_page")
def own_password_page(request: Request, _actor: Person) -> Response:
    """The form for a new password."""
    return _page(request, Form())


@router.post("/account/password", name="change_own_password")
def change_own_password(request: Request, actor: Person, values: FormValues) -> Response:
    """Changes the password; every other browser of the user is signed out."""
    door: Door = request.app.state.door
    try:
        data = read_form(PasswordChange, values, actor.zone)
        secret = door.change_password(actor, data, address_of(request))
    except InvalidInput as error:
        return _page(request, Form({}, errors_of(request, error)), 422)
    except TooManyAttempts as error:
        return _page(request, Form({}, errors_of(request, error)), error.status, error.headers)
    response = see_other(request, "own_password_page")
    set_session_cookie(request, response, secret, door.session_days)
    flash(request, response, "success", Message("The password was changed. Your other browsers are signed out."))
    return response


def _page(request: Request, form: Form, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return render(
        request,
        "accounts/own_password.html",
        status=status,
        headers=headers,
        form=form,
        shortest_password=SHORTEST,
    )
