"""What must hold of a run, however it is told: by a form, a script or an import."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from app.errors import FieldError
from app.i18n import Message
from app.money import LARGEST_AMOUNT
from app.time import LARGEST_CLOCK_SKEW, MICROSECONDS_PER_HOUR, microseconds_between, microseconds_of_hours
from app.tracking.hours import RunTime
from app.tracking.inputs import LONGEST_HOURS, RunInput

# Beyond this a sum of many runs could leave the 64-bit integers that store it.
LARGEST_GPU_HOURS = 10_000_000

_AHEAD = Message("This lies ahead of the server's clock.")
_TOO_LONG = Message("This is longer than %(hours)s hours.", hours=LONGEST_HOURS)


def end_of(wanted: RunInput) -> datetime | None:
    """The end as it was said, by an instant or by hours; None while the run goes on."""
    if wanted.hours is None:
        return wanted.ended_at
    return wanted.started_at + timedelta(microseconds=microseconds_of_hours(wanted.hours))


def state_of(wanted: RunInput) -> str:
    """The state as it was said, else what the end says."""
    return wanted.state or ("running" if wanted.ended_at is None and wanted.hours is None else "finished")


def run_faults(wanted: RunInput, now: datetime) -> list[FieldError]:
    """Everything that is wrong with the run's times, state and progress."""
    if wanted.started_at > now + LARGEST_CLOCK_SKEW:
        # What follows from a start that cannot be is not told as well.
        return [FieldError("started_at", _AHEAD)]
    return [
        *_end_faults(wanted, now),
        *_state_faults(wanted),
        *_lost_faults(wanted, now),
        *_step_faults(wanted),
    ]


def size_faults(time: RunTime, costs: Sequence[Decimal]) -> list[FieldError]:
    """What is too large to be stored and summed exactly."""
    faults = []
    if max(costs) > LARGEST_AMOUNT:
        faults.append(FieldError("price_per_hour", Message("This amount is too large.")))
    if max(time.instance_us, time.gpu_us) > LARGEST_GPU_HOURS * MICROSECONDS_PER_HOUR:
        faults.append(FieldError("instance_count", Message("These are too many hours.")))
    return faults


def _end_faults(wanted: RunInput, now: datetime) -> Iterator[FieldError]:
    said = "ended_at" if wanted.hours is None else "hours"
    ended_at = end_of(wanted)
    if wanted.hours is not None and wanted.ended_at is not None:
        yield FieldError("hours", Message("Give either the hours or the end."))
    elif ended_at is None:
        return
    elif ended_at < wanted.started_at:
        yield FieldError("ended_at", Message("The end lies before the start."))
    elif ended_at > now + LARGEST_CLOCK_SKEW:
        yield FieldError(said, _AHEAD)
    elif ended_at - wanted.started_at > timedelta(hours=LONGEST_HOURS):
        yield FieldError(said, _TOO_LONG)


def _state_faults(wanted: RunInput) -> Iterator[FieldError]:
    has_end = end_of(wanted) is not None
    if has_end and wanted.state == "running":
        yield FieldError("state", Message("A run with an end is not running."))
    if not has_end and wanted.state not in (None, "running"):
        yield FieldError("ended_at", Message("Give the end or the hours of a run that is over."))


def _lost_faults(wanted: RunInput, now: datetime) -> Iterator[FieldError]:
    elapsed_us = microseconds_between(wanted.started_at, end_of(wanted) or now)
    if microseconds_of_hours(wanted.lost_hours) > max(elapsed_us, 0):
        yield FieldError("lost_hours", Message("More hours are lost than were run."))


def _step_faults(wanted: RunInput) -> Iterator[FieldError]:
    started, done, total = wanted.steps_started, wanted.steps_done, wanted.steps_total
    if started is not None and done is not None and done < started:
        yield FieldError("steps_done", Message("Fewer steps are done than the run started from."))
    if total is not None and done is not None and done > total:
        yield FieldError("steps_done", Message("More steps are done than there are in all."))
