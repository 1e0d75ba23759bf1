"""A sentence shown once on the next page, after a form was accepted."""

import base64
import json

from fastapi import Request, Response

from app.i18n import Message, translate
from app.web.language import language_of

COOKIE = "tuneledger_flash"


def flash(request: Request, response: Response, level: str, message: Message) -> None:
    """``level`` is success, info, warning or error. The text stands in a cookie until the next page shows it."""
    text = json.dumps([level, translate(message, language_of(request))])
    value = base64.urlsafe_b64encode(text.encode()).decode()
    response.set_cookie(COOKIE, value, max_age=60, httponly=True, samesite="lax", path="/")


def take_flashes(request: Request, response: Response | None) -> list[tuple[str, str]]:
    """What the request carries; with a response, it will not be shown again."""
    value = request.cookies.get(COOKIE)
    if value is None:
        return []
    if response is not None:
        response.delete_cookie(COOKIE, path="/")
    try:
        level, text = json.loads(base64.urlsafe_b64decode(value))
    except (ValueError, TypeError):
        return []
    known = level in ("success", "info", "warning", "error") and isinstance(text, str)
    return [(level, text)] if known else []
