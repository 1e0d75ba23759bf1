"""What a stretch of instance time costs; pure and exact.

Time is whole microseconds, prices are exact decimals, and amounts are rounded half up to a micro-unit once. The cost
is a function of the time elapsed since the instance started, so that a piece of a run is the cost at the piece's end
less the cost at its start: pieces always sum to the run, and a minimum charge falls into the first piece.

    billed time of one instance   B(t) = 0 for t = 0, else ⌈max(t, minimum) / granularity⌉ × granularity
    cost    C(t) = instances × price per hour × (1 − discount) × Σ over tiers (factor × hours of B(t) in the tier)
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise

from app.time import MICROSECONDS_PER_HOUR

_MICRO_UNITS = 1_000_000


@dataclass(frozen=True, slots=True)
class Tier:
    """From so many hours of continuous use on, an hour costs ``factor`` times the list price."""

    from_us: int
    factor: Decimal


@dataclass(frozen=True, slots=True)
class Pricing:
    """The price of one instance.

    ``price_per_hour``: of the whole instance, all its GPUs. ``minimum_us``: billed even when less was used.
    ``granularity_us``: time is billed in whole multiples of it. ``tiers``: ascending; the list price holds before the
    first. ``discount``: a share from 0 to 1 of the amount. Raises ValueError for a price that cannot be.
    """

    price_per_hour: Decimal
    minimum_us: int = 0
    granularity_us: int = 1
    tiers: tuple[Tier, ...] = ()
    discount: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        if self.price_per_hour < 0 or any(tier.factor < 0 for tier in self.tiers):
            raise ValueError("a price cannot be negative")
        if self.minimum_us < 0 or self.granularity_us < 1:
            raise ValueError("the minimum cannot be negative, the granularity must be positive")
        if not 0 <= self.discount <= 1:
            raise ValueError("a discount is a share from 0 to 1")
        starts = [0, *(tier.from_us for tier in self.tiers)]
        if any(later <= earlier for earlier, later in pairwise(starts)):
            raise ValueError("tiers ascend from above zero")

    def at_list_price(self) -> "Pricing":
        """The same without the discount: what ``spent_list`` counts."""
        return replace(self, discount=Decimal(0))


def price_run(price: Pricing, elapsed_us: int, instance_count: int = 1) -> Decimal:
    """The cost of ``instance_count`` instances that ran for ``elapsed_us`` microseconds each; to a micro-unit."""
    return cumulative_cost(price, elapsed_us, instance_count)


def cumulative_cost(price: Pricing, elapsed_us: int, instance_count: int = 1) -> Decimal:
    """The cost ``elapsed_us`` microseconds after the start; it never falls. Raises ValueError for a negative time."""
    return _amount(_exact_cost(price, elapsed_us, instance_count))


def price_pieces(price: Pricing, pieces_us: Sequence[int], instance_count: int = 1) -> list[Decimal]:
    """The costs of a run's consecutive pieces; they sum to ``price_run`` of the whole, exactly."""
    ends = accumulate(pieces_us, initial=0)
    return _differences(cumulative_cost(price, end, instance_count) for end in ends)


@dataclass(frozen=True, slots=True)
class PricedStretch:
    """A part of a run at one price, cut into consecutive pieces (at local midnights, for example)."""

    price: Pricing
    pieces_us: tuple[int, ...]


def price_stretches(stretches: Sequence[PricedStretch], instance_count: int = 1) -> list[list[Decimal]]:
    """The costs of all pieces of a run whose price changed, or whose instance was away in between.

    Continuous use, minimum and granularity begin anew in each stretch. Only running totals are rounded, so that all
    pieces together sum to the run's cost, rounded once.
    """
    exact = [Fraction(0)]
    for stretch in stretches:
        before = exact[-1]
        ends = accumulate(stretch.pieces_us)
        exact += [before + _exact_cost(stretch.price, end, instance_count) for end in ends]
    costs = iter(_differences(_amount(total) for total in exact))
    return [[next(costs) for _ in stretch.pieces_us] for stretch in stretches]


def billed_microseconds(price: Pricing, elapsed_us: int) -> int:
    """The time that is billed for one instance after ``elapsed_us``: minimum and granularity applied."""
    if elapsed_us < 0:
        raise ValueError("time cannot be negative")
    if elapsed_us == 0:
        return 0
    steps = -(-max(elapsed_us, price.minimum_us) // price.granularity_us)
    return steps * price.granularity_us


def _exact_cost(price: Pricing, elapsed_us: int, instance_count: int) -> Fraction:
    if instance_count < 1:
        raise ValueError("there is at least one instance")
    billed_us = billed_microseconds(price, elapsed_us)
    weighted_us = sum((factor * part_us for part_us, factor in _tier_parts(price, billed_us)), Fraction(0))
    price_per_hour = Fraction(price.price_per_hour) * (1 - Fraction(price.discount))
    return price_per_hour * weighted_us * instance_count / MICROSECONDS_PER_HOUR


def _tier_parts(price: Pricing, billed_us: int) -> Iterator[tuple[int, Fraction]]:
    starts = [0, *(tier.from_us for tier in price.tiers)]
    factors = [Fraction(1), *(Fraction(tier.factor) for tier in price.tiers)]
    ends = [*starts[1:], billed_us]
    for start, end, factor in zip(starts, ends, factors, strict=True):
        if billed_us > start:
            yield min(end, billed_us) - start, factor


def _amount(exact: Fraction) -> Decimal:
    """Half up to a micro-unit; exact costs are never negative."""
    micro_units = (exact.numerator * _MICRO_UNITS * 2 + exact.denominator) // (2 * exact.denominator)
    return Decimal(micro_units).scaleb(-6)


def _differences(totals: Iterable[Decimal]) -> list[Decimal]:
    return [later - earlier for earlier, later in pairwise(totals)]
