"""Finds out who sends a request, before its body is read or its route is chosen.

Until there is a user, no page answers but set-up; scripts with a bearer token are answered from the start.
"""

from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

from sqlalchemy import or_
from sqlmodel import Session, col, select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.access import Actor
from app.accounts.attempts import TooManyAttempts, address_of
from app.accounts.cookies import session_secret
from app.accounts.credentials import digest
from app.accounts.local_paths import is_local
from app.accounts.models import ApiToken, BrowserSession, Membership, Team, User
from app.accounts.users import any_user_exists
from app.api.problems import problem_response
from app.errors import Unauthenticated
from app.time import Clock
from app.web.error_pages import answer_error
from app.web.render import render

API_PREFIX = "/api/"
SIGN_IN = "/sign-in"
# For anybody, before set-up too. Whether the database answers is what /readyz tells, so it is not asked before.
_OPEN_PATHS = frozenset(
    {"/healthz", "/readyz", "/metrics", "/setup", "/favicon.ico", "/api/v1/openapi.json", "/api/v1/docs"}
)
_STATIC = "/static/"
# For anybody too, but kept with the user where one is signed in.
_PREFERENCES = "/preferences/"


@dataclass(frozen=True, slots=True)
class Visitor:
    """What the database knows about who sends a request; scripts need not wait for set-up."""

    actor: Actor | None
    sent_token: bool
    is_set_up: bool


class Authentication:
    """Puts ``request.state.actor``; without one the API answers 401 and pages send to the sign-in."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {})
        scope["state"]["actor"] = None
        scope["state"]["principal"] = ""
        request = Request(scope)
        refusal = None if _is_open(request.url.path) else await run_in_threadpool(_admit, request)
        await (refusal or self.app)(scope, receive, send)


def _is_open(path: str) -> bool:
    return path in _OPEN_PATHS or path.startswith(_STATIC)


def _admit(request: Request) -> Response | None:
    """Notes the actor on the request; the answer instead, where the request goes no further."""
    visitor = _look_up(request)
    if visitor.actor is not None:
        request.state.actor = visitor.actor
        request.state.principal = visitor.actor.principal
    path, is_page = request.url.path, _is_page(request)
    if path.startswith(_PREFERENCES):
        return None
    if not visitor.is_set_up:
        return render(request, "accounts/not_set_up.html", status=HTTPStatus.SERVICE_UNAVAILABLE)
    if visitor.actor is not None:
        return None
    if visitor.sent_token:
        return _refuse_token(request)
    if is_page:
        return None if path == SIGN_IN else _send_to_sign_in(request)
    return problem_response(request, Unauthenticated())


def _refuse_token(request: Request) -> Response:
    """Wrong tokens are counted, right ones never are."""
    try:
        request.app.state.door.attempts.count("token", address_of(request))
    except TooManyAttempts as error:
        response = answer_error(request, error)
        response.headers.update(error.headers)
        return response
    return answer_error(request, Unauthenticated())


def _send_to_sign_in(request: Request) -> Response:
    if request.headers.get("hx-request") == "true":
        # htmx follows a redirect inside a fragment; this one makes the whole page go to the sign-in.
        current = urlsplit(request.headers.get("hx-current-url", ""))
        back = sign_in_path(current.path, current.query)
        return Response(status_code=HTTPStatus.UNAUTHORIZED, headers={"HX-Redirect": back})
    if request.method not in ("GET", "HEAD"):
        return RedirectResponse(SIGN_IN, HTTPStatus.SEE_OTHER)
    return RedirectResponse(sign_in_path(request.url.path, request.url.query), HTTPStatus.SEE_OTHER)


def sign_in_path(path: str, query: str = "") -> str:
    """Where to sign in, to come back to a page afterwards."""
    wanted = f"{path}?{query}" if query else path
    return f"{SIGN_IN}?{urlencode({'next': wanted})}" if is_local(wanted) and wanted != "/" else SIGN_IN


def _look_up(request: Request) -> Visitor:
    clock: Clock = request.app.state.clock
    bearer, secret = bearer_token(request), session_secret(request)
    with request.app.state.database.read() as session:
        actor = None
        if bearer is not None:
            actor = find_token_actor(session, bearer, clock)
        elif secret is not None:
            actor = find_session_actor(session, secret, clock)
        is_set_up = not _is_page(request) or _is_set_up(request, session)
        return Visitor(actor, bearer is not None, is_set_up)


def _is_page(request: Request) -> bool:
    return not request.url.path.startswith(API_PREFIX)


def _is_set_up(request: Request, session: Session) -> bool:
    state = request.app.state
    # Users are never deleted, so once true it stays true.
    if not state.is_set_up:
        state.is_set_up = any_user_exists(session)
    return bool(state.is_set_up)


def bearer_token(request: Request) -> str | None:
    """The token of the Authorization header."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def find_token_actor(session: Session, token: str, clock: Clock) -> Actor | None:
    """The actor of a bearer token that is neither revoked nor expired."""
    statement = (
        select(ApiToken, Team)
        .join(Team, col(Team.id) == col(ApiToken.team_id))
        .where(
            col(ApiToken.token_sha256) == digest(token),
            col(ApiToken.revoked_at).is_(None),
            or_(col(ApiToken.expires_at).is_(None), col(ApiToken.expires_at) > clock()),
        )
    )
    found = session.exec(statement).first()
    if found is None:
        return None
    stored, team = found
    return Actor(team, stored.role, stored.name, clock, token_id=stored.id)  # type: ignore[arg-type]


def find_session_actor(session: Session, secret: str, clock: Clock) -> Actor | None:
    """The actor of a signed-in browser whose session has not expired."""
    statement = (
        select(Team, User, Membership)
        .join(BrowserSession, col(BrowserSession.team_id) == col(Team.id))
        .join(User, col(User.id) == col(BrowserSession.user_id))
        .join(
            Membership,
            (col(Membership.user_id) == col(User.id)) & (col(Membership.team_id) == col(Team.id)),
        )
        .where(col(BrowserSession.token_sha256) == digest(secret), col(BrowserSession.expires_at) > clock())
    )
    found = session.exec(statement).first()
    if found is None:
        return None
    team, user, membership = found
    return Actor(team, membership.role, user.name, clock, user_id=user.id)  # type: ignore[arg-type]
