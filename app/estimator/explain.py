"""What each figure was computed from: its formula's id, its inputs, and where the formula comes from.

``docs/formulas/`` derives each formula under the heading that carries its id.
"""

from dataclasses import dataclass

from app.estimator.estimate import Estimate, Job

Number = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """One figure of the estimate, by its name in the JSON API."""

    figure: str
    formula: str
    inputs: dict[str, Number]
    source: str


_AUTOGRAD = "PyTorch autograd, transformers and PEFT as published; exact steps in tests/estimator/exact_steps.json"


def explain(job: Job, answer: Estimate) -> list[Explanation]:
    """Figures in the order of the answer; those that need a card or a price only where there is one."""
    recipe, cluster, step = job.recipe, job.cluster, answer.step
    sharing: dict[str, Number] = {"parallelism": cluster.parallelism, "gpus": cluster.whole_gpus}
    size: dict[str, Number] = {
        "micro_batch_size": recipe.micro_batch_size,
        "gradient_checkpointing": recipe.gradient_checkpointing,
        "attention": recipe.attention,
    }
    if recipe.image_size is None:
        size["sequence_length"] = recipe.sequence_length
    else:
        size["image_size"] = recipe.image_size
    figures = [
        Explanation(
            "memory.components.weights",
            "memory.weights",
            {"parameters": answer.parameters, "element_bytes": recipe.base_bytes, "method": recipe.method, **sharing},
            "configuration of the model; QLoRA (arXiv 2305.14314) for four bits",
        ),
        Explanation(
            "memory.components.gradients",
            "memory.gradients",
            {"trainable_parameters": answer.trainable_parameters, "moment": step.peak_phase, **sharing},
            _AUTOGRAD,
        ),
        Explanation(
            "memory.components.optimizer_states",
            "memory.optimizer_states",
            {"trainable_parameters": answer.trainable_parameters, "optimizer": recipe.optimizer, **sharing},
            "PyTorch torch.optim; bitsandbytes' block-wise states; ZeRO (arXiv 1910.02054)",
        ),
        Explanation("memory.components.activations", "memory.activations", size, _AUTOGRAD),
        Explanation(
            "memory.peak_allocated_bytes", "memory.moments", {"moment": step.peak_phase, **step.moments}, _AUTOGRAD
        ),
        Explanation("time.flops_per_step", "flops.step", size, "two operations a multiply-add; arXiv 2307.08691"),
    ]
    if job.card is not None:
        figures += _of_the_card(job, answer)
    return figures


def _of_the_card(job: Job, answer: Estimate) -> list[Explanation]:
    card, shape, time = job.card, answer.footprint, answer.time
    assert card is not None  # noqa: S101
    short = answer.step.short_lived
    figures = [
        Explanation(
            "memory.required_bytes",
            "memory.required",
            {
                "peak_allocated_bytes": answer.step.peak_bytes,
                "logits_bytes": short.logits,
                "score_bytes": short.scores,
                "other_short_lived_bytes": short.rest + short.earlier,
                "generation": card.generation,
            },
            "published readings of allocator and driver side by side",
        ),
        Explanation(
            "time.seconds_per_step",
            "time.step",
            {
                "flops_per_step": time.flops_per_step,
                "gpu": card.gpu_id,
                "bandwidth_bytes_per_second": card.bandwidth_bytes_per_second,
                "bound_by": time.bound_by,
            },
            "datasheet rates; published throughputs for the shares that are reached",
        ),
    ]
    figures += [
        Explanation(
            f"memory.other_peaks.{name}",
            f"memory.{name}",
            {"bytes": size, "capacity_bytes": shape.capacity_bytes},
            "the libraries' loading, saving and merging code",
        )
        for name, size in shape.other_bytes.items()
    ]
    if answer.cost is not None and job.price is not None:
        inputs: dict[str, Number] = {"hours": time.hours, "price_per_hour": str(job.price.per_hour)}
        if answer.cost.spot is not None:
            inputs["expected_lost_hours"] = answer.cost.spot.expected_lost_hours
        figures.append(Explanation("cost.amount", "cost.amount", inputs, "Young (CACM 17(9), 1974) for interruptions"))
    return figures
