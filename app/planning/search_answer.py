"""What a search found, as API.md lays it out: each option is an estimate's answer with its offer and request."""

from typing import Any

from app.accounts.access import Actor
from app.catalog.answers import OfferAnswer
from app.i18n import Language
from app.planning.estimates import answer_for
from app.planning.search import Found, Option


def search_answer(found: Found, actor: Actor, language: Language) -> dict[str, Any]:
    """Plain values."""
    return {
        "options": [_option(option, found, actor, language) for option in found.options],
        "considered": found.considered,
    }


def _option(option: Option, found: Found, actor: Actor, language: Language) -> dict[str, Any]:
    body = option.body()
    answer = answer_for(body, language, details=False, read=found.model)
    return answer | {
        "offer": OfferAnswer.of(option.offer, actor.today),
        "request": body.model_dump(mode="json", exclude_none=True),
        "on_frontier": found.on_frontier(option),
    }
