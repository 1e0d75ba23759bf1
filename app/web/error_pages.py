"""Errors become a problem document for the API, a page for people, a fragment for htmx."""

from http import HTTPStatus
from typing import cast

import structlog
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app.api.problems import problem_json, problem_response
from app.errors import InvalidInput, NotFound, TuneledgerError
from app.fields import field_errors
from app.i18n import Message, translate
from app.web.language import language_of
from app.web.render import render, wants_fragment

log = structlog.get_logger()

_WORDS: dict[int, Message] = {
    400: Message("The request could not be read."),
    401: Message("Sign in or send a valid bearer token."),
    403: Message("Your role does not allow this."),
    404: Message("There is nothing here."),
    405: Message("This address does not take this method."),
    413: Message("What you sent is too large."),
    415: Message("This kind of content is not read here."),
}


def is_api(request: Request) -> bool:
    """Whether a script is to be answered."""
    return request.url.path.startswith("/api/")


def answer_error(request: Request, error: Exception) -> Response:
    """A service's error."""
    known = cast("TuneledgerError", error)
    if is_api(request):
        return problem_response(request, known)
    return _page(request, known.status, known.message)


def answer_invalid_request(request: Request, error: Exception) -> Response:
    """FastAPI's own validation error."""
    invalid = cast("RequestValidationError", error)
    if any(part["loc"][0] == "path" for part in invalid.errors()):
        return answer_error(request, NotFound())
    return answer_error(request, InvalidInput(*field_errors(invalid.errors())))


def answer_http_error(request: Request, error: Exception) -> Response:
    """What the framework itself refuses: no route, wrong method."""
    refused = cast("HTTPException", error)
    message = _WORDS.get(refused.status_code, _WORDS[400])
    if is_api(request):
        response: Response = problem_json(language_of(request), refused.status_code, message)
    else:
        response = _page(request, refused.status_code, message)
    response.headers.update(refused.headers or {})
    return response


def answer_unexpected(request: Request, error: Exception) -> Response:
    """A fault of ours: logged with its trace, told without detail."""
    log.error("unexpected error", path=request.url.path, exc_info=error)
    message = Message("Something went wrong on our side. It is in the log.")
    if is_api(request):
        return problem_json(language_of(request), 500, message)
    return _page(request, 500, message)


def _page(request: Request, status: int, message: Message) -> Response:
    is_fragment = wants_fragment(request)
    return render(
        request,
        "errors/error_fragment.html" if is_fragment else "errors/error.html",
        status=status,
        # htmx says it above the page, which stays as it is.
        headers={"HX-Retarget": "#flashes", "HX-Reswap": "innerHTML"} if is_fragment else None,
        error_status=status,
        error_title=HTTPStatus(status).phrase,
        error_message=translate(message, language_of(request)),
    )
