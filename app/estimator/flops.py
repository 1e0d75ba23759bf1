"""Operations of a step: two for each multiply-add in matrix products and attention.

Forward: 2 × weights a token, and 4 × length × width of the queries in each block's attention (full length × length).
Backward: the same again for the inputs' gradients and once more for trained weights; flash-style attention 2.5 × its
forward (FlashAttention-2, arXiv 2307.08691, section 4.1).
"""

from dataclasses import dataclass

from app.estimator.adapters import Adapters
from app.estimator.architecture import Architecture
from app.estimator.recipe import Recipe

FUSED_ATTENTION_BACKWARD = 2.5
EAGER_ATTENTION_BACKWARD = 2.0


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


def step_flops(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, length: float
) -> StepFlops:
    """All micro-batches of one optimizer step, at ``length`` tokens a sample."""
    tokens = recipe.micro_batch_size * recipe.gradient_accumulation_steps * length
    dense = _dense(architecture, architecture.layers) * tokens
    head = 2 * architecture.head_weights * tokens
    attention = 4 * architecture.layers * length * architecture.query_width * tokens
    adapted = 0.0 if adapters is None else 2 * _adapter_elements(architecture, adapters) * tokens
    forward = dense + head + attention + adapted
    weights = dense + head if recipe.method == "full" else adapted
    factor = EAGER_ATTENTION_BACKWARD if recipe.attention == "eager" else FUSED_ATTENTION_BACKWARD
    backward = dense + head + adapted + weights + factor * attention
    return StepFlops(forward, backward, _recomputed(architecture, recipe, adapters, tokens, attention))


def _dense(architecture: Architecture, layers: int) -> float:
    return 2 * layers * sum(linear.inputs * linear.outputs * linear.active for linear in architecture.linears)


def _adapter_elements(architecture: Architecture, adapters: Adapters) -> float:
    rank = adapters.lora.rank
    block = sum(rank * (linear.inputs + linear.outputs) * linear.active for linear in adapters.linears)
    return architecture.layers * block + adapters.head_parameters


def _recomputed(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, tokens: float, attention: float
) -> float:
    """Checkpointing replays each block, never the head."""
    if not recipe.gradient_checkpointing:
        return 0.0
    adapted = (
        0.0
        if adapters is None
        else 2 * (_adapter_elements(architecture, adapters) - adapters.head_parameters)
    )
    skipped = _not_replayed(architecture, recipe)
    return (_dense(architecture, architecture.layers) - skipped + adapted) * tokens + attention


def _not_replayed(architecture: Architecture, recipe: Recipe) -> float:
    """The block's last linear layer: nothing needs its output, unless a norm follows it or it is a 4-bit layer."""
    if architecture.norms > 2 or recipe.method == "qlora":
        return 0.0
    last = [linear for linear in architecture.linears if linear.role == "mlp_out"]
    return sum(2 * linear.inputs * linear.outputs * linear.active for linear in last) * architecture.layers
