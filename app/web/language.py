"""Which language a request is answered in."""

from fastapi import Request

from app.i18n import LANGUAGES, Language, best_language

COOKIE = "tuneledger_language"


def language_of(request: Request) -> Language:
    """The reader's own choice, else what the browser or script asks for, else the team's language."""
    chosen = request.cookies.get(COOKIE)
    for language in LANGUAGES:
        if chosen == language:
            return language
    asked = best_language(request.headers.get("accept-language"))
    actor = getattr(request.state, "actor", None)
    return asked or (actor.language if actor is not None else "en")
