"""Cross-site requests are refused by what the browser says of them; there are no tokens in forms.

Every browser in use sends Sec-Fetch-Site; older ones send Origin with a changing request. A script that sends a bearer
token is not a browser that was led astray. What sends none of these headers is no browser either.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.problems import problem_json
from app.i18n import Message
from app.web.language import language_of

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_SAME_SITES = frozenset({"same-origin", "same-site", "none"})


class CrossSiteGuard:
    """Answers 403 to a changing request from another site, before anything else looks at it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "http" and is_cross_site(scope["method"], Headers(scope=scope)):
            scope.setdefault("state", {})
            message = Message("This request came from another site.")
            response = problem_json(language_of(Request(scope)), 403, message, "cross-site")
            await response(scope, receive, send)
            return
        await self.app(scope, receive, send)


def is_cross_site(method: str, headers: Headers) -> bool:
    """Whether another site's page made a browser send this changing request."""
    if method in _SAFE_METHODS or headers.get("authorization", "").lower().startswith("bearer "):
        return False
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in _SAME_SITES
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")
