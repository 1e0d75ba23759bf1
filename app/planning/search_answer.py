"""What a search found, as API.md lays it out: each option is an estimate's answer with its offer and request.

Beside them stands hosted fine-tuning by the token, null where the job does not count tokens.
"""

from typing import Any

from app.accounts.access import Actor
from app.api.answers import MoneyAnswer
from app.catalog.answers import OfferAnswer
from app.catalog.hosted.answers import HostedAnswer
from app.i18n import Language
from app.planning.estimates import answer_for
from app.planning.hosted import HostedOption
from app.planning.search import Found, Option


def search_answer(
    found: Found, hosted: list[HostedOption] | None, actor: Actor, language: Language
) -> dict[str, Any]:
    """Plain values."""
    return {
        "options": [_option(option, found, actor, language) for option in found.options],
        "considered": found.considered,
        "hosted": None if hosted is None else [_hosted(option, actor, language) for option in hosted],
    }


def _option(option: Option, found: Found, actor: Actor, language: Language) -> dict[str, Any]:
    body = option.body()
    answer = answer_for(body, language, details=False, read=found.model)
    return answer | {
        "offer": OfferAnswer.of(option.offer, actor.today),
        "request": body.model_dump(mode="json", exclude_none=True),
        "on_frontier": found.on_frontier(option),
    }


def _hosted(option: HostedOption, actor: Actor, language: Language) -> dict[str, Any]:
    return {
        "hosted": HostedAnswer.of(option.hosted, actor.today, language),
        "tokens": option.tokens,
        "cost": MoneyAnswer.of(option.amount, option.hosted.currency),
        "within_budget": option.within_budget,
    }
