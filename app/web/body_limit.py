"""Refuses bodies that are too large, before any of them is parsed."""

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import problem_json
from app.i18n import Message as Sentence
from app.web.language import language_of


class BodyLimit:
    """Answers 413 to a body over ``largest_bytes``; smaller ones are read once and handed on whole."""

    def __init__(self, app: ASGIApp, largest_bytes: int) -> None:
        self.app = app
        self.largest_bytes = largest_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self.app(scope, receive, send)
            return
        body = None if self._declares_too_much(scope) else await self._read(receive)
        if body is None:
            await self._refuse(scope, receive, send)
            return
        await self.app(scope, _replay(body, receive), send)

    def _declares_too_much(self, scope: Scope) -> bool:
        length = Headers(scope=scope).get("content-length", "")
        return length.isdecimal() and int(length) > self.largest_bytes

    async def _read(self, receive: Receive) -> bytes | None:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b"".join(parts)
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.largest_bytes:
                return None
            if not message.get("more_body", False):
                return b"".join(parts)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})
        message = Sentence("The body is larger than %(largest)s bytes.", largest=self.largest_bytes)
        response = problem_json(language_of(Request(scope)), 413, message, "body-too-large")
        await response(scope, receive, send)


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
