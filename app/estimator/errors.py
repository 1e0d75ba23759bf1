"""What the estimator raises for input that cannot run; the texts for people are made elsewhere."""

from collections.abc import Mapping


class EstimatorError(ValueError):
    """``field`` names the input as the request does, ``reason`` is a word, ``params`` are the values that clash."""

    def __init__(self, field: str, reason: str, **params: object) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason
        self.params: Mapping[str, object] = params


class ConfigError(EstimatorError):
    """A model configuration that describes no model that is read here."""


class RecipeError(EstimatorError):
    """A recipe that cannot run on this model, or is not estimated yet."""
