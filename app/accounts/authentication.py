"""Finds out who sends a request, before its body is read or its route is chosen."""

from http import HTTPStatus

from sqlalchemy import or_
from sqlmodel import Session, col, select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.access import Actor
from app.accounts.credentials import digest
from app.accounts.models import ApiToken, BrowserSession, Membership, Team, User
from app.api.problems import problem_response
from app.errors import Unauthenticated
from app.time import Clock

SESSION_COOKIES = ("__Host-tuneledger", "tuneledger")
API_PREFIX = "/api/"
# Readable by anybody, before set-up too.
_OPEN_API_PATHS = frozenset({"/api/v1/openapi.json", "/api/v1/docs"})
_OPEN_PATHS = frozenset({"/healthz", "/readyz", "/metrics", "/setup", "/sign-in", "/favicon.ico"})
_OPEN_PREFIXES = ("/static/", "/preferences/")


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
        request = Request(scope)
        actor = await run_in_threadpool(_actor_of, request) if _may_have_actor(request) else None
        scope["state"]["actor"] = actor
        scope["state"]["principal"] = "" if actor is None else actor.principal
        refusal = None if actor is not None or _is_open(request.url.path) else _refuse(request)
        await (refusal or self.app)(scope, receive, send)


def _may_have_actor(request: Request) -> bool:
    return not request.url.path.startswith("/static/") and request.url.path != "/healthz"


def _is_open(path: str) -> bool:
    return path in _OPEN_PATHS or path in _OPEN_API_PATHS or path.startswith(_OPEN_PREFIXES)


def _refuse(request: Request) -> Response:
    if request.url.path.startswith(API_PREFIX):
        return problem_response(request, Unauthenticated())
    if request.headers.get("hx-request") == "true":
        # htmx follows a redirect inside a fragment; this one makes the whole page go to the sign-in.
        return Response(status_code=HTTPStatus.UNAUTHORIZED, headers={"HX-Redirect": "/sign-in"})
    return RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER)


def _actor_of(request: Request) -> Actor | None:
    clock: Clock = request.app.state.clock
    with request.app.state.database.read() as session:
        bearer = bearer_token(request)
        if bearer is not None:
            return find_token_actor(session, bearer, clock)
        cookie = next((request.cookies[name] for name in SESSION_COOKIES if name in request.cookies), None)
        return None if cookie is None else find_session_actor(session, cookie, clock)


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
