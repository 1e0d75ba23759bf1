"""The weekly report as data: built once, then written in each format with the same figures.

Amounts of the rows are shown rounded; a total is the exact sum rounded; ``rounding`` is what lies between the total
shown and the sum of the rows shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from app.money import ZERO, round_to_minor, rounding_difference
from app.time import Week, hours_of


@dataclass(frozen=True, slots=True)
class ExactTotals:
    """Sums before rounding, in one currency."""

    instance_us: int = 0
    gpu_us: int = 0
    compute: Decimal = ZERO
    charges: Decimal = ZERO
    listed: Decimal = ZERO

    def __add__(self, other: "ExactTotals") -> "ExactTotals":
        return ExactTotals(
            self.instance_us + other.instance_us,
            self.gpu_us + other.gpu_us,
            self.compute + other.compute,
            self.charges + other.charges,
            self.listed + other.listed,
        )

    def converted(self, rate: Decimal) -> "ExactTotals":
        """The same hours, the money at a rate."""
        return ExactTotals(
            self.instance_us, self.gpu_us, self.compute * rate, self.charges * rate, self.listed * rate
        )


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals as every format shows them."""

    currency: str
    hours: float
    gpu_hours: float
    compute: Decimal
    charges: Decimal
    listed: Decimal
    billed: Decimal
    rounding: Decimal


def shown_totals(exact: ExactTotals, currency: str, rows: Iterable[Decimal] | None) -> Totals:
    """The exact totals rounded; ``billed`` is compute + charges to the last digit shown.

    ``rows`` are the exact amounts of the rows listed beside the totals; None where no rows are listed.
    """
    billed = round_to_minor(exact.compute + exact.charges, currency)
    compute = round_to_minor(exact.compute, currency)
    return Totals(
        currency=currency,
        hours=hours_of(exact.instance_us),
        gpu_hours=hours_of(exact.gpu_us),
        compute=compute,
        charges=billed - compute,
        listed=round_to_minor(exact.listed, currency),
        billed=billed,
        rounding=ZERO if rows is None else rounding_difference(billed, rows, currency),
    )


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run with the part of it that falls into the week; ``cost`` is in ``currency``."""

    id: int
    project_id: int
    project_name: str
    name: str
    started_at: datetime
    ended_at: datetime | None
    state: str
    instance: str
    instance_count: int
    gpu: str | None
    billing: str
    price_per_hour: Decimal
    price_currency: str
    hours: float
    gpu_hours: float
    listed: Decimal
    cost: Decimal
    currency: str
    interruptions: int
    lost_hours: float
    note: str


@dataclass(frozen=True, slots=True)
class ChargeRow:
    """A charge with the part of it that falls into the week; ``amount`` is in ``currency``."""

    id: int
    project_id: int
    project_name: str
    category: str
    service: str
    period_start: datetime
    period_end: datetime
    listed: Decimal
    amount: Decimal
    currency: str
    note: str


@dataclass(frozen=True, slots=True)
class PriceDate:
    """Where a price of the week's runs comes from and how old it is; ``as_of`` None is undated."""

    provider: str
    instance_type: str
    price_per_hour: Decimal
    currency: str
    as_of: date | None
    source: str


@dataclass(frozen=True, slots=True)
class ProjectLine:
    """One project in the report: the week against its plan, and where its budget stands at the week's end."""

    id: int
    name: str
    currency: str
    planned_week: Decimal | None
    billed_week: Decimal
    planned_to_date: Decimal | None
    spent: Decimal
    budget: Decimal
    target: Decimal | None
    state: str


@dataclass(frozen=True, slots=True)
class UsedRate:
    """An exchange rate that stands behind the totals."""

    from_currency: str
    to_currency: str
    rate: Decimal
    day: date
    source: str


@dataclass(frozen=True, slots=True)
class WeeklyReport:
    """Everything a reader sees, in every format alike."""

    week: Week
    team_name: str
    zone_name: str
    project_id: int | None
    project_name: str | None
    starts_at: datetime
    ends_at: datetime
    cut_off: datetime
    totals: Totals
    to_date: Totals
    other_currencies: Sequence[Totals]
    projects: Sequence[ProjectLine]
    runs: Sequence[RunRow]
    charges: Sequence[ChargeRow]
    prices: Sequence[PriceDate]
    rates: Sequence[UsedRate]
    estimator_version: str
    digest: str

    @property
    def currency(self) -> str:
        """The currency of the totals."""
        return self.totals.currency

    @property
    def is_running(self) -> bool:
        """Whether the week is not over yet."""
        return self.cut_off < self.ends_at
