"""What each card keeps of weights, gradients and optimizer states: alone, copied (DDP), or shared out (ZeRO, FSDP).

ZeRO (arXiv 1910.02054) shares out optimizer states (stage 1), gradients too (2), weights too (3); with 16-bit training
it keeps an fp32 master copy of what is trained beside the states. FSDP (arXiv 2304.11277) shares out everything;
weights are held in their own type and gathered in 16 bits, one layer while the next is on its way.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from app.estimator.adapters import Adapters
from app.estimator.architecture import Architecture
from app.estimator.optimizer import state_bytes, step_bytes
from app.estimator.recipe import Cluster, Recipe

# NF4: half a byte an element; absmax in fp32 per 64, or quantised to uint8 per 64 with fp32 per 256 of those
# (QLoRA, arXiv 2305.14314).
NF4_BYTES = 0.5
ABSMAX_BYTES = {True: 1 / 64 + 4 / (64 * 256), False: 4 / 64}
# DeepSpeed's defaults for its reduction and gathering buckets, in elements (its configuration's documentation).
BUCKET_ELEMENTS = 500_000_000
# Layers that are gathered at once: the one that computes and the one fetched ahead.
GATHERED_LAYERS = 2


@dataclass(frozen=True, slots=True)
class Lasting:
    """Bytes of one card. ``gradients``: of all trained weights, as they are kept between micro-batches."""

    weights: int
    optimizer_states: int
    gradients: int
    gradient_share: float  # kept bytes for each byte that backward makes
    passing: int  # alive through forward and backward: gathered layers, buckets, one layer's whole gradients
    step: int  # alive only while the optimizer works
    trainable: int
    host: int  # kept in the host's memory instead
    gathered: int = 0  # the weights as they travel between cards, whole


def local_recipe(recipe: Recipe, cluster: Cluster) -> Recipe:
    """The recipe as one card computes it: sharded mixed precision gathers its weights in 16 bits."""
    if cluster.shards and recipe.is_mixed and recipe.weights_dtype is None and recipe.method == "full":
        return replace(recipe, weights_dtype="bf16" if recipe.precision.startswith("bf16") else "fp16")
    return recipe


def trainable_parameters(architecture: Architecture, adapters: Adapters | None) -> int:
    """Elements that are trained."""
    return architecture.parameters if adapters is None else adapters.parameters


@lru_cache(maxsize=256)
def quantised_elements(architecture: Architecture) -> int:
    """Elements of the matrices that QLoRA holds in four bits: the blocks' linear layers but the routers."""
    return sum(
        block.layers * linear.weights
        for block in architecture.blocks
        for linear in block.linears
        if linear.role not in ("router", "shared_router")
    )


def base_weight_bytes(architecture: Architecture, recipe: Recipe, element_bytes: int | None = None) -> float:
    """Bytes of the base's weights, in their own type or in ``element_bytes``; four bits where they are quantised."""
    width = element_bytes or recipe.base_bytes
    total = float(architecture.parameters * width) + architecture.frozen_parameters * 2.0
    if recipe.method == "qlora":
        each = NF4_BYTES + ABSMAX_BYTES[recipe.double_quantization]
        total += quantised_elements(architecture) * (each - width)
    return total


def lasting_bytes(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, cluster: Cluster
) -> Lasting:
    """What one card keeps."""
    trainable = trainable_parameters(architecture, adapters)
    if not cluster.shards:
        return _whole(architecture, recipe, adapters, cluster, trainable)
    if cluster.parallelism == "fsdp":
        return _fsdp(architecture, recipe, adapters, cluster, trainable)
    return _zero(architecture, recipe, adapters, cluster, trainable)


def _whole(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, cluster: Cluster, trainable: int
) -> Lasting:
    width = recipe.base_bytes if adapters is None else recipe.adapter_bytes
    base = base_weight_bytes(architecture, recipe)
    gradients = trainable * width
    states = state_bytes(recipe, trainable, width)
    offloaded = states if recipe.offload != "none" else 0
    # PyTorch DDP keeps a second copy of the gradients in its buckets (bucket views are off by default).
    buckets = gradients if cluster.parallelism == "ddp" and cluster.whole_gpus > 1 else 0
    largest = architecture.head_weights if recipe.method == "full" else 0
    step = 0 if offloaded else step_bytes(recipe, trainable, width, largest)
    adapter_weights = 0 if adapters is None else trainable * width
    return Lasting(
        weights=round(base + adapter_weights) + 0,
        optimizer_states=states - offloaded,
        gradients=gradients,
        gradient_share=1.0,
        passing=buckets,
        step=step + buckets,
        trainable=trainable,
        host=offloaded,
    )


def _layer_elements(architecture: Architecture) -> int:
    return max((block.parameters for block in architecture.blocks), default=0)


def _fsdp(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, cluster: Cluster, trainable: int
) -> Lasting:
    count, compute = cluster.whole_gpus, recipe.compute_bytes
    width = recipe.base_bytes if adapters is None else recipe.adapter_bytes
    base = base_weight_bytes(architecture, recipe)
    adapter_weights = 0 if adapters is None else trainable * width
    weights = (base + adapter_weights) / count
    states = state_bytes(recipe, trainable, width) / count
    gradients = trainable * width / count
    each = base_weight_bytes(architecture, recipe, compute) / max(1, architecture.parameters)
    layer = _layer_elements(architecture) * each
    # The root unit: tables, head and last norm stay gathered from the first layer to the last.
    inside = sum(block.layers * block.parameters for block in architecture.blocks)
    root = (architecture.parameters - inside) * compute
    passing = root + GATHERED_LAYERS * layer
    if adapters is None:
        passing += _layer_elements(architecture) * compute
    made = trainable * (compute if adapters is None else width)
    step = step_bytes(recipe, trainable // count, width, 0)
    offloaded = 0.0
    if recipe.offload == "all":
        offloaded, weights, gradients, states, step = weights + gradients + states, 0.0, 0.0, 0.0, 0
    elif recipe.offload == "optimizer":
        offloaded, states, step = states, 0.0, 0
    return Lasting(
        weights=round(weights),
        optimizer_states=round(states),
        gradients=round(gradients),
        gradient_share=gradients / made if made else 1.0,
        passing=round(passing),
        step=round(step),
        trainable=trainable,
        host=round(offloaded),
        gathered=round(each * architecture.parameters),
    )


def _zero(
    architecture: Architecture, recipe: Recipe, adapters: Adapters | None, cluster: Cluster, trainable: int
) -> Lasting:
    count, stage = cluster.whole_gpus, int(cluster.parallelism[-1])
    compute = recipe.compute_bytes
    # DeepSpeed trains 16-bit weights and keeps fp32 masters; in fp32 there is nothing to master.
    width = compute if adapters is None or compute == 2 else recipe.adapter_bytes
    base = base_weight_bytes(architecture, recipe, compute)
    adapter_weights = 0 if adapters is None else trainable * width
    weights = (base + adapter_weights) / (count if stage == 3 else 1)
    masters = 4 * trainable / count if compute == 2 else 0.0
    states = state_bytes(recipe, trainable, 4) / count + masters
    made = trainable * width
    gradients = made / (count if stage >= 2 else 1)
    bucket = min(BUCKET_ELEMENTS, trainable) * width
    passing = 2.0 * bucket
    if stage == 3:
        each = base / max(1, architecture.parameters)
        passing += GATHERED_LAYERS * _layer_elements(architecture) * each
    # The optimizer works on fp32 gradients of its share.
    step = 4 * trainable / count if compute == 2 else 0.0
    offloaded = 0.0
    if recipe.offload != "none":
        offloaded, states, step = states, 0.0, 0.0
        if stage >= 2:
            offloaded, gradients = offloaded + gradients, 0.0
    if recipe.offload == "all" and stage == 3:
        offloaded, weights = offloaded + weights, 0.0
    return Lasting(
        weights=round(weights),
        optimizer_states=round(states),
        gradients=round(gradients),
        gradient_share=gradients / made if made else 1.0,
        passing=round(passing),
        step=round(step),
        trainable=trainable,
        host=round(offloaded),
        gathered=round(base) if stage == 3 else 0,
    )
