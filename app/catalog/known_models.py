"""The models of the packaged catalogue, each with its true configuration; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from types import MappingProxyType
from typing import Any

from app.catalog.packaged import read_packaged


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """A model that can be planned by name.

    ``id`` is its short name, ``hub_name`` the hub's ``owner/name``; ``config`` its ``config.json`` (a fresh dict may be
    made of it, it is never changed). ``published_parameters``: the count that its makers publish, where it is known.
    """

    id: str
    hub_name: str
    name: str
    family: str
    config: Mapping[str, Any]
    license: str | None
    published_parameters: int | None
    source: str
    as_of: date

    @property
    def longest_tokens(self) -> int | None:
        """The length it was trained for, where its configuration says so."""
        names = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length")
        return next((self.config[name] for name in names if name in self.config), None)


@cache
def list_models() -> tuple[CatalogModel, ...]:
    """All models, by family and name."""
    content = read_packaged("models")
    compiled_on = date.fromisoformat(content["compiled_on"])
    return tuple(_model(row, compiled_on) for row in content["models"])


def find_model(text: str) -> CatalogModel | None:
    """The model with this short name or hub name, in any case; None when the catalogue has none."""
    return _by_name().get(text.strip().lower())


@cache
def _by_name() -> Mapping[str, CatalogModel]:
    by_hub_name = {model.hub_name.lower(): model for model in list_models()}
    return MappingProxyType(by_hub_name | {model.id: model for model in list_models()})


def _model(row: Mapping[str, Any], compiled_on: date) -> CatalogModel:
    return CatalogModel(
        id=row["id"],
        hub_name=row["hub_name"],
        name=row["name"],
        family=row["family"],
        config=MappingProxyType(row["config"]),
        license=row.get("license"),
        published_parameters=row.get("published_parameters"),
        source=row["source"],
        as_of=compiled_on,
    )
