"""Operations of a step: two for each multiply-add in matrix products and attention, counted on the tape."""

from dataclasses import dataclass

from app.estimator.architecture import Architecture
from app.estimator.compiled import Compiled, units
from app.estimator.recipe import Recipe


@dataclass(frozen=True, slots=True)
class StepFlops:
    """Operations of one card in one optimizer step."""

    forward: float
    backward: float
    recomputed: float

    @property
    def total(self) -> float:
        """All of them."""
        return self.forward + self.backward + self.recomputed


def step_flops(architecture: Architecture, recipe: Recipe, plan: Compiled, length: float) -> StepFlops:
    """All micro-batches of one optimizer step, at ``length`` tokens a sample."""
    tokens, pairs = units(architecture, recipe, length)
    repeats = recipe.gradient_accumulation_steps
    return StepFlops(**{stage: repeats * form.at(tokens, pairs) for stage, form in plan.operations.items()})
