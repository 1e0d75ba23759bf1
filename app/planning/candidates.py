"""Which recipes are worth trying on a card, where the request leaves them open."""

from collections.abc import Iterator
from typing import Any

from app.catalog.gpus import Gpu
from app.planning.inputs import SearchInput

# Samples an optimizer step, all cards together, that the micro-batches are made to add up to.
EFFECTIVE_BATCH = 16
MICRO_BATCHES = (1, 4, 16)


Ladder = list[dict[str, Any]]


def recipes_for(wanted: SearchInput, gpu: Gpu, gpu_count: float) -> Iterator[list[Ladder]]:
    """Recipes as fields of an estimate's body. In a ladder each rung needs more memory than the one before.

    Ladders come in the order of their speed: where one fits to its end, the next of its list is not worth trying.
    """
    shared: dict[str, Any] = {}
    if wanted.precision is None:
        shared["precision"] = "bf16-mixed" if gpu.supports_bf16 else "fp16-mixed"
    cards = max(1, int(gpu_count))
    batches = list(_batches(wanted, cards))

    def ladders(fields: dict[str, Any]) -> list[Ladder]:
        return [
            [shared | fields | {"gradient_checkpointing": checkpointing} | batch for batch in batches]
            for checkpointing in _either(wanted.gradient_checkpointing, (False, True))
        ]

    methods = methods_for(wanted)
    adapters = [method for method in methods if method != "full"]
    if adapters:
        for parallelism in _ways_to_share(wanted, "lora", cards):
            # A base in four bits saves memory and costs time: worth trying where the whole one leaves no room.
            yield [one for method in adapters for one in ladders({"method": method, "parallelism": parallelism})]
    if "full" in methods:
        for parallelism in _ways_to_share(wanted, "full", cards):
            for optimizer in _optimizers(wanted):
                yield ladders({"method": "full", "parallelism": parallelism} | optimizer)


def _optimizers(wanted: SearchInput) -> tuple[dict[str, str], ...]:
    """The states of full fine-tuning are most of its memory."""
    if wanted.optimizer is not None:
        return ({},)
    return ({"optimizer": "adamw_8bit"}, {"optimizer": "adamw"})


def methods_for(wanted: SearchInput) -> tuple[str, ...]:
    """The methods that the request leaves open."""
    if wanted.method is not None:
        return (wanted.method,)
    if wanted.qlora is not None:
        return ("qlora",)
    if wanted.weights_dtype is not None:
        return ("lora",) if wanted.lora is not None else ("lora", "full")
    return ("lora", "qlora") if wanted.lora is not None else ("lora", "qlora", "full")


def _ways_to_share(wanted: SearchInput, method: str, cards: int) -> tuple[str, ...]:
    if wanted.parallelism is not None:
        return (wanted.parallelism,)
    if cards == 1:
        return ("none",)
    return ("fsdp", "ddp") if method != "full" else ("fsdp", "zero2")


def _either(given: Any, usual: tuple[Any, ...]) -> tuple[Any, ...]:
    return usual if given is None else (given,)


def _batches(wanted: SearchInput, cards: int) -> Iterator[dict[str, Any]]:
    """Larger micro-batches with less accumulation: the samples of a step stay about the same."""
    if wanted.micro_batch_size is not None:
        yield {}
        return
    for size in MICRO_BATCHES:
        if wanted.gradient_accumulation_steps is not None:
            yield {"micro_batch_size": size}
        elif size * cards <= max(EFFECTIVE_BATCH, cards):
            steps = max(1, EFFECTIVE_BATCH // (size * cards))
            yield {"micro_batch_size": size, "gradient_accumulation_steps": steps}
