"""What was read of a file, as the JSON API answers it."""

from typing import Any

from app.api.answers import Answer
from app.i18n import Language, translate
from app.planning.answers import AssumptionAnswer
from app.planning.dataset import DatasetLengths


class RecipeAnswer(Answer):
    """A trainer's file; ``request`` holds what it says and the trainer's own defaults, which ``defaults`` name."""

    trainer: str
    request: dict[str, Any]
    model_name: str | None
    unknown: list[str]
    ignored: list[str]
    defaults: list[AssumptionAnswer]
    notes: list[str]


class SkippedAnswer(Answer):
    """A row that could not be used."""

    place: int
    reason: str


class LengthsAnswer(Answer):
    """Lengths of a data set's samples in tokens; quantiles by percent."""

    format: str
    layout: str
    samples: int
    mean_tokens: float
    longest_tokens: int
    quantiles: dict[str, int]
    is_exact: bool
    skipped: list[SkippedAnswer]
    skipped_count: int
    columns: dict[str, str]
    columns_ignored: list[str]
    is_truncated: bool


def lengths_answer(lengths: DatasetLengths, language: Language) -> LengthsAnswer:
    """The figures with their sentences in the reader's language."""
    same = (
        "format", "layout", "samples", "mean_tokens", "longest_tokens", "is_exact", "skipped_count", "columns",
        "is_truncated",
    )  # fmt: skip
    return LengthsAnswer(
        **{name: getattr(lengths, name) for name in same},
        quantiles={str(share): tokens for share, tokens in lengths.quantiles.items()},
        skipped=[
            SkippedAnswer(place=place, reason=translate(reason, language)) for place, reason in lengths.skipped
        ],
        columns_ignored=list(lengths.columns_ignored),
    )
