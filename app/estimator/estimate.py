"""``estimate()``: memory, time and cost of one job."""

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from app.estimator.adapters import adapters_of
from app.estimator.architecture import Architecture
from app.estimator.compiled import Compiled, compiled
from app.estimator.cost import Cost, billed_hours, job_cost
from app.estimator.duration import (
    CHECKPOINT_PAUSE_SECONDS,
    INTERVAL,
    STARTUP_HOURS,
    USUAL_STORAGE_BYTES_PER_SECOND,
    step_time,
)
from app.estimator.errors import RecipeError
from app.estimator.flops import step_flops
from app.estimator.footprint import Footprint, footprint, host_ram_bytes
from app.estimator.memory import StepMemory, step_memory
from app.estimator.odds import Hours
from app.estimator.other_peaks import OtherPeaks, other_peaks
from app.estimator.readers.diffusion import at_image_size
from app.estimator.recipe import Card, Cluster, Price, Recipe, Spot, Workload
from app.estimator.sharding import Lasting, lasting_bytes, local_recipe


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
    storage_bytes_per_second: float | None = None


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
    memory = estimate_memory(job)
    lasting = memory.lasting
    answer = Estimate(
        parameters=memory.architecture.parameters,
        trainable_parameters=lasting.trainable,
        step=memory.step,
        footprint=memory.footprint,
        host_ram_bytes=host_ram_bytes(lasting.weights, lasting.host, job.cluster),
        time=_time(job, memory),
        cost=None,
    )
    return _priced(answer, job)


def _priced(answer: Estimate, job: Job) -> Estimate:
    """With its cost, and with the checkpoints on the way among its hours."""
    time, cost, spot = answer.time, None, job.spot
    if time.hours is None or time.interval_hours is None:
        return answer
    low, high = time.interval_hours
    if job.price is not None:
        cost = job_cost(Hours(low, time.hours, high), job.price, spot, job.budget)
    if spot is not None:
        hours = billed_hours(time.hours, spot)
        time = replace(time, hours=hours, interval_hours=(billed_hours(low, spot), billed_hours(high, spot)))
    return replace(answer, time=time, cost=cost)


@dataclass(frozen=True, slots=True)
class Memory:
    """What a job needs of its cards, and what that was computed from."""

    architecture: Architecture  # at the size of the job's images
    plan: Compiled
    lasting: Lasting
    step: StepMemory
    footprint: Footprint


def estimate_memory(job: Job) -> Memory:
    """The memory alone. Raises RecipeError."""
    held = _held(job.architecture, job.recipe, _lengths(job)[0], job.cluster)
    return Memory(
        held.architecture,
        held.plan,
        held.lasting,
        held.step,
        footprint(held.step, held.other_peaks, job.card, job.cluster),
    )


class _Held(NamedTuple):
    """What does not depend on the card."""

    architecture: Architecture
    plan: Compiled
    lasting: Lasting
    step: StepMemory
    other_peaks: OtherPeaks


@lru_cache(maxsize=1024)
def _held(architecture: Architecture, recipe: Recipe, longest: int, cluster: Cluster) -> _Held:
    """From memory where the same recipe was computed before: a search asks for every card."""
    if recipe.image_size is not None:
        architecture = at_image_size(architecture, recipe.image_size)
    if recipe.method == "full" and recipe.lora is not None:
        raise RecipeError("lora", "not_with_full")
    adapters = adapters_of(architecture, recipe)
    lasting = lasting_bytes(architecture, recipe, adapters, cluster)
    local = local_recipe(recipe, cluster)
    plan = compiled(architecture, local)
    step = step_memory(architecture, local, plan, lasting, longest, cluster)
    others = other_peaks(architecture, recipe, adapters, lasting, longest)
    return _Held(architecture, plan, lasting, step, others)


def _lengths(job: Job) -> tuple[int, float]:
    """The longest sample drives memory, the mean drives time; with packing every sequence is full."""
    length = job.recipe.sequence_length
    if job.workload is None or job.recipe.packing:
        return length, length
    longest = min(job.workload.longest_tokens or length, length)
    return longest, min(job.workload.mean_tokens or longest, longest)


def _time(job: Job, memory: Memory) -> Time:
    recipe, cluster, architecture = job.recipe, job.cluster, memory.architecture
    mean = _lengths(job)[1]
    flops = round(step_flops(architecture, recipe, memory.plan, mean).total)
    if job.card is None:
        return Time(flops, None, None, None, None, None, None, None)
    samples = recipe.micro_batch_size * recipe.gradient_accumulation_steps * cluster.whole_gpus
    tokens = round(samples * mean)
    has_tokens = architecture.counts_tokens
    step = step_time(
        architecture, recipe, memory.plan, memory.lasting, job.card, cluster, mean, job.storage_bytes_per_second
    )
    steps = _steps(job, tokens)
    hours = None if steps is None else _hours(job, steps, step.seconds, memory.lasting.weights)
    return Time(
        flops_per_step=flops,
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


def checkpoint_seconds(
    architecture: Architecture, recipe: Recipe, storage_bytes_per_second: float | None = None
) -> float:
    """What a checkpoint on the way takes: trained weights and optimizer states of all cards, through the storage."""
    adapters = adapters_of(architecture, recipe)
    lasting = lasting_bytes(architecture, replace(recipe, offload="none"), adapters, Cluster())
    size = lasting.gradients + lasting.optimizer_states
    rate = storage_bytes_per_second or USUAL_STORAGE_BYTES_PER_SECOND
    return CHECKPOINT_PAUSE_SECONDS + size / rate


def _hours(job: Job, steps: int, seconds: float, weights: int) -> float:
    """Steps, start-up with loading the weights, and saving at the end."""
    rate = job.storage_bytes_per_second or USUAL_STORAGE_BYTES_PER_SECOND
    return steps * seconds / 3600 + STARTUP_HOURS + 2 * weights / rate / 3600
