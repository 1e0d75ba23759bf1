"""The peak of a training step: the largest of the moments of what lives for a while, above what always lives."""

from dataclasses import dataclass

from app.estimator.adapters import Adapters
from app.estimator.architecture import Architecture
from app.estimator.compiled import PHASES, Compiled, compiled
from app.estimator.optimizer import state_bytes, step_bytes
from app.estimator.recipe import Recipe
from app.estimator.tape import Peak

# NF4: half a byte an element; absmax in fp32 per 64, or quantised to uint8 per 64 with fp32 per 256 of those
# (QLoRA, arXiv 2305.14314).
NF4_BYTES = 0.5
ABSMAX_BYTES = {True: 1 / 64 + 4 / (64 * 256), False: 4 / 64}

MOMENTS = (*PHASES, "optimizer_step")


@dataclass(frozen=True, slots=True)
class Persistent:
    """What lives through the whole step, in bytes."""

    weights: int
    optimizer_states: int
    gradients: int  # of all trained weights, when they exist
    trainable: int  # elements
    trainable_bytes: int  # bytes an element of most of them


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


def trainable_parameters(architecture: Architecture, adapters: Adapters | None) -> int:
    """Elements that are trained."""
    return architecture.parameters if adapters is None else adapters.parameters


def weight_bytes(architecture: Architecture, recipe: Recipe, adapters: Adapters | None) -> int:
    """Bytes of all weights, adapters included."""
    total = float(architecture.parameters * recipe.base_bytes)
    if recipe.method == "qlora":
        each = NF4_BYTES + ABSMAX_BYTES[recipe.double_quantization]
        total += quantised_elements(architecture) * (each - recipe.base_bytes)
    if adapters is not None:
        total += adapters.parameters * recipe.adapter_bytes
    return round(total)


def quantised_elements(architecture: Architecture) -> int:
    """Elements of the matrices that QLoRA holds in four bits: the blocks' linear layers but the routers."""
    return sum(
        block.layers * linear.weights
        for block in architecture.blocks
        for linear in block.linears
        if linear.role not in ("router", "shared_router")
    )


def persistent(architecture: Architecture, recipe: Recipe, adapters: Adapters | None) -> Persistent:
    """Weights, states and the gradients to come."""
    trainable = trainable_parameters(architecture, adapters)
    width = recipe.base_bytes if adapters is None else recipe.adapter_bytes
    return Persistent(
        weights=weight_bytes(architecture, recipe, adapters),
        optimizer_states=state_bytes(recipe, trainable, width),
        gradients=trainable * width,
        trainable=trainable,
        trainable_bytes=width,
    )


def step_memory(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, length: int
) -> StepMemory:
    """The moments of one step of one card; ``length`` is the longest sample's tokens."""
    lasting = persistent(architecture, recipe, adapters)
    plan = compiled(architecture, recipe, adapters)
    tokens = recipe.micro_batch_size * length
    base = lasting.weights + lasting.optimizer_states
    carried = lasting.gradients if recipe.gradient_accumulation_steps > 1 else 0
    base_of_phases = base + carried + _bias_bytes(architecture, recipe, length)
    largest = [_largest(peaks, tokens, length) for peaks in plan.peaks]
    sizes = [base_of_phases + (0.0 if peak is None else peak.at(tokens, length)) for peak in largest]
    matrix = architecture.head_weights if recipe.method == "full" else 0
    work = step_bytes(recipe, lasting.trainable, lasting.trainable_bytes, matrix)
    sizes.append(base + lasting.gradients + work)
    moments = {name: round(size) for name, size in zip(MOMENTS, sizes, strict=True)}
    place = max(range(len(MOMENTS)), key=lambda index: sizes[index])
    gradients = lasting.gradients
    if place < len(PHASES):
        winner = largest[place]
        gradients = carried + (0 if winner is None else round(winner.gradients))
    components = _components(moments[MOMENTS[place]], gradients, lasting, plan, tokens, length)
    if MOMENTS[place] == "optimizer_step":
        components = components | {"activations": 0, "temporary": components["activations"] + components["temporary"]}
    return StepMemory(moments, components)


def _bias_bytes(architecture: Architecture, recipe: Recipe, length: int) -> int:
    """Position biases that fused attention keeps; all samples of a batch share them, so the tape has no such term."""
    if recipe.attention == "eager" or recipe.gradient_checkpointing:
        return 0
    return architecture.bias_matrices * length * length * recipe.base_bytes


def _largest(peaks: tuple[Peak, ...], tokens: float, length: float) -> Peak | None:
    return max(peaks, key=lambda peak: peak.at(tokens, length)) if peaks else None


def _components(
    peak: int, gradients: int, lasting: Persistent, plan: Compiled, tokens: float, length: float
) -> dict[str, int]:
    """The peak split by kind; what is left after weights, states, gradients and saved values is temporary."""
    left = peak - lasting.weights - lasting.optimizer_states - gradients
    kept = min(left, round(plan.saved.at(tokens, length)))
    return {
        "weights": lasting.weights,
        "gradients": gradients,
        "optimizer_states": lasting.optimizer_states,
        "activations": kept,
        "temporary": left - kept,
    }
