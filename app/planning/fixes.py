"""Single changes that save memory, computed by the same estimator: applying one gives exactly what it promised."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.errors import InvalidInput
from app.estimator import Estimate, EstimatorError, estimate
from app.money import round_to_minor
from app.planning.inputs import EstimateInput
from app.planning.jobs import prepare

SHORTEST_SEQUENCE = 64


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of top-level request fields and what it does; hours and cost are None where they are unknown."""

    change: dict[str, Any]
    saves_bytes: int
    adds_hours: float | None
    saves_cost: Decimal | None
    fits: bool


def fixes_for(wanted: EstimateInput, answer: Estimate) -> list[Fix]:
    """Those that save memory, the ones that make it fit first; none where it fits already."""
    if answer.footprint.fits is not False or answer.footprint.required_bytes is None:
        return []
    found = [fix for change in _changes(wanted) if (fix := _try(wanted, answer, change)) is not None]
    return sorted(found, key=lambda fix: (not fix.fits, -fix.saves_bytes))


def changed_input(wanted: EstimateInput, change: dict[str, Any]) -> EstimateInput:
    """The request with the change applied, as a client would send it; a field set to None is left out."""
    document = wanted.model_dump(mode="json", exclude_none=True) | change
    return EstimateInput.model_validate(
        {name: value for name, value in document.items() if value is not None}
    )


def _try(wanted: EstimateInput, answer: Estimate, change: dict[str, Any]) -> Fix | None:
    try:
        changed = estimate(prepare(changed_input(wanted, change)).job)
    except (EstimatorError, InvalidInput):
        return None
    before, after = answer.footprint.required_bytes or 0, changed.footprint.required_bytes or 0
    if after >= before and not changed.footprint.fits:
        return None
    hours = None
    if answer.time.hours is not None and changed.time.hours is not None:
        hours = changed.time.hours - answer.time.hours
    cost = None
    if answer.cost is not None and changed.cost is not None:
        # Of the amounts as they are shown, so that applying the change shows exactly this difference.
        before_cost = round_to_minor(answer.cost.amount, answer.cost.currency)
        cost = before_cost - round_to_minor(changed.cost.amount, changed.cost.currency)
    return Fix(change, before - after, hours, cost, bool(changed.footprint.fits))


def _changes(wanted: EstimateInput) -> Iterator[dict[str, Any]]:
    if not wanted.gradient_checkpointing:
        yield {"gradient_checkpointing": True}
    if wanted.attention == "eager":
        yield {"attention": "sdpa"}
    if not wanted.fused_loss:
        yield {"fused_loss": True}
    yield from _methods(wanted)
    yield from _batches(wanted)
    yield from _sharing(wanted)
    length = wanted.sequence_length or 512
    if wanted.image_size is None and length // 2 >= SHORTEST_SEQUENCE and (
        wanted.workload is None or wanted.workload.longest_tokens is None
    ):
        yield {"sequence_length": length // 2}
    if wanted.optimizer in (None, "adamw", "adamw_fused"):
        yield {"optimizer": "adamw_8bit"}


def _sharing(wanted: EstimateInput) -> Iterator[dict[str, Any]]:
    """Several cards share weights and states; what is left moves to the host's memory."""
    if (wanted.gpu_count or 1) > 1 and wanted.parallelism not in ("fsdp", "zero3"):
        yield {"parallelism": "fsdp"}
    if wanted.offload in (None, "none"):
        yield {"offload": "optimizer"}
        if wanted.parallelism in ("fsdp", "zero3"):
            yield {"offload": "all"}


def _methods(wanted: EstimateInput) -> Iterator[dict[str, Any]]:
    # Fields that the other method does not know are taken out with null.
    if wanted.method == "full":
        yield {"method": "lora"}
    if wanted.method in ("full", "lora"):
        yield {"method": "qlora", "weights_dtype": None} if wanted.weights_dtype else {"method": "qlora"}


def _batches(wanted: EstimateInput) -> Iterator[dict[str, Any]]:
    """Smaller micro-batches with more accumulation: the effective batch stays."""
    size, steps = wanted.micro_batch_size or 1, wanted.gradient_accumulation_steps or 1
    smaller = size
    while smaller % 2 == 0:
        smaller //= 2
        yield {"micro_batch_size": smaller, "gradient_accumulation_steps": steps * (size // smaller)}
    if smaller > 1:
        yield {"micro_batch_size": 1, "gradient_accumulation_steps": steps * size}
