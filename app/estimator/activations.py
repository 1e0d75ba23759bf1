"""What a block keeps for its backward pass, operator by operator, in bytes a token.

docs/formulas/memory.md derives each line. ``r`` is the width of the residual stream in bytes, ``c`` of matrix products,
``m`` of what lies between the two halves of the MLP.
"""

from dataclasses import dataclass

from app.estimator.adapters import Adapters
from app.estimator.architecture import Architecture, Linear
from app.estimator.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Widths:
    """Bytes an element in the parts of the forward pass."""

    residual: int
    compute: int
    mlp: int


def widths_of(recipe: Recipe) -> Widths:
    """Under autocast the residual stream has the type of the embeddings; matrix products have the 16-bit type.

    A 4-bit layer answers in the type of its input, so under autocast its MLP is as wide as the residual stream.
    """
    compute = recipe.compute_bytes
    residual = recipe.base_bytes
    return Widths(residual, compute, residual if recipe.method == "qlora" else compute)


def block_bytes_per_token(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, tokens: int, length: int
) -> float:
    """Bytes a token that one block saves when nothing is recomputed."""
    widths = widths_of(recipe)
    parts = (
        _norms(architecture, recipe, widths),
        _inputs(architecture, recipe, widths, adapters),
        _attention(architecture, recipe, widths, length),
        _between(architecture, recipe, widths),
        _adapter_outputs(recipe, adapters),
        2 * architecture.hidden if architecture.residual_dropout else 0,
    )
    casts = frozen_cast_bytes(architecture, recipe) / tokens
    return sum(parts) + casts


def _norms(architecture: Architecture, recipe: Recipe, widths: Widths) -> float:
    """RMSNorm works in fp32 and keeps its input in it, and the normalised value for the weight's gradient."""
    hidden, trains = architecture.hidden, recipe.method == "full"
    if architecture.norm == "layer":
        each = widths.residual * hidden + 8
    elif architecture.norm == "gemma_rms":
        each = (4 + (4 if trains else 0)) * hidden + 4
    else:
        each = (4 + (widths.residual if trains else 0)) * hidden + 4
    return architecture.norms * each + _qk_norms(architecture, recipe)


def _qk_norms(architecture: Architecture, recipe: Recipe) -> float:
    if not architecture.qk_norm_width:
        return 0
    width = architecture.query_width + architecture.key_value_width
    return width * (4 + (recipe.compute_bytes if recipe.method == "full" else 0))


def _inputs(architecture: Architecture, recipe: Recipe, widths: Widths, adapters: Adapters | None) -> float:
    """The inputs that linear layers keep: for a trained weight, and for an adapter's first matrix."""
    total = 0.0
    for role, arrives in (
        ("attention_in", widths.residual),
        ("attention_out", widths.compute),
        ("router", widths.residual),
        ("mlp_in", widths.residual),
        ("mlp_out", widths.mlp),
    ):
        group = [linear for linear in architecture.linears if linear.role == role]
        if group:
            total += _kept_inputs(group, recipe, widths.compute, arrives, adapters)
    return total


def _kept_inputs(
    group: list[Linear], recipe: Recipe, compute: int, arrives: int, adapters: Adapters | None
) -> float:
    """One copy is shared where no cast is needed; every cast makes a copy of its own.

    The input of the attention's output layer is kept by the attention itself; no second copy is counted for it.
    """
    is_kept_already = group[0].role == "attention_out"
    kept = 0.0
    shared = 0.0
    for linear in group:
        width = linear.inputs * linear.active
        if recipe.method == "full":
            if arrives == compute:
                shared = 0.0 if is_kept_already else compute * width
            else:
                kept += compute * width
        elif adapters is not None and adapters.on(linear):
            own = _adapter_input_bytes(recipe, compute, arrives)
            if own is None:
                shared = 0.0 if is_kept_already else arrives * width
            else:
                kept += own * width
            kept += width * _dropout_bytes(recipe)
    return kept + shared


def _adapter_input_bytes(recipe: Recipe, compute: int, arrives: int) -> int | None:
    """Bytes an element of the copy that an adapter makes of its input; None when it uses the input as it is."""
    if recipe.is_mixed:
        return None if arrives == compute and recipe.adapter_bytes == arrives else compute
    return None if recipe.adapter_bytes == arrives else recipe.adapter_bytes


def _dropout_bytes(recipe: Recipe) -> int:
    """A mask of one byte; the dropped-out input is what the first matrix keeps instead of the input."""
    return 1 if recipe.lora is not None and recipe.lora.dropout > 0 else 0


def _attention(architecture: Architecture, recipe: Recipe, widths: Widths, length: int) -> float:
    """Fused kernels keep q, k, v, their output and a statistic a head; eager keeps the softmax in fp32 and its cast."""
    queries, keys, compute = architecture.query_width, architecture.key_value_width, widths.compute
    if recipe.attention != "eager":
        return compute * (2 * queries + 2 * keys) + 4 * architecture.heads
    scores = 4 if compute == 4 else 6
    repeated = queries if architecture.heads != architecture.key_value_heads else keys
    return compute * (2 * queries + 2 * repeated) + scores * architecture.heads * length


def _between(architecture: Architecture, recipe: Recipe, widths: Widths) -> float:
    """Gated: the gate, its activation and the other half; plain: what the activation function keeps."""
    each = 3 * widths.mlp if architecture.gated else _activation_bytes(architecture, recipe, widths)
    downs = [linear for linear in architecture.linears if linear.role == "mlp_out"]
    return sum(each * linear.inputs * linear.active for linear in downs)


def _activation_bytes(architecture: Architecture, recipe: Recipe, widths: Widths) -> int:
    if architecture.activation == "saves_output":
        # The output is the next layer's input, which a trained layer keeps anyway.
        return 0 if recipe.method == "full" else widths.mlp
    if architecture.activation == "written_out":
        # x, x / 2, tanh, 1 + tanh; autocast computes the power and what follows in fp32.
        return 14 if recipe.is_mixed else 4 * widths.mlp
    return widths.mlp


def _adapter_outputs(recipe: Recipe, adapters: Adapters | None) -> float:
    if adapters is None:
        return 0
    width = recipe.compute_bytes if recipe.is_mixed else recipe.adapter_bytes
    return sum(width * adapters.lora.rank * linear.active for linear in adapters.linears)


def frozen_cast_bytes(architecture: Architecture, recipe: Recipe) -> int:
    """Autocast's 16-bit copies of a block's fp32 weights, kept for backward: of trained and frozen weights alike."""
    if not recipe.is_mixed or recipe.method == "qlora" or recipe.base_bytes == recipe.compute_bytes:
        return 0
    return recipe.compute_bytes * architecture.block_weights
