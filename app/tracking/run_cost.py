"""What a run or a charge spends on each local day, in the project's currency; pure.

A run's cost is rounded to a micro-unit once; a day's part is the cumulative cost at its end minus that at its start, so
the parts always sum to the run. A charge is spread over its period in proportion to time by the same rule.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from app.catalog.pricing import Pricing, cumulative_cost
from app.money import round_to_micro
from app.projects.budget import DaySpend
from app.time import DayPiece, split_by_day


@dataclass(frozen=True, slots=True)
class RunHours:
    """A run's stretch of time and what runs in it; ``gpus_per_instance`` can be a fraction."""

    started_at: datetime
    ended_at: datetime
    instance_count: int
    gpus_per_instance: Decimal


def run_days(hours: RunHours, pricing: Pricing, rate: Decimal, zone: ZoneInfo) -> list[DaySpend]:
    """One entry a local day; ``rate`` brings the price's currency into the project's."""
    pieces = list(split_by_day(hours.started_at, hours.ended_at, zone))
    totals = _cumulative(
        (cumulative_cost(pricing, elapsed, hours.instance_count) for elapsed in _elapsed(pieces)), rate
    )
    return [
        DaySpend(
            local_day=piece.day,
            list_amount=amount,
            billed_amount=amount,
            instance_us=piece.microseconds * hours.instance_count,
            gpu_us=gpu_us,
        )
        for piece, amount, gpu_us in zip(pieces, totals, _gpu_microseconds(pieces, hours), strict=True)
    ]


def charge_days(
    amount: Decimal,
    list_amount: Decimal,
    period_start: datetime,
    period_end: datetime,
    rate: Decimal,
    zone: ZoneInfo,
) -> list[DaySpend]:
    """One entry a local day of ``[period_start, period_end)``; an empty period falls whole on its day."""
    pieces = list(split_by_day(period_start, period_end, zone))
    whole = sum(piece.microseconds for piece in pieces)
    shares = [elapsed / whole if whole else Decimal(1) for elapsed in map(Decimal, _elapsed(pieces))]
    billed = _cumulative((amount * share for share in shares), rate)
    listed = _cumulative((list_amount * share for share in shares), rate)
    return [
        DaySpend(piece.day, list_part, billed_part)
        for piece, list_part, billed_part in zip(pieces, listed, billed, strict=True)
    ]


def _elapsed(pieces: Iterable[DayPiece]) -> Iterator[int]:
    elapsed = 0
    for piece in pieces:
        elapsed += piece.microseconds
        yield elapsed


def _cumulative(totals: Iterable[Decimal], rate: Decimal) -> list[Decimal]:
    """Differences of the converted and rounded running totals."""
    parts: list[Decimal] = []
    before = Decimal(0)
    for total in totals:
        now = round_to_micro(total * rate)
        parts.append(now - before)
        before = now
    return parts


def _gpu_microseconds(pieces: Sequence[DayPiece], hours: RunHours) -> Iterator[int]:
    """Whole microseconds that sum to the run's GPU time also when a GPU is shared."""
    before = 0
    for elapsed in _elapsed(pieces):
        now = int((elapsed * hours.instance_count * hours.gpus_per_instance).to_integral_value())
        yield now - before
        before = now
