"""The catalogue's model for the name or path that a trainer's file has."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

from app.catalog.known_models import find_model, list_models

# Where the hub's own cache keeps a model, under the name of its version.
_CACHED = re.compile(r"models--(?:[^/]+--)?([^/]+)/snapshots/")


def find_model_id(name: str) -> str | None:
    """By hub name, or by the last part of a name or path, whatever its case and punctuation."""
    known = find_model(name)
    return known.id if known is not None else _by_plain_name().get(_plain(name))


def config_of(model_id: str | None) -> Mapping[str, Any]:
    """The model's configuration; empty where the model is not known."""
    known = None if model_id is None else find_model(model_id)
    return {} if known is None else known.config


def longest_tokens_of(model_id: str | None) -> int | None:
    """The length that the model was trained for."""
    known = None if model_id is None else find_model(model_id)
    return None if known is None else known.longest_tokens


@cache
def _by_plain_name() -> Mapping[str, str]:
    """A name that two models share stands for neither."""
    names = [
        (plain, model.id) for model in list_models() for plain in {_plain(model.id), _plain(model.hub_name)}
    ]
    shared = Counter(plain for plain, _ in names)
    return {plain: model_id for plain, model_id in names if shared[plain] == 1}


def _plain(name: str) -> str:
    cached = _CACHED.search(name)
    if cached is not None:
        name = cached[1]
    last = re.split(r"[/\\]", name.strip().rstrip("/\\"))[-1]
    return re.sub(r"[^a-z0-9]", "", last.lower())
