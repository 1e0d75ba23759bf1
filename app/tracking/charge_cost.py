"""What a charge spends on each local day, in the project's currency; pure.

The amount is spread over the period in proportion to time, by cumulative amounts that are rounded to a micro-unit, so
that the parts always sum to the charge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

from app.projects.budget import DaySpend
from app.time import DayPiece, split_by_day

_MICRO_UNITS = 1_000_000


@dataclass(frozen=True, slots=True)
class ChargeTerms:
    """An amount, negative for credits and refunds, with its list price and what converts both."""

    amount: Decimal
    list_amount: Decimal
    rate: Decimal = Decimal(1)

    @property
    def cost(self) -> Decimal:
        """The amount in the project's currency, to a micro-unit."""
        return converted(self.amount, self.rate)

    @property
    def list_cost(self) -> Decimal:
        """The list price in the project's currency, to a micro-unit."""
        return converted(self.list_amount, self.rate)


def converted(amount: Decimal, rate: Decimal) -> Decimal:
    """The amount at the rate, rounded to a micro-unit once."""
    return _to_micro(Fraction(amount) * Fraction(rate))


def charge_days(
    terms: ChargeTerms, period_start: datetime, period_end: datetime, zone: ZoneInfo
) -> list[DaySpend]:
    """One entry a local day of ``[period_start, period_end)``; an empty period falls whole on its day."""
    pieces = list(split_by_day(period_start, period_end, zone))
    shares = list(_cumulative_shares(pieces))
    costs = _parts(Fraction(terms.amount) * Fraction(terms.rate), shares)
    list_costs = _parts(Fraction(terms.list_amount) * Fraction(terms.rate), shares)
    return [
        DaySpend(piece.day, list_cost, cost)
        for piece, list_cost, cost in zip(pieces, list_costs, costs, strict=True)
    ]


def _cumulative_shares(pieces: Sequence[DayPiece]) -> Iterator[Fraction]:
    """How much of the period is over at the end of each piece."""
    whole = sum(piece.microseconds for piece in pieces)
    elapsed = 0
    for piece in pieces:
        elapsed += piece.microseconds
        yield Fraction(elapsed, whole) if whole else Fraction(1)


def _parts(amount: Fraction, shares: Sequence[Fraction]) -> Iterator[Decimal]:
    before = Decimal(0)
    for share in shares:
        now = _to_micro(amount * share)
        yield now - before
        before = now


def _to_micro(exact: Fraction) -> Decimal:
    """Half up, away from zero, so that a refund is the mirror of what it refunds."""
    size = abs(exact) * _MICRO_UNITS
    micro_units = (2 * size.numerator + size.denominator) // (2 * size.denominator)
    return Decimal(micro_units if exact >= 0 else -micro_units).scaleb(-6)
