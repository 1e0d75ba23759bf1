"""The peak of a training step: the largest of the moments of what lives for a while, above what always lives."""

from dataclasses import dataclass

from app.estimator.adapters import Adapters
from app.estimator.architecture import Architecture
from app.estimator.compiled import PHASES, compiled
from app.estimator.recipe import Cluster, Recipe
from app.estimator.sharding import Lasting, lasting_bytes, local_recipe

MOMENTS = (*PHASES, "optimizer_step")
ONE_CARD = Cluster()


@dataclass(frozen=True, slots=True)
class StepMemory:
    """Allocated bytes of one card in each moment, and what they are made of in the worst one."""

    moments: dict[str, int]
    components: dict[str, int]

    @property
    def peak_phase(self) -> str:
        """The moment that wins."""
        return max(MOMENTS, key=lambda name: self.moments[name])

    @property
    def peak_bytes(self) -> int:
        """``torch.cuda.max_memory_allocated`` of the step."""
        return self.moments[self.peak_phase]


def step_memory(
    architecture: Architecture,
    recipe: Recipe,
    adapters: Adapters | None,
    length: int,
    cluster: Cluster = ONE_CARD,
) -> StepMemory:
    """The moments of one step of one card; ``length`` is the longest sample's tokens."""
    lasting = lasting_bytes(architecture, recipe, adapters, cluster)
    recipe = local_recipe(recipe, cluster)
    plan = compiled(architecture, recipe, adapters)
    tokens = recipe.micro_batch_size * length
    base = lasting.weights + lasting.optimizer_states
    carried = lasting.gradients if recipe.gradient_accumulation_steps > 1 else 0
    passing = base + carried + lasting.passing + _bias_bytes(architecture, recipe, length)
    share = lasting.gradient_share
    sizes: list[float] = []
    gradients: list[float] = []
    for peaks in plan.peaks:
        size, kept = 0.0, 0.0
        for peak in peaks:
            total = peak.at(tokens, length) - peak.gradients * (1.0 - share)
            if total > size:
                size, kept = total, peak.gradients * share
        sizes.append(passing + size)
        gradients.append(carried + kept)
    sizes.append(base + lasting.gradients + lasting.step)
    gradients.append(lasting.gradients)
    moments = {name: round(size) for name, size in zip(MOMENTS, sizes, strict=True)}
    place = max(range(len(MOMENTS)), key=sizes.__getitem__)
    saved = plan.saved.at(tokens, length) if place < len(PHASES) else 0.0
    return StepMemory(moments, _components(moments[MOMENTS[place]], round(gradients[place]), lasting, saved))


def _bias_bytes(architecture: Architecture, recipe: Recipe, length: int) -> int:
    """Position biases that fused attention keeps; all samples of a batch share them, so the tape has no such term."""
    if recipe.attention == "eager" or recipe.gradient_checkpointing:
        return 0
    return architecture.bias_matrices * length * length * recipe.base_bytes


def _components(peak: int, gradients: int, lasting: Lasting, saved: float) -> dict[str, int]:
    """The peak split by kind; what is left after weights, states, gradients and saved values is temporary."""
    left = peak - lasting.weights - lasting.optimizer_states - gradients
    kept = min(left, round(saved))
    return {
        "weights": lasting.weights,
        "gradients": gradients,
        "optimizer_states": lasting.optimizer_states,
        "activations": kept,
        "temporary": left - kept,
    }
