"""Other moments of the job that need memory: loading, evaluation, saving, merging the adapters.

Formulas stand in docs/formulas/memory.md under "Other moments".
"""

from dataclasses import dataclass, fields

from app.estimator.adapters import Adapters
from app.estimator.architecture import Architecture
from app.estimator.recipe import Recipe
from app.estimator.sharding import Lasting


@dataclass(frozen=True, slots=True)
class OtherPeaks:
    """Allocated bytes of one card in each moment; None for a moment that the job does not have."""

    loading: int
    evaluation: int
    saving: int
    merging: int | None

    def items(self) -> list[tuple[str, int]]:
        """Names and bytes of the moments that the job has."""
        found = ((field.name, getattr(self, field.name)) for field in fields(self))
        return [(name, size) for name, size in found if size is not None]


def other_peaks(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, lasting: Lasting, length: int
) -> OtherPeaks:
    """``length`` is the longest sample's tokens; evaluation runs at the training's micro-batch."""
    largest = architecture.largest_matrix
    tables = architecture.token_table
    loading = lasting.weights + largest * recipe.base_bytes
    if recipe.method == "qlora":
        # The 16-bit matrix and its blocks in fp32 while they become four bits; then tables are widened one by one.
        loading = lasting.weights + max(largest * 6, tables * recipe.compute_bytes)
    kept = lasting.weights + lasting.optimizer_states
    tokens = recipe.micro_batch_size * (1 if architecture.by_sample else length)
    logits = 0 if recipe.fused_loss else 10 * tokens * architecture.logits
    between = 3 * tokens * architecture.widest * recipe.compute_bytes
    merging = None
    if adapters is not None:
        # The widened matrix and the product of the adapter's two, one layer at a time.
        merging = lasting.weights + 2 * largest * max(recipe.compute_bytes, recipe.adapter_bytes)
    return OtherPeaks(
        loading=loading,
        evaluation=kept + lasting.passing + round(max(logits, between)),
        saving=kept + lasting.passing + largest * recipe.base_bytes,
        merging=merging,
    )
