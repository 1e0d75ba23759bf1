"""A plan's request in words: its fields under their names on the form, its choices as people call them."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.catalog.gpus import find_gpu
from app.catalog.known_models import find_model
from app.i18n import Message
from app.planning.models import PlanState

# What the page of a plan lists as its job, in the order of the form.
JOB_LABELS = {
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
    "gpu_count": Message("Number of GPUs"),
    "parallelism": Message("Parallelism"),
    "offload": Message("Offload"),
    "spot.interruptions_per_hour": Message("Interruptions an hour"),
    "spot.checkpoint_interval_minutes": Message("Checkpoint every (min)"),
}
# What else a request may say; what is not among them goes by its name in the API.
LABELS = {"model": Message("Model")} | JOB_LABELS | {
    "offer": Message("Offer"),
    "starts_on": Message("Starts on"),
    "hours_per_week": Message("Hours a week"),
    "planned_hours": Message("Planned hours"),
    "price.per_hour": Message("Price per hour"),
    "price.currency": Message("Currency"),
    "price.billing": Message("Billing"),
    "spot.checkpoint_seconds": Message("A checkpoint takes (s)"),
    "spot.restart_minutes": Message("A restart takes (min)"),
    "spot.notice_seconds": Message("Notice before the end"),
    "spot.price_spread_percent": Message("The price moves by"),
    "budget": Message("Budget to stay within"),
    "deadline_hours": Message("Done within"),
    "data_region": Message("Region of the data"),
    "region": Message("Region"),
}
_YES, _NO = Message("yes"), Message("no")
_WORDS: Mapping[str, Mapping[str, Message | str]] = {
    "method": {"lora": "LoRA", "qlora": "QLoRA", "full": Message("full")},
    "optimizer": {
        "adamw": "AdamW",
        "adamw_fused": "AdamW fused",
        "adamw_8bit": "AdamW 8-bit",
        "paged_adamw_8bit": "AdamW 8-bit paged",
        "sgd": "SGD",
        "sgd_momentum": "SGD momentum",
        "adafactor": "Adafactor",
        "lion": "Lion",
    },
    "attention": {"sdpa": "SDPA", "flash": "FlashAttention", "eager": Message("eager")},
    "parallelism": {
        "none": Message("none"),
        "ddp": Message("data-parallel"),
        "zero1": "ZeRO-1",
        "zero2": "ZeRO-2",
        "zero3": "ZeRO-3",
        "fsdp": "FSDP",
    },
    "offload": {
        "none": Message("nothing"),
        "optimizer": Message("optimizer states"),
        "all": Message("optimizer states and weights"),
    },
    "price.billing": {"on_demand": Message("on demand"), "spot": Message("spot"), "monthly": Message("monthly")},
}


def job_facts(plan: PlanState) -> list[tuple[Message, Message | str]]:
    """Label and value of what the plan's request says of its job."""
    said = dict(flat_request(plan.request))
    return [(label, value_in_words(name, said[name])) for name, label in JOB_LABELS.items() if name in said]


def flat_request(request: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Its fields by their dotted names; a model's configuration is one of them."""
    for name, value in request.items():
        if isinstance(value, Mapping) and name != "config":
            yield from flat_request(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def value_in_words(name: str, value: Any) -> Message | str:
    """A field's value as a person reads it."""
    if isinstance(value, bool):
        return _YES if value else _NO
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return "config.json"
    if isinstance(value, str):
        return _WORDS.get(name, {}).get(value) or _catalogue_name(name, value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _catalogue_name(name: str, value: str) -> str:
    found = find_gpu(value) if name == "gpu" else find_model(value) if name == "model" else None
    return value if found is None else found.name
