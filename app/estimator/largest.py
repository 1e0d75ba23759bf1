"""The largest micro-batch and the longest samples that fit a card: a search on the same function as the estimate."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

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
    # A search asks for many offers of the same card.
    return _largest_of(replace(job, price=None, spot=None, budget=None))


@lru_cache(maxsize=256)
def _largest_of(job: Job) -> Largest:
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
    """More never takes less, so the last one that fits lies between one that does and one that does not.

    What is needed grows almost in a straight line, so a line through the two finds it in a few steps; where it bends,
    every third step halves what is left.
    """

    def left(size: int) -> int:
        found = estimate_memory(job_of(size)).footprint.spare_bytes
        assert found is not None  # noqa: S101 - the card's memory is known
        return found

    low, low_left = 1, left(1)
    if low_left < 0:
        return 0
    high, high_left = low, low_left
    while high_left >= 0:
        if high == limit:
            return limit
        low, low_left = high, high_left
        high = min(limit, high * 16)
        high_left = left(high)
    steps = 0
    while high - low > 1:
        steps += 1
        share = 0.5 if steps % 3 == 0 else low_left / (low_left - high_left)
        middle = min(max(low + int((high - low) * share), low + 1), high - 1)
        middle_left = left(middle)
        if middle_left >= 0:
            low, low_left = middle, middle_left
        else:
            high, high_left = middle, middle_left
    return low
