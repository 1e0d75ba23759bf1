"""The changes of a request that are worth trying: for less memory, and for less money."""

from collections.abc import Iterator
from typing import Any

from app.catalog.gpus import find_gpu
from app.estimator import Estimate
from app.planning.inputs import LONGEST_INTERVAL_MINUTES, EstimateInput

SHORTEST_SEQUENCE = 64
AMPERE = 8.0

Change = dict[str, Any]


def smaller_changes(wanted: EstimateInput) -> Iterator[Change]:
    """Each takes less memory, or might."""
    if not wanted.gradient_checkpointing:
        yield {"gradient_checkpointing": True}
    if wanted.attention == "eager":
        yield {"attention": "sdpa"}
    if not wanted.fused_loss:
        yield {"fused_loss": True}
    yield from _smaller_methods(wanted)
    yield from _smaller_batches(wanted)
    yield from _sharing(wanted)
    length = wanted.sequence_length or 512
    if wanted.image_size is None and length // 2 >= SHORTEST_SEQUENCE and (
        wanted.workload is None or wanted.workload.longest_tokens is None
    ):
        yield {"sequence_length": length // 2}
    if wanted.optimizer in (None, "adamw", "adamw_fused"):
        yield {"optimizer": "adamw_8bit"}


def cheaper_changes(wanted: EstimateInput, answer: Estimate) -> Iterator[Change]:
    """Each trains the same, in less time or with less lost to interruptions."""
    if wanted.gradient_checkpointing:
        yield {"gradient_checkpointing": False}
    if wanted.attention != "flash" and _has_flash_attention(wanted):
        yield {"attention": "flash"}
    if wanted.method == "qlora":
        yield {"method": "lora", "qlora": None} if wanted.qlora else {"method": "lora"}
    if wanted.offload not in (None, "none"):
        yield {"offload": "none"}
    yield from _larger_batches(wanted)
    yield from _better_interval(wanted, answer)


def _has_flash_attention(wanted: EstimateInput) -> bool:
    gpu = None if wanted.gpu is None else find_gpu(wanted.gpu)
    return gpu is not None and gpu.vendor == "NVIDIA" and float(gpu.compute_capability or 0) >= AMPERE


def _larger_batches(wanted: EstimateInput) -> Iterator[Change]:
    """With less accumulation, so that the samples of a step stay."""
    size, steps = wanted.micro_batch_size or 1, wanted.gradient_accumulation_steps or 1
    for factor in (2, 4, 8, 16):
        if steps % factor == 0:
            yield {"micro_batch_size": size * factor, "gradient_accumulation_steps": steps // factor}


def _better_interval(wanted: EstimateInput, answer: Estimate) -> Iterator[Change]:
    spot = None if answer.cost is None else answer.cost.spot
    best = None if spot is None else spot.optimal_checkpoint_interval_minutes
    if best:
        given = {} if wanted.spot is None else wanted.spot.model_dump(exclude_none=True)
        yield {"spot": given | {"checkpoint_interval_minutes": min(max(1, round(best)), LONGEST_INTERVAL_MINUTES)}}


def _sharing(wanted: EstimateInput) -> Iterator[Change]:
    """Several cards share weights and states; what is left moves to the host's memory."""
    if (wanted.gpu_count or 1) > 1 and wanted.parallelism not in ("fsdp", "zero3"):
        yield {"parallelism": "fsdp"}
    if wanted.offload in (None, "none"):
        yield {"offload": "optimizer"}
        if wanted.parallelism in ("fsdp", "zero3"):
            yield {"offload": "all"}


def _smaller_methods(wanted: EstimateInput) -> Iterator[Change]:
    # Fields that the other method does not know are taken out with null.
    if wanted.method == "full":
        yield {"method": "lora"}
    if wanted.method in ("full", "lora"):
        yield {"method": "qlora", "weights_dtype": None} if wanted.weights_dtype else {"method": "qlora"}


def _smaller_batches(wanted: EstimateInput) -> Iterator[Change]:
    """With more accumulation: the samples of a step stay."""
    size, steps = wanted.micro_batch_size or 1, wanted.gradient_accumulation_steps or 1
    smaller = size
    while smaller % 2 == 0:
        smaller //= 2
        yield {"micro_batch_size": smaller, "gradient_accumulation_steps": steps * (size // smaller)}
    if smaller > 1:
        yield {"micro_batch_size": 1, "gradient_accumulation_steps": steps * size}
