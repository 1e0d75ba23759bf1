"""The route class of the JSON API: the order of checks that API.md fixes, and idempotency of every POST."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from json import JSONDecodeError
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from sqlmodel import Session
from starlette.concurrency import run_in_threadpool

from app.api.idempotency import AnsweredMeanwhile, IdempotentRequest, read_idempotent_request
from app.api.problems import PROBLEM_RESPONSES
from app.db import Database
from app.errors import InvalidInput, NotFound
from app.i18n import Message

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


# Stands for a body that is no JSON. A text fits no model, while an object of ours would be read by its attributes.
_UNREADABLE = ""


class _PatientRequest(Request):
    """A request whose malformed JSON does not hide that the path does not exist or the role may not."""

    is_unreadable = False

    async def json(self) -> Any:
        try:
            return await super().json()
        except (JSONDecodeError, UnicodeDecodeError, RecursionError):
            self.is_unreadable = True
            return _UNREADABLE


class ApiRoute(APIRoute):
    """See the module."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def patiently(request: Request) -> Response:
            patient = _PatientRequest(request.scope, request.receive)
            try:
                return await _once(handle, patient)
            except RequestValidationError as error:
                if any(part["loc"][0] == "path" for part in error.errors()):
                    raise NotFound from error
                if patient.is_unreadable:
                    raise InvalidInput.at("body", Message("The body is not valid JSON.")) from error
                raise

        return patiently


async def _once(handle: Handler, request: Request) -> Response:
    repeated = await read_idempotent_request(request, request.state.principal) if _has_key(request) else None
    if repeated is None:
        return await handle(request)
    # Before the work for a plain repetition, after it for the checks that come first (404, 403, 422).
    first = await run_in_threadpool(_find_quietly, request.app.state.database, repeated)
    if first is not None:
        return first
    response = await handle(request)
    # Inside the request's own transaction: a twin that was faster makes this raise, and all is rolled back.
    await run_in_threadpool(_keep, request, repeated, response)
    return response


def _has_key(request: Request) -> bool:
    return request.method == "POST" and "idempotency-key" in request.headers


def _find_quietly(database: Database, repeated: IdempotentRequest) -> Response | None:
    with database.read() as session:
        return repeated.find_same_answer(session)


def _keep(request: Request, repeated: IdempotentRequest, response: Response) -> None:
    session: Session | None = getattr(request.state, "write_session", None)
    if session is not None:
        _check_and_keep(session, request, repeated, response)
        return
    # A stateless POST: there is no work that the answer must be stored together with.
    database: Database = request.app.state.database
    with suppress(AnsweredMeanwhile), database.write() as own:
        _check_and_keep(own, request, repeated, response)


def _check_and_keep(
    session: Session, request: Request, repeated: IdempotentRequest, response: Response
) -> None:
    repeated.check_unused(session)
    repeated.keep_answer(session, response, request.app.state.clock())


async def answer_meanwhile(request: Request, error: Exception) -> Response:
    """The handler of AnsweredMeanwhile: the twin's answer is given."""
    if not isinstance(error, AnsweredMeanwhile):
        raise error
    first = await run_in_threadpool(_find_quietly, request.app.state.database, error.repeated)
    if first is None:
        raise error
    return first


def api_router(*tags: str) -> APIRouter:
    """A router for one feature's part of the JSON API."""
    return APIRouter(route_class=ApiRoute, responses=PROBLEM_RESPONSES, tags=list(tags))
