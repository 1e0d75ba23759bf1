"""``estimate()``: memory, time and cost of one job."""

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal

from app.estimator.adapters import Adapters, place_adapters
from app.estimator.architecture import Architecture
from app.estimator.cost import Cost, job_cost
from app.estimator.duration import INTERVAL, SAVING_BYTES_PER_SECOND, STARTUP_HOURS, step_time
from app.estimator.errors import RecipeError
from app.estimator.flops import step_flops
from app.estimator.footprint import Footprint, footprint, host_ram_bytes
from app.estimator.memory import StepMemory, step_memory
from app.estimator.compiled import compiled
from app.estimator.sharding import Lasting, lasting_bytes, local_recipe, trainable_parameters
from app.estimator.readers.diffusion import at_image_size
from app.estimator.recipe import Card, Cluster, Lora, Price, Recipe, Spot, Workload


@dataclass(frozen=True, slots=True)
class Job:
    """Everything an estimate depends on; of an image model, ``recipe.image_size`` sets the size of its samples."""

    architecture: Architecture
    recipe: Recipe
    workload: Workload | None = None
    card: Card | None = None
    cluster: Cluster = field(default_factory=Cluster)
    price: Price | None = None
    spot: Spot | None = None
    budget: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Time:
    """Durations; None for what needs the card or the workload."""

    flops_per_step: int
    tokens_per_step: int | None
    tokens_per_second: float | None
    seconds_per_step: float | None
    steps: int | None
    hours: float | None
    interval_hours: tuple[float, float] | None
    bound_by: str | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The answer; all memory is of one card, in bytes."""

    parameters: int
    trainable_parameters: int
    step: StepMemory
    footprint: Footprint
    host_ram_bytes: int
    time: Time
    cost: Cost | None


def estimate(job: Job) -> Estimate:
    """Raises RecipeError, naming the field, for what cannot run or is not estimated yet."""
    if job.recipe.image_size is not None:
        job = replace(job, architecture=at_image_size(job.architecture, job.recipe.image_size))
    adapters = _adapters(job)
    longest, mean = _lengths(job)
    step = step_memory(job.architecture, job.recipe, adapters, longest, job.cluster)
    lasting = lasting_bytes(job.architecture, job.recipe, adapters, job.cluster)
    time = _time(job, adapters, lasting, mean)
    cost = None
    if job.price is not None and time.hours is not None and time.interval_hours is not None:
        cost = job_cost(time.hours, time.interval_hours, job.price, job.spot, job.budget)
    return Estimate(
        parameters=job.architecture.parameters,
        trainable_parameters=trainable_parameters(job.architecture, adapters),
        step=step,
        footprint=footprint(step, job.card, job.cluster),
        host_ram_bytes=host_ram_bytes(lasting.weights, job.cluster),
        time=time,
        cost=cost,
    )


def _adapters(job: Job) -> Adapters | None:
    if job.recipe.method == "full":
        if job.recipe.lora is not None:
            raise RecipeError("lora", "not_with_full")
        return None
    return place_adapters(job.architecture, job.recipe.lora or Lora())


def _lengths(job: Job) -> tuple[int, float]:
    """The longest sample drives memory, the mean drives time; with packing every sequence is full."""
    length = job.recipe.sequence_length
    if job.workload is None or job.recipe.packing:
        return length, length
    longest = min(job.workload.longest_tokens or length, length)
    return longest, min(job.workload.mean_tokens or longest, longest)


def _time(job: Job, adapters: Adapters | None, lasting: Lasting, mean: float) -> Time:
    recipe, cluster = job.recipe, job.cluster
    flops = step_flops(job.architecture, recipe, adapters, mean)
    if job.card is None:
        return Time(round(flops.total), None, None, None, None, None, None, None)
    samples = recipe.micro_batch_size * recipe.gradient_accumulation_steps * cluster.whole_gpus
    tokens = round(samples * mean)
    has_tokens = job.architecture.counts_tokens
    plan = compiled(job.architecture, local_recipe(recipe, cluster), adapters)
    step = step_time(job.architecture, recipe, plan, lasting, job.card, cluster, mean)
    steps = _steps(job, tokens)
    hours = None if steps is None else _hours(steps, step.seconds, lasting.weights)
    return Time(
        flops_per_step=round(flops.total),
        tokens_per_step=tokens if has_tokens else None,
        tokens_per_second=tokens / step.seconds if has_tokens else None,
        seconds_per_step=step.seconds,
        steps=steps,
        hours=hours,
        interval_hours=None if hours is None else (hours * INTERVAL[0], hours * INTERVAL[1]),
        bound_by=step.bound_by,
    )


def _steps(job: Job, tokens_per_step: int) -> int | None:
    """Optimizer steps, the last one perhaps not full."""
    workload = job.workload
    if workload is None:
        return None
    if workload.train_tokens is not None:
        return math.ceil(workload.train_tokens / max(1, tokens_per_step))
    if workload.samples is None:
        return None
    samples = job.recipe.micro_batch_size * job.recipe.gradient_accumulation_steps * job.cluster.whole_gpus
    if job.recipe.packing:
        mean = workload.mean_tokens or job.recipe.sequence_length
        return math.ceil(workload.samples * workload.epochs * mean / max(1, tokens_per_step))
    return math.ceil(workload.samples * workload.epochs / samples)


def _hours(steps: int, seconds: float, weights: int) -> float:
    """Steps, start-up with loading the weights, and saving at the end."""
    return steps * seconds / 3600 + STARTUP_HOURS + weights / SAVING_BYTES_PER_SECOND / 3600
