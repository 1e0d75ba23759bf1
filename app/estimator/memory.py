"""The peak of a training step: the largest of the moments of what lives for a while, above what always lives."""

from dataclasses import dataclass

from app.estimator.architecture import Architecture
from app.estimator.compiled import PHASES, Compiled, units
from app.estimator.recipe import Cluster, Recipe
from app.estimator.sharding import Lasting

MOMENTS = (*PHASES, "optimizer_step")
BACKWARD = PHASES.index("backward")


@dataclass(frozen=True, slots=True)
class ShortLived:
    """What of the peak comes and goes, by what the allocator makes of it; bytes."""

    logits: int  # one copy of the logits in fp32
    scores: int  # attention scores that are tensors
    rest: int  # everything else that is not lasting, when the optimizer's moment is not the worst
    earlier: int  # the largest moment before the optimizer's, when that one is the worst
    passing: int  # gathered layers and buckets
    expands: bool  # whether 4-bit weights are expanded for each product


@dataclass(frozen=True, slots=True)
class StepMemory:
    """Allocated bytes of one card in each moment, and what they are made of in the worst one."""

    moments: dict[str, int]
    components: dict[str, int]
    short_lived: ShortLived

    @property
    def peak_phase(self) -> str:
        """The moment that wins."""
        return max(MOMENTS, key=lambda name: self.moments[name])

    @property
    def peak_bytes(self) -> int:
        """``torch.cuda.max_memory_allocated`` of the step."""
        return self.moments[self.peak_phase]


def step_memory(
    architecture: Architecture, recipe: Recipe, plan: Compiled, lasting: Lasting, length: int, cluster: Cluster
) -> StepMemory:
    """The moments of one step of one card; ``length`` is the longest sample's tokens.

    ``recipe`` and ``plan`` are as one card computes them (``sharding.local_recipe``).
    """
    tokens, pairs = units(architecture, recipe, length)
    base = lasting.weights + lasting.optimizer_states
    carried = lasting.gradients if recipe.gradient_accumulation_steps > 1 else 0
    passing = base + carried + lasting.passing + _bias_bytes(architecture, recipe, length)
    share = lasting.gradient_share
    sizes: list[float] = []
    gradients: list[float] = []
    for peaks in plan.peaks:
        size, kept = 0.0, 0.0
        for peak in peaks:
            total = peak.at(tokens, pairs) - peak.gradients * (1.0 - share)
            if total > size:
                size, kept = total, peak.gradients * share
        sizes.append(passing + size)
        gradients.append(carried + kept)
    kept_outputs = 0.0
    if recipe.keeps_outputs and not recipe.fused_loss:
        kept_outputs = recipe.micro_batch_size * length * architecture.logits * recipe.compute_bytes
    sizes.append(base + lasting.gradients + lasting.step + kept_outputs)
    gradients.append(lasting.gradients)
    sizes[BACKWARD] += _held_gradients(architecture, recipe, cluster, tokens)
    moments = {name: round(size) for name, size in zip(MOMENTS, sizes, strict=True)}
    place = max(range(len(MOMENTS)), key=sizes.__getitem__)
    saved = plan.saved.at(tokens, pairs) if place < len(PHASES) else 0.0
    components = _components(moments[MOMENTS[place]], round(gradients[place]), lasting, saved)
    logits = 0.0
    if not recipe.fused_loss:
        # What the loop is known to hold is in the peak already.
        logits = 4.0 * recipe.micro_batch_size * length * architecture.logits - kept_outputs
    scores = _score_bytes(plan, tokens, pairs)
    short_lived = _short_lived(sizes, base, lasting, logits, scores, expands=recipe.method == "qlora")
    return StepMemory(moments, components, short_lived)


def _bias_bytes(architecture: Architecture, recipe: Recipe, length: int) -> int:
    """Position biases that fused attention keeps; all samples of a batch share them, so the tape has no such term."""
    if recipe.attention == "eager" or recipe.gradient_checkpointing:
        return 0
    return architecture.bias_matrices * length * length * recipe.base_bytes


def _held_gradients(architecture: Architecture, recipe: Recipe, cluster: Cluster, tokens: float) -> int:
    """Gradients of the blocks' inputs that FSDP's hooks hold to the end of backward where weights are frozen.

    A block without trained weights of its own unit has no other sign that its backward is over, so FSDP waits for the
    gradients of its inputs (PyTorch, ``_register_post_backward_reshard_only_hook``). Seen in the published runs of
    docs/formulas/memory.md: one hidden state a block on top of the checkpoints.
    """
    if cluster.parallelism != "fsdp" or recipe.method == "full" or architecture.by_sample:
        return 0
    return round(architecture.layers * architecture.hidden * tokens * recipe.base_bytes)


def _score_bytes(plan: Compiled, tokens: float, length: float) -> float:
    return max((peak.pair for peaks in plan.peaks for peak in peaks), default=0.0) * tokens * length


def _short_lived(
    sizes: list[float], base: int, lasting: Lasting, logits: float, scores: float, *, expands: bool
) -> ShortLived:
    earlier = max(sizes[:-1]) - base
    if sizes[-1] >= max(sizes[:-1]):
        return ShortLived(round(logits), 0, 0, round(earlier), lasting.passing, expands)
    at_loss = max(sizes[1], sizes[2]) >= max(sizes)
    rest = earlier - scores - (3 * logits if at_loss else 0)
    return ShortLived(round(logits), round(scores), round(max(0.0, rest)), 0, lasting.passing, expands)


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
