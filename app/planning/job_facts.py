"""A plan's recipe in words, for its page: the request's fields under their names on the form."""

from collections.abc import Iterator
from typing import Any

from app.i18n import Message
from app.planning.models import Plan

LABELS = {
    "method": Message("Method"),
    "lora.rank": Message("LoRA rank"),
    "lora.target_modules": Message("LoRA targets"),
    "precision": Message("Precision"),
    "optimizer": Message("Optimizer"),
    "micro_batch_size": Message("Micro-batch"),
    "gradient_accumulation_steps": Message("Accumulation steps"),
    "sequence_length": Message("Length"),
    "image_size": Message("Image size"),
    "gradient_checkpointing": Message("Gradient checkpointing"),
    "attention": Message("Attention"),
    "fused_loss": Message("Fused loss"),
    "keeps_outputs": Message("The loop keeps the logits"),
    "packing": Message("Packing"),
    "workload.train_tokens": Message("Training tokens"),
    "workload.samples": Message("Samples"),
    "workload.epochs": Message("Epochs"),
    "workload.mean_tokens": Message("Mean length"),
    "workload.longest_tokens": Message("Longest"),
    "gpu": Message("GPU"),
    "gpu_count": Message("GPUs"),
    "parallelism": Message("Parallelism"),
    "offload": Message("Offload"),
    "spot.interruptions_per_hour": Message("Interruptions an hour"),
    "spot.checkpoint_interval_minutes": Message("Checkpoint every (min)"),
}
_YES, _NO = Message("yes"), Message("no")


def job_facts(plan: Plan) -> list[tuple[Message, Message | str]]:
    """Label and value of what the plan's request says, in the order of the form."""
    said = dict(_flat(plan.request))
    return [(label, _words(said[name])) for name, label in LABELS.items() if name in said]


def _flat(request: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in request.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _words(value: Any) -> Message | str:
    if isinstance(value, bool):
        return _YES if value else _NO
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
