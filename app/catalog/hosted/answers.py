"""How hosted prices stand in JSON answers."""

from datetime import date

from pydantic import Field

from app.api.answers import Answer, MoneyAnswer
from app.catalog.freshness import is_stale
from app.catalog.hosted.packaged import Hosted, HostedMethod
from app.i18n import BABEL_LOCALE, Language


class HostedAnswer(Answer):
    """What a provider that trains for others takes for a million tokens."""

    id: int | None = Field(description="Of the team's own; null where the price is packaged.")
    own: bool = Field(description="The team's own price, which it may change.")
    provider: str = Field(examples=["together"])
    service: str
    model: str | None = Field(description="One model of the catalogue.")
    smallest_parameters: int | None = Field(description="The edges of a class of models, both included.")
    largest_parameters: int | None
    method: HostedMethod | None = Field(description="Null: the price is that of either.")
    price_per_million_tokens: MoneyAnswer
    minimum_charge: MoneyAnswer | None
    as_of: date | None
    source: str | None
    note: str
    stale: bool = Field(description="The price is undated or older than 30 days.")

    @classmethod
    def of(cls, hosted: Hosted, today: date, language: Language) -> "HostedAnswer":
        """The price as it is seen on ``today``."""
        minimum = hosted.minimum_charge
        return cls(
            id=hosted.id,
            own=hosted.is_own,
            provider=hosted.provider,
            service=hosted.service[BABEL_LOCALE[language]],
            model=hosted.model,
            smallest_parameters=hosted.smallest_parameters,
            largest_parameters=hosted.largest_parameters,
            method=hosted.method,
            price_per_million_tokens=MoneyAnswer.of_price(hosted.price_per_million_tokens, hosted.currency),
            minimum_charge=None if minimum is None else MoneyAnswer.of_price(minimum, hosted.currency),
            as_of=hosted.as_of,
            source=hosted.source or None,
            note=hosted.note[BABEL_LOCALE[language]],
            stale=is_stale(hosted.as_of, today),
        )
