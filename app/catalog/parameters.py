"""How many parameters the catalogue's models have, computed from their configurations; pure."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from app.catalog.known_models import list_models
from app.estimator import read_architecture


@cache
def parameter_counts() -> Mapping[str, int]:
    """The number of parameters by the model's id."""
    return MappingProxyType({model.id: read_architecture(dict(model.config)).parameters for model in list_models()})
