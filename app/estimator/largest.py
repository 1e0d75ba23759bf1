"""The largest micro-batch and the longest samples that fit a card: a search on the same function as the estimate."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.estimator.estimate import Job, estimate_memory

LARGEST_MICRO_BATCH = 65_536
LONGEST_SEQUENCE = 1_048_576


@dataclass(frozen=True, slots=True)
class Largest:
    """What still fits with everything else as it is; 0 where nothing does, None where the question has no answer."""

    micro_batch_size: int | None
    sequence_length: int | None


def largest_that_fits(job: Job) -> Largest:
    """None for both where the card or its memory is not known; no length for images. Raises RecipeError."""
    if job.card is None or job.card.usable_bytes is None:
        return Largest(None, None)
    batch = _largest(lambda size: _with_batch(job, size), LARGEST_MICRO_BATCH)
    if not job.architecture.counts_tokens:
        return Largest(batch, None)
    longest = LONGEST_SEQUENCE
    if not job.architecture.rotary and job.architecture.longest_tokens is not None:
        # Learned positions end where the table ends.
        longest = job.architecture.longest_tokens
    return Largest(batch, _largest(lambda length: _with_length(job, length), longest))


def _with_batch(job: Job, size: int) -> Job:
    return replace(job, recipe=replace(job.recipe, micro_batch_size=size))


def _with_length(job: Job, length: int) -> Job:
    """The longest sample grows, too, so that the length is not cut short by the data."""
    workload = None if job.workload is None else replace(job.workload, longest_tokens=length, mean_tokens=None)
    return replace(job, recipe=replace(job.recipe, sequence_length=length), workload=workload)


def _largest(job_of: Callable[[int], Job], limit: int) -> int:
    """More never takes less, so bisection finds the last one that fits."""

    def fits(size: int) -> bool:
        return bool(estimate_memory(job_of(size)).footprint.fits)

    if not fits(1):
        return 0
    low = 1
    while low < limit and fits(min(limit, low * 2)):
        low = min(limit, low * 2)
    high = min(limit, low * 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
