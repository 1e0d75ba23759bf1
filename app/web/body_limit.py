"""Refuses bodies that are too large, before any of them is parsed."""

import re
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import problem_json
from app.i18n import Message as Sentence
from app.web.language import language_of


class BodyLimit:
    """Answers 413 to a body over ``largest_bytes``; smaller ones are read once and handed on whole.

    Paths that end like ``uploads`` take files of up to ``largest_upload_bytes``, which are handed on as they come.
    """

    def __init__(self, app: ASGIApp, largest_bytes: int, largest_upload_bytes: int, uploads: re.Pattern[str]) -> None:
        self.app = app
        self.largest_bytes = largest_bytes
        self.largest_upload_bytes = largest_upload_bytes
        self.uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self.app(scope, receive, send)
            return
        if self.uploads.search(scope["path"]):
            await self._hand_on(scope, receive, send)
            return
        body = None if _declared_bytes(scope) > self.largest_bytes else await self._read(receive)
        if body is None:
            await self._refuse(scope, receive, send, self.largest_bytes)
            return
        await self.app(scope, _replay(body, receive), send)

    async def _hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        largest, size = self.largest_upload_bytes, 0
        if _declared_bytes(scope) > largest:
            await self._refuse(scope, receive, send, largest)
            return

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > largest:
                raise _TooLargeError
            return message

        async def unless_too_large(message: Message) -> None:
            # What the application makes of a body that was cut off is nobody's answer.
            if size <= largest:
                await send(message)

        with suppress(_TooLargeError):
            await self.app(scope, counted, unless_too_large)
        if size > largest:
            await self._refuse(scope, receive, send, largest)

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

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, largest: int) -> None:
        scope.setdefault("state", {})
        message = Sentence("The body is larger than %(largest)s bytes.", largest=largest)
        response = problem_json(language_of(Request(scope)), 413, message, "body-too-large")
        await response(scope, receive, send)


class _TooLargeError(Exception):
    """A body without a declared length went on beyond the limit."""


def _declared_bytes(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isdecimal() else 0


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
