"""The peak of a training step: the largest of the moments of what lives for a while, above what always lives."""

from dataclasses import dataclass

from app.estimator.activations import block_bytes_per_token, widths_of
from app.estimator.adapters import Adapters
from app.estimator.architecture import Architecture
from app.estimator.optimizer import state_bytes, step_bytes
from app.estimator.recipe import Recipe

# NF4: half a byte an element; absmax in fp32 per 64, or quantised to uint8 per 64 with fp32 per 256 of those
# (QLoRA, arXiv 2305.14314).
NF4_BYTES = 0.5
ABSMAX_BYTES = {True: 1 / 64 + 4 / (64 * 256), False: 4 / 64}

MOMENTS = ("forward", "loss_forward", "loss_backward", "backward", "optimizer_step")


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
    return architecture.parameters if adapters is None else adapters.parameters(architecture)


def weight_bytes(architecture: Architecture, recipe: Recipe, adapters: Adapters | None) -> int:
    """Bytes of all weights, adapters included."""
    total = float(architecture.parameters * recipe.base_bytes)
    if recipe.method == "qlora":
        quantised = architecture.layers * sum(
            linear.weights for linear in architecture.linears if linear.role != "router"
        )
        each = NF4_BYTES + ABSMAX_BYTES[recipe.double_quantization]
        total += quantised * (each - recipe.base_bytes)
    if adapters is not None:
        total += adapters.parameters(architecture) * recipe.adapter_bytes
    return round(total)


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


@dataclass(frozen=True, slots=True)
class _Step:
    """The sizes that the moments are put together from, in bytes."""

    base: float
    gradients: float
    carried: float  # gradients of earlier micro-batches, alive through this forward
    saved: float  # by all blocks
    block: float  # by one block when it is not recomputed
    ends: float  # by what lies after the blocks
    cast_cache: float
    softcap: float  # by the capped logits' tanh
    vocabulary: float  # elements of the logits
    head_gradient: float
    head_cast: float
    table: float  # bytes of a gradient of the token table
    working: float  # live only while one block is computed backward
    stream: float  # the gradient of the residual stream


def step_memory(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, length: int
) -> StepMemory:
    """The moments of one step of one card; ``length`` is the longest sample's tokens."""
    lasting = persistent(architecture, recipe, adapters)
    step = _step(architecture, recipe, adapters, lasting, length)
    moments = {
        "forward": _forward(step),
        "loss_forward": _loss_forward(step, recipe),
        "loss_backward": _loss_backward(step, recipe),
        "backward": _backward(step, architecture, recipe),
        "optimizer_step": _optimizer_step(step, architecture, recipe, lasting),
    }
    whole = {name: round(size) for name, size in moments.items()}
    return StepMemory(whole, _components(whole, step, lasting))


def _step(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, lasting: Persistent, length: int
) -> _Step:
    tokens = recipe.micro_batch_size * length
    widths = widths_of(recipe)
    full = recipe.method == "full"
    block = block_bytes_per_token(architecture, recipe, adapters, tokens, length) * tokens
    checkpoint = widths.residual * architecture.hidden * tokens
    saved = architecture.layers * (checkpoint if recipe.gradient_checkpointing else block)
    accumulates = recipe.gradient_accumulation_steps > 1
    casts = recipe.is_mixed and recipe.base_bytes > recipe.compute_bytes
    whole_cache = (
        architecture.layers * architecture.block_weights * recipe.compute_bytes
        if recipe.gradient_checkpointing and full and casts
        else 0
    )
    return _Step(
        base=lasting.weights + lasting.optimizer_states,
        gradients=lasting.gradients,
        carried=lasting.gradients if accumulates else 0,
        saved=saved,
        block=block,
        ends=_final_norm(architecture, recipe, widths.residual) * tokens,
        softcap=tokens * architecture.vocabulary * recipe.compute_bytes if architecture.logit_softcap else 0,
        cast_cache=whole_cache,
        vocabulary=tokens * architecture.vocabulary,
        head_gradient=architecture.head_weights * recipe.base_bytes if full else 0,
        head_cast=architecture.head_weights * recipe.compute_bytes if casts else 0,
        table=architecture.head_weights * recipe.base_bytes if full else 0,
        working=_working(architecture, recipe, tokens, length),
        stream=widths.residual * architecture.hidden * tokens,
    )


def _final_norm(architecture: Architecture, recipe: Recipe, residual: int) -> float:
    """The last norm's saved values and the head's input, in bytes a token."""
    hidden = architecture.hidden
    norm = residual if architecture.norm == "layer" else 4
    trained = (residual if architecture.norm != "layer" else 0) + recipe.compute_bytes
    return hidden * (norm + (trained if recipe.method == "full" else residual))


def _working(architecture: Architecture, recipe: Recipe, tokens: int, length: int) -> float:
    """Gradients of the widest part of a block while its backward runs, and expanded 4-bit weights."""
    widths = widths_of(recipe)
    inner = max(linear.inputs * linear.active for linear in architecture.linears if linear.role == "mlp_out")
    mlp = (3 if architecture.gated else 2) * widths.mlp * inner
    scores = 4 * architecture.heads * length * 2 if recipe.attention == "eager" else 0
    expanded = 0
    if recipe.method == "qlora":
        expanded = (
            max(linear.weights // linear.copies for linear in architecture.linears) * recipe.compute_bytes
        )
    return tokens * max(mlp, scores) + expanded


def _forward(step: _Step) -> float:
    return step.base + step.carried + step.saved + step.ends + step.cast_cache


def _loss_forward(step: _Step, recipe: Recipe) -> float:
    """Logits as the head gives them, their fp32 copy, and the log-softmax (4 bytes an element each)."""
    if recipe.fused_loss:
        return _forward(step) + step.head_cast
    logits = recipe.compute_bytes if recipe.compute_bytes == 2 else 0
    return _forward(step) + step.head_cast + step.softcap + (logits + 8) * step.vocabulary


def _loss_backward(step: _Step, recipe: Recipe) -> float:
    """Three fp32 tensors of tokens × vocabulary; then the logits' gradient in their own type and the head's."""
    before = step.base + step.carried + step.saved + step.ends + step.head_cast
    if recipe.fused_loss:
        return before + step.head_gradient + step.stream
    narrow = recipe.compute_bytes * step.vocabulary
    later = narrow + step.stream + max(step.head_gradient, 0)
    return before + step.softcap + max(12 * step.vocabulary, later)


def _backward(step: _Step, architecture: Architecture, recipe: Recipe) -> float:
    """Saved values fall while gradients grow, block by block: the peak is at one of the two ends."""
    one = step.block if recipe.gradient_checkpointing else 0
    head = 0 if architecture.tied and step.carried else step.head_gradient
    start = step.base + max(step.carried, head) + step.saved + one + step.working + step.stream
    blocks = step.gradients - step.head_gradient if recipe.method == "full" else step.gradients
    first = step.block + step.working + step.stream
    last_block = step.base + max(step.carried, blocks) + first
    tables = (2 if architecture.tied else 0) + (1 if step.carried else 0)
    end = step.base + step.gradients + tables * step.table + step.stream
    return max(start, last_block, end)


def _optimizer_step(step: _Step, architecture: Architecture, recipe: Recipe, lasting: Persistent) -> float:
    largest = architecture.head_weights if recipe.method == "full" else 0
    work = step_bytes(recipe, lasting.trainable, lasting.trainable_bytes, largest)
    return step.base + step.gradients + work


def _components(moments: dict[str, int], step: _Step, lasting: Persistent) -> dict[str, int]:
    """The peak split by kind; what is left after weights, states, gradients and saved values is temporary."""
    phase = max(MOMENTS, key=lambda name: moments[name])
    peak = moments[phase]
    gradients = {
        "forward": step.carried,
        "loss_forward": step.carried,
        "loss_backward": step.carried,
        "backward": max(step.carried, min(step.gradients, peak - step.base)),
        "optimizer_step": step.gradients,
    }[phase]
    left = peak - lasting.weights - lasting.optimizer_states - round(gradients)
    kept = 0 if phase == "optimizer_step" else min(left, round(step.saved + step.ends))
    return {
        "weights": lasting.weights,
        "gradients": round(gradients),
        "optimizer_states": lasting.optimizer_states,
        "activations": kept,
        "temporary": left - kept,
    }
