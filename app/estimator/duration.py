"""Time of a step: every kernel at the card's arithmetic or memory rate, launches, the optimizer's pass, traffic.

docs/formulas/time.md names the source and the range of each constant.
"""

from dataclasses import dataclass
from typing import Literal

from app.estimator.architecture import Architecture
from app.estimator.compiled import Compiled, units
from app.estimator.recipe import Card, Cluster, Recipe
from app.estimator.sharding import Lasting

Bound = Literal["compute", "memory_bandwidth", "interconnect", "storage"]


@dataclass(slots=True)
class Rates:
    """What was measured: shares of the datasheet's rates that training kernels reach, and overheads in seconds."""

    # Share of the dense rate that long matrix products reach, by generation; cards that are cut short by their power
    # or cooling stay below others.
    products: dict[str, float]
    fp32_products: float  # the same of fp32's rate
    attention: float  # share of the products' rate that fused attention reaches
    bandwidth: float  # share of the memory bandwidth that elementwise kernels reach
    expansion: float  # the same for expanding 4-bit weights
    kernel: float  # seconds that each operator costs however small it is
    forward_launch: float  # seconds of the host for an operator, Python included
    backward_launch: float  # for one that autograd calls
    nvlink: float  # share of the cards' own links
    pcie: float  # share of the bus, over which cards without links talk through the host's memory
    network: float  # bytes a second between nodes for each card of a node; the node's cards share the work
    gathering: float  # seconds of the host for each layer that ZeRO-3 gathers and gives back
    overlap: float  # share of the computing time that traffic can hide behind
    host_optimizer: float  # bytes a second that the host's Adam gets through


RATES = Rates(
    products={
        "Turing": 0.26, "Volta": 0.84, "Ampere": 0.7, "Ada": 0.95, "l40s": 0.58, "Hopper": 0.5,
    },
    fp32_products=0.7,
    attention=0.48,
    bandwidth=0.78,
    expansion=0.16,
    kernel=22e-6,
    forward_launch=36e-6,
    backward_launch=4e-6,
    nvlink=0.6,
    pcie=0.12,
    network=25e9,
    gathering=9e-3,
    overlap=0.9,
    host_optimizer=28e9,
)  # fmt: skip
USUAL_PRODUCTS = 0.6

STARTUP_HOURS = 0.05
# Collecting tensors and writing small files, whatever the size: an assumption.
CHECKPOINT_PAUSE_SECONDS = 5.0
# Of a cloud's disk, for loading and saving weights where the request names no other rate.
USUAL_STORAGE_BYTES_PER_SECOND = 1000e6
TEXT_BYTES_PER_TOKEN = 4.0  # of stored text, in English; Chinese is about the same with today's vocabularies
IMAGE_BYTES_PER_PIXEL = 0.5  # compressed
# 80 % of published throughputs lie within these multiples of the estimate.
INTERVAL = (0.8, 1.4)


@dataclass(frozen=True, slots=True)
class StepTime:
    """Seconds of one optimizer step of one card, and what binds it."""

    seconds: float
    bound_by: Bound


def step_time(
    architecture: Architecture,
    recipe: Recipe,
    plan: Compiled,
    lasting: Lasting,
    card: Card,
    cluster: Cluster,
    length: float,
    storage_bytes_per_second: float | None = None,
) -> StepTime:
    """One optimizer step with samples of ``length`` tokens."""
    tokens, pairs = units(architecture, recipe, length)
    repeats = recipe.gradient_accumulation_steps
    arithmetic, memory, launches = _kernels(plan, recipe, card, cluster, tokens, pairs)
    if cluster.parallelism == "zero3":
        launches += RATES.gathering * architecture.layers
    card_seconds = arithmetic + memory
    working = max(card_seconds, launches)
    update = _update_seconds(recipe, lasting, card, cluster)
    each, once = _traffic_seconds(recipe, lasting, card, cluster)
    exposed = max(0.0, each - working * RATES.overlap)
    exposed_once = max(0.0, once - working * RATES.overlap)
    seconds = repeats * (working + exposed) + exposed_once + update
    bound: Bound = "compute" if arithmetic >= max(memory, launches - card_seconds) else "memory_bandwidth"
    if repeats * each + once > repeats * working + update:
        bound = "interconnect"
    reading = _reading_seconds(architecture, recipe, cluster, length, storage_bytes_per_second)
    if reading > seconds:
        # Workers read ahead while the cards compute.
        seconds, bound = reading, "storage"
    return StepTime(seconds, bound)


def _reading_seconds(
    architecture: Architecture, recipe: Recipe, cluster: Cluster, length: float, rate: float | None
) -> float:
    """Of the samples of one optimizer step, all cards together."""
    if rate is None:
        return 0.0
    samples = recipe.micro_batch_size * recipe.gradient_accumulation_steps * cluster.whole_gpus
    if architecture.image_side:
        size = IMAGE_BYTES_PER_PIXEL * architecture.image_side**2
    else:
        size = TEXT_BYTES_PER_TOKEN * (architecture.fixed_tokens or length)
    return samples * size / rate


def _kernels(
    plan: Compiled, recipe: Recipe, card: Card, cluster: Cluster, tokens: float, length: float
) -> tuple[float, float, float]:
    """Seconds of one micro-batch: in kernels bound by arithmetic, in those bound by memory, and of the host."""
    rates = RATES
    peak = _reached_rate(card, recipe) * cluster.share
    kernel = rates.kernel
    bandwidth = card.bandwidth_bytes_per_second * cluster.share * rates.bandwidth
    # Operations are counted over the full length × length; a causal kernel skips half of it.
    shares = {"attention": rates.attention, "causal": 2.0 * rates.attention}
    pairs = tokens * length
    arithmetic = memory = launches = 0.0
    for stage, kind, _, _, count, flops, moved in plan.rows:
        operations = flops[0] + flops[1] * tokens + flops[2] * pairs
        seconds = (moved[0] + moved[1] * tokens + moved[2] * pairs) / bandwidth
        if kind == "expand":
            seconds *= rates.bandwidth / rates.expansion
        if operations:
            computing = operations / (peak * shares.get(kind, 1.0))
            if computing > seconds:
                arithmetic += count * (computing + kernel)
                launches += count * (rates.backward_launch if stage == "backward" else rates.forward_launch)
                continue
        memory += count * (seconds + kernel)
        launches += count * (rates.backward_launch if stage == "backward" else rates.forward_launch)
    return arithmetic, memory, launches


def _reached_rate(card: Card, recipe: Recipe) -> float:
    """Operations a second of long matrix products."""
    products = RATES.products
    share = products.get(card.gpu_id) or products.get(card.generation, USUAL_PRODUCTS)
    narrow = card.bf16_flops if recipe.precision.startswith("bf16") else card.fp16_flops
    if recipe.precision == "fp32" or not narrow:
        # A card without bf16 emulates it at the fp32 rate.
        return card.fp32_flops * RATES.fp32_products
    return narrow * share


def _update_seconds(recipe: Recipe, lasting: Lasting, card: Card, cluster: Cluster) -> float:
    """The optimizer reads and writes states and weights, and reads gradients."""
    if recipe.offload != "none":
        return (2.0 * lasting.host + 2.0 * lasting.gradients) / RATES.host_optimizer
    moved = 2.0 * lasting.optimizer_states + 4.0 * lasting.gradients + 2.0 * lasting.step
    return moved / (card.bandwidth_bytes_per_second * cluster.share * RATES.bandwidth)


def _traffic_seconds(
    recipe: Recipe, lasting: Lasting, card: Card, cluster: Cluster
) -> tuple[float, float]:
    """Seconds on the links for each micro-batch, and once a step.

    A ring moves (n − 1)/n of what it gathers or scatters, twice that of what it reduces everywhere (Patarasuk and Yuan,
    2009). DDP reduces once a step; ZeRO-2 scatters gradients each time; ZeRO-3 and FSDP gather the weights for forward
    and for backward, too.
    """
    count = cluster.whole_gpus
    host = 0.0
    if recipe.offload == "all":
        # Shares of the weights come over the bus each time they are needed.
        host = 3.0 * lasting.host / card.pcie_bytes_per_second / 2
    if count == 1 or cluster.parallelism == "none":
        return host, 0.0
    if card.interconnect_bytes_per_second:
        rate = card.interconnect_bytes_per_second * RATES.nvlink
    else:
        rate = card.pcie_bytes_per_second * RATES.pcie
    if count > cluster.gpus_per_node:
        rate = min(rate, RATES.network * cluster.gpus_per_node)
    share = (count - 1) / count
    whole_gradients = lasting.gradients * (count if lasting.gradient_share < 1 else 1)
    if cluster.parallelism in ("ddp", "zero1"):
        return host, 2 * share * whole_gradients / rate
    if cluster.parallelism == "zero2":
        return host + share * whole_gradients / rate, share * whole_gradients / rate
    weights = lasting.gathered
    return host + share * (2 * weights + whole_gradients) / rate, 0.0
