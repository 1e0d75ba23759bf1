"""Time of a step as a roofline: arithmetic, memory traffic, launches and gradient traffic; the largest one binds.

docs/formulas/time.md names the source and the range of each constant.
"""

from dataclasses import dataclass
from typing import Literal

from app.estimator.architecture import Architecture
from app.estimator.flops import StepFlops
from app.estimator.sharding import Lasting
from app.estimator.recipe import Card, Cluster, Recipe

Bound = Literal["compute", "memory_bandwidth", "interconnect", "storage"]

# The share of the dense rate that whole training steps reach on long enough batches.
LARGEST_EFFICIENCY = 0.75
# Rows × columns of a matrix product at which half of that is reached.
HALF_EFFICIENCY_ELEMENTS = 2_500_000
# Launch and Python overhead of one operator, and operators of a block forward; backward launches twice as many.
SECONDS_PER_OPERATOR = 36e-6
OPERATORS_PER_BLOCK = {"full": 24, "lora": 34, "qlora": 46}
BANDWIDTH_EFFICIENCY = 0.75
INTERCONNECT_EFFICIENCY = 0.7
# Bytes that elementwise work moves for each byte saved: its temporaries are written and read several times.
TRAFFIC_PER_SAVED_BYTE = 20.0

STARTUP_HOURS = 0.05
SAVING_BYTES_PER_SECOND = 500e6
# 80 % of published throughputs lie within these multiples of the estimate.
INTERVAL = (0.75, 1.5)


@dataclass(frozen=True, slots=True)
class StepTime:
    """Seconds of one optimizer step of one card, and what binds it."""

    seconds: float
    bound_by: Bound


def step_time(
    architecture: Architecture,
    recipe: Recipe,
    flops: StepFlops,
    lasting: Lasting,
    saved_bytes: float,
    card: Card,
    cluster: Cluster,
    length: float,
) -> StepTime:
    """``saved_bytes`` are of one micro-batch."""
    compute = flops.total / (_rate(card, recipe) * cluster.share * _efficiency(architecture, recipe, length))
    launches = _launch_seconds(architecture, recipe)
    memory = _memory_seconds(architecture, recipe, lasting, saved_bytes, card, cluster)
    traffic = _gradient_seconds(lasting, card, cluster)
    working = max(compute, launches) + memory
    bound: Bound = "compute" if compute >= memory and compute >= launches else "memory_bandwidth"
    if traffic > working:
        bound = "interconnect"
    # Gradients travel while backward still runs: two thirds of the work can hide them.
    return StepTime(working + max(0.0, traffic - working * 2 / 3), bound)


def _rate(card: Card, recipe: Recipe) -> float:
    if recipe.precision == "fp32":
        return card.fp32_flops
    narrow = card.bf16_flops if recipe.precision.startswith("bf16") else card.fp16_flops
    # A card without bf16 emulates it at the fp32 rate.
    return narrow or card.fp32_flops


def _efficiency(architecture: Architecture, recipe: Recipe, length: float) -> float:
    elements = recipe.micro_batch_size * length * architecture.hidden
    return LARGEST_EFFICIENCY * elements / (elements + HALF_EFFICIENCY_ELEMENTS)


def _launch_seconds(architecture: Architecture, recipe: Recipe) -> float:
    passes = 3 + (1 if recipe.gradient_checkpointing else 0)
    operators = OPERATORS_PER_BLOCK[recipe.method] * architecture.layers * passes
    return operators * SECONDS_PER_OPERATOR * recipe.gradient_accumulation_steps


def _memory_seconds(
    architecture: Architecture,
    recipe: Recipe,
    lasting: Lasting,
    saved_bytes: float,
    card: Card,
    cluster: Cluster,
) -> float:
    """Activations, expanded 4-bit weights, and the optimizer's pass over weights, gradients and states."""
    micro = TRAFFIC_PER_SAVED_BYTE * saved_bytes
    if recipe.method == "qlora":
        weights = architecture.layers * architecture.block_weights
        passes = 3 if recipe.gradient_checkpointing else 2
        micro += passes * weights * (0.5 + 2 * recipe.compute_bytes)
    step = micro * recipe.gradient_accumulation_steps
    step += 2 * lasting.optimizer_states + 4 * lasting.gradients
    return step / (card.bandwidth_bytes_per_second * cluster.share * BANDWIDTH_EFFICIENCY)


def _gradient_seconds(lasting: Lasting, card: Card, cluster: Cluster) -> float:
    """A ring all-reduce moves 2 (n − 1) / n of the gradients (Baidu's ring, 2017), once a step."""
    count = cluster.whole_gpus
    if count == 1 or cluster.parallelism == "none":
        return 0.0
    rate = card.interconnect_bytes_per_second or card.pcie_bytes_per_second
    return 2 * (count - 1) / count * lasting.gradients / (rate * INTERCONNECT_EFFICIENCY)
