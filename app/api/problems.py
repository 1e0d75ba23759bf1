"""Errors as RFC 9457 problem documents."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from app.errors import FieldError, InvalidInput, TuneledgerError
from app.i18n import Language, Message, translate
from app.web.language import language_of

MEDIA_TYPE = "application/problem+json"


class FieldProblem(BaseModel):
    """One wrong field."""

    field: str
    message: str


class Problem(BaseModel):
    """A problem document."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldProblem] | None = None


PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {}}}
    for status in (400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 428, 429)
}


def problem_response(request: Request, error: TuneledgerError) -> JSONResponse:
    """The problem document of a service's error, in the caller's language."""
    errors = error.errors if isinstance(error, InvalidInput) else ()
    return problem_json(language_of(request), error.status, error.message, error.type, errors)


def problem_json(
    language: Language,
    status: int,
    detail: Message,
    type: str = "about:blank",
    errors: Sequence[FieldError] = (),
) -> JSONResponse:
    """A problem document; ``title`` is the status in words."""
    document: dict[str, Any] = {
        "type": type,
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": translate(detail, language),
    }
    if errors:
        document["errors"] = [
            {"field": error.field, "message": translate(error.message, language)} for error in errors
        ]
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return JSONResponse(document, status, media_type=MEDIA_TYPE, headers=headers)
