"""Prices of hosted fine-tuning by the token, as they are packaged with their sources; pure.

Only what a provider's page states itself, or a quotation of it. A price of a class of models has the edges of the
class as numbers of parameters; that of a single model which the catalogue does not know, the exact number of its own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from app.catalog.packaged import read_packaged
from app.catalog.packaged_offers import provider_names

_NAMED_SIZE = re.compile(r"(?<![\dx.])(\d{1,4}(?:\.\d{1,3})?)b(?![a-z])")

HostedMethod = Literal["full", "lora"]
# A text by locale: ``en``, ``zh_CN``.
Words = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Hosted:
    """What a provider takes for training a million tokens.

    ``model``: one of the catalogue's, by id; the parameters: the edges of a class, both included. None on all three:
    any model. ``method``: None for either. ``id`` and ``version``: of a team's own, None and 0 of a packaged price.
    """

    id: int | None
    provider: str
    service: Words
    model: str | None
    smallest_parameters: int | None
    largest_parameters: int | None
    method: HostedMethod | None
    price_per_million_tokens: Decimal
    currency: str
    minimum_charge: Decimal | None
    as_of: date | None
    source: str
    note: Words
    version: int = 0

    @property
    def is_own(self) -> bool:
        """Whether the team may change it."""
        return self.id is not None

    @property
    def names_a_size(self) -> bool:
        """Whether an edge of a class is stated."""
        return self.smallest_parameters is not None or self.largest_parameters is not None

    def takes_model(self, model_id: str | None, parameters: int) -> bool:
        """Whether the price is one of that model: by its id, or by its number of parameters."""
        if self.model is not None and self.model == model_id:
            return True
        if not self.names_a_size:
            return self.model is None
        # A class goes by the names of models; a price of one model has the exact number at both edges.
        is_class = self.smallest_parameters != self.largest_parameters
        size = _named_parameters(model_id, parameters) if is_class else parameters
        return (self.smallest_parameters or 0) <= size and (
            self.largest_parameters is None or size <= self.largest_parameters
        )


def _named_parameters(model_id: str | None, parameters: int) -> int:
    """The size in the model's name where it is about its own: a model of "70b" has 68.98 billion parameters."""
    sizes = _NAMED_SIZE.findall(model_id or "")
    named = round(float(sizes[-1]) * 1e9) if sizes else parameters
    return named if abs(named - parameters) <= parameters / 10 else parameters


@cache
def list_packaged_hosted() -> tuple[Hosted, ...]:
    """All packaged prices, by provider."""
    content = read_packaged("hosted")
    return tuple(_hosted(row, content["sources"]) for row in content["prices"])


@cache
def hosted_provider_names() -> Mapping[str, Words]:
    """What a provider is called, by its id and then by locale; those of instances too."""
    return MappingProxyType(dict(provider_names()) | read_packaged("hosted")["providers"])


def _hosted(row: Mapping[str, Any], sources: Mapping[str, str]) -> Hosted:
    as_of = row["as_of"]
    return Hosted(
        id=None,
        provider=row["provider"],
        service=row["service"],
        model=row["model"],
        smallest_parameters=row["smallest_parameters"],
        largest_parameters=row["largest_parameters"],
        method=row["method"],
        price_per_million_tokens=Decimal(row["price_per_million_tokens"]),
        currency=row["currency"],
        minimum_charge=None if row["minimum_charge"] is None else Decimal(row["minimum_charge"]),
        as_of=None if as_of is None else date.fromisoformat(as_of),
        source=sources[row["source"]],
        note=row["note"],
    )
