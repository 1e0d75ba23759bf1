"""What to know before paying: errors, warnings and hints about a job, each with a code."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.catalog.gpus import Gpu
from app.estimator import Estimate
from app.i18n import Message
from app.planning.jobs import Prepared, has_own_links

Level = Literal["error", "warning", "info"]
GIB = 1024**3
AMPERE = 8.0
TURING = 7.5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know; ``advice`` is the id of the checked claim behind it, if there is one."""

    level: Level
    code: str
    message: Message
    advice: str | None = None


def preflight(prepared: Prepared, answer: Estimate) -> list[Finding]:
    """Errors first, then warnings, then hints."""
    findings = [
        *_memory(prepared, answer),
        *_other_moments(answer),
        *_host(prepared, answer),
        *_what_binds(answer),
        *_card(prepared),
        *_recipe(prepared),
        *_money(prepared),
    ]
    order = {"error": 0, "warning": 1, "info": 2}
    return sorted(findings, key=lambda finding: order[finding.level])


def _memory(prepared: Prepared, answer: Estimate) -> Iterator[Finding]:
    footprint = answer.footprint
    required, capacity = footprint.required_bytes, footprint.capacity_bytes
    if required is not None and capacity is not None and required > capacity:
        yield Finding(
            "error",
            "step-does-not-fit",
            Message(
                "A training step needs %(required)s GiB on each card, which has %(capacity)s GiB.",
                required=_gib(required),
                capacity=_gib(capacity),
            ),
        )
        yield from _why_full_does_not_fit(prepared, answer)
    elif footprint.is_tight:
        yield Finding(
            "warning", "tight-fit", Message("It fits, but with little room: the estimate's upper end does not.")
        )


_MOMENTS = {
    "loading": Message("Loading the model needs %(required)s GiB on each card, which has %(capacity)s GiB."),
    "saving": Message("Saving a checkpoint needs %(required)s GiB on each card, which has %(capacity)s GiB."),
    "merging": Message("Merging the adapters needs %(required)s GiB on each card, which has %(capacity)s GiB."),
    "evaluation": Message("Evaluation needs %(required)s GiB on each card, which has %(capacity)s GiB."),
}


def _other_moments(answer: Estimate) -> Iterator[Finding]:
    footprint = answer.footprint
    for name in footprint.too_large:
        sizes = {"required": _gib(footprint.other_bytes[name]), "capacity": _gib(footprint.capacity_bytes or 0)}
        yield Finding("error", f"{name}-does-not-fit", Message(_MOMENTS[name].text, **sizes))


def _host(prepared: Prepared, answer: Estimate) -> Iterator[Finding]:
    given = prepared.host_ram_bytes
    if given is not None and given < answer.host_ram_bytes:
        yield Finding(
            "error",
            "host-memory-too-small",
            Message(
                "The host needs %(required)s GiB of memory and has %(capacity)s GiB.",
                required=_gib(answer.host_ram_bytes),
                capacity=_gib(given),
            ),
        )


def _what_binds(answer: Estimate) -> Iterator[Finding]:
    if answer.time.bound_by == "storage":
        yield Finding("warning", "storage-too-slow", Message("The storage cannot feed the cards: they wait for data."))
    elif answer.time.bound_by == "interconnect":
        yield Finding(
            "warning",
            "interconnect-bound",
            Message("Most of the time goes into traffic between the cards; a faster link or fewer cards pay off."),
        )


def _why_full_does_not_fit(prepared: Prepared, answer: Estimate) -> Iterator[Finding]:
    parts = answer.step.components
    lasting = parts["weights"] + parts["optimizer_states"] + parts["gradients"]
    capacity = answer.footprint.capacity_bytes
    if prepared.job.recipe.method == "full" and capacity is not None and lasting > capacity:
        yield Finding(
            "info",
            "full-needs-states",
            Message(
                "Weights, gradients and optimizer states alone take %(lasting)s GiB. LoRA or QLoRA trains a fraction.",
                lasting=_gib(lasting),
            ),
            "7b-on-24-gb",
        )
        if prepared.job.recipe.is_mixed:
            yield Finding(
                "info",
                "mixed-precision-keeps-fp32",
                Message("Mixed precision shrinks activations only: the fp32 weights stay, with a 16-bit copy."),
                "mixed-precision-halves-memory",
            )


def _card(prepared: Prepared) -> Iterator[Finding]:
    gpu, recipe = prepared.gpu, prepared.job.recipe
    if gpu is None:
        return
    if recipe.precision.startswith("bf16") and not gpu.supports_bf16:
        yield Finding(
            "error", "bf16-unsupported", Message("%(gpu)s has no bf16; use fp16-mixed or fp32.", gpu=gpu.name)
        )
    if recipe.attention == "flash" and _is_older_than_ampere(gpu):
        yield Finding(
            "error",
            "flash-attention-unsupported",
            Message(
                "FlashAttention needs an Ampere card or newer; %(gpu)s is older. Use sdpa.", gpu=gpu.name
            ),
        )
    if prepared.job.cluster.parallelism != "none" and prepared.job.cluster.whole_gpus == 1:
        yield Finding(
            "warning", "parallelism-over-one-gpu", Message("One GPU has nothing to share the work with.")
        )
    if prepared.job.cluster.parallelism == "none" and prepared.job.cluster.whole_gpus > 1:
        yield Finding(
            "warning", "gpus-without-parallelism", Message("Without parallelism only one of the GPUs works.")
        )
    yield from _links(prepared, gpu)
    if gpu.vendor == "NVIDIA" and float(gpu.compute_capability or 99) < TURING:
        yield Finding(
            "warning",
            "pytorch-build-without-card",
            Message("PyTorch's builds for CUDA 13 do not run on %(gpu)s; install a CUDA 12.6 build.", gpu=gpu.name),
            "pytorch-dropped-old-cards",
        )
    if prepared.job.cluster.gpu_count < 1:
        yield Finding(
            "info",
            "slice-of-a-card",
            Message(
                "This is a share of a card: memory and rates are %(percent)s %% of it, and others use the rest.",
                percent=f"{prepared.job.cluster.gpu_count * 100:.3g}",
            ),
        )
    if gpu.memory_bytes is None:
        yield Finding(
            "warning",
            "capacity-unknown",
            Message("The usable memory of this card is not known, so nor is the fit."),
        )


def _links(prepared: Prepared, gpu: Gpu) -> Iterator[Finding]:
    """Cards that work together talk over NVLink or over PCIe."""
    cluster = prepared.job.cluster
    if cluster.whole_gpus == 1 or cluster.parallelism == "none" or has_own_links(gpu):
        return
    if prepared.job.recipe.method == "full":
        message = Message("%(gpu)s has no NVLink: the gradients of all weights go over PCIe.", gpu=gpu.name)
        yield Finding("warning", "full-over-pcie", message, "pcie-is-slow")
    else:
        message = Message("%(gpu)s has no NVLink; the small gradients of adapters hardly suffer.", gpu=gpu.name)
        yield Finding("info", "adapters-over-pcie", message, "pcie-is-slow")


def _is_older_than_ampere(gpu: Gpu) -> bool:
    """By compute capability, which only NVIDIA's cards have as a number."""
    return gpu.vendor == "NVIDIA" and float(gpu.compute_capability or 0) < AMPERE


def _recipe(prepared: Prepared) -> Iterator[Finding]:
    recipe, architecture = prepared.job.recipe, prepared.job.architecture
    longest = architecture.longest_tokens
    if longest is not None and recipe.sequence_length > longest:
        level: Level = "warning" if architecture.rotary else "error"
        yield Finding(
            level,
            "length-past-positions",
            Message("The model was trained on up to %(longest)s tokens a sample.", longest=longest),
        )
    if architecture.unknown_fields:
        yield Finding(
            "info",
            "unknown-config-fields",
            Message(
                "Not understood in the configuration: %(fields)s.",
                fields=", ".join(architecture.unknown_fields),
            ),
        )


def _money(prepared: Prepared) -> Iterator[Finding]:
    job = prepared.job
    if job.price is not None and job.price.billing == "spot":
        rate = 0.0 if job.spot is None else job.spot.interruptions_per_hour
        if rate == 0:
            yield Finding(
                "info",
                "spot-without-interruptions",
                Message("A spot instance can be taken away; no interruptions are counted. Save checkpoints."),
                "spot-may-be-taken-away",
            )
    if job.price is not None and job.price.billing == "monthly":
        message = Message("Paid by the month: the whole month is owed, however few of its hours are used.")
        yield Finding("warning", "month-paid-whole", message)
    if prepared.regions is not None and prepared.regions[0] != prepared.regions[1]:
        yield Finding(
            "warning",
            "data-in-another-region",
            Message(
                "The data lie in %(data)s, the instance in %(instance)s: the traffic costs time and money.",
                data=prepared.regions[0],
                instance=prepared.regions[1],
            ),
            "internal-storage-is-free",
        )


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / GIB:.1f}"
