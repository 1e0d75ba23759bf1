"""What a run costs, and what of it falls on each local day in the project's currency; pure.

An amount is rounded to a micro-unit once; a day's part is the cumulative cost at its end less that at its start, so
that the parts always sum to the run. Another currency is converted before the rounding, not after it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from itertools import chain, pairwise
from zoneinfo import ZoneInfo

from app.catalog.pricing import Pricing, cumulative_cost, price_run
from app.projects.budget import DaySpend
from app.tracking.hours import RunTime, split_hours

# A price has at most 17 digits, a rate at most 21: their product is exact.
_EXACT_DIGITS = 60


def run_cost(time: RunTime, pricing: Pricing, rate: Decimal = Decimal(1)) -> Decimal:
    """The run's cost to a micro-unit; ``rate`` brings the price's currency into another one."""
    return price_run(_converted(pricing, rate), time.elapsed_us, time.instance_count)


def run_days(time: RunTime, pricing: Pricing, rate: Decimal, zone: ZoneInfo) -> list[DaySpend]:
    """The run's spend by local day; its amounts sum to ``run_cost`` at that rate."""
    parts = split_hours(time, zone)
    billed = _converted(pricing, rate)
    costs = _steps(cumulative_cost(billed, part.until_us, time.instance_count) for part in parts)
    listed = billed.at_list_price()
    list_costs = _steps(cumulative_cost(listed, part.until_us, time.instance_count) for part in parts)
    return [
        DaySpend(part.day, list_cost, cost, part.instance_us, part.gpu_us)
        for part, list_cost, cost in zip(parts, list_costs, costs, strict=True)
    ]


def _converted(pricing: Pricing, rate: Decimal) -> Pricing:
    with localcontext(prec=_EXACT_DIGITS):
        return replace(pricing, price_per_hour=pricing.price_per_hour * rate)


def _steps(totals: Iterable[Decimal]) -> Iterator[Decimal]:
    return (now - before for before, now in pairwise(chain([Decimal(0)], totals)))
