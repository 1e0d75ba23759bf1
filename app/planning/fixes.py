"""Changes that make a job fit, or cheaper: single ones and pairs, computed by the estimator that will judge them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import Any

from pydantic import ValidationError

from app.errors import InvalidInput
from app.estimator import Estimate, EstimatorError, estimate
from app.money import round_to_minor
from app.planning.changes import cheaper_changes, smaller_changes
from app.planning.inputs import EstimateInput
from app.planning.jobs import ReadModel, prepare

# Of the single changes, so many are tried in pairs; beyond them the pairs repeat themselves.
PAIRED = 6
MOST_FIXES = 24
MOST_SAVINGS = 8

Change = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fix:
    """One change of a request, or two, and what they do; hours and cost are None where they are unknown."""

    change: Change
    is_pair: bool
    saves_bytes: int
    adds_hours: float | None
    saves_cost: Decimal | None
    fits: bool


def fixes_for(wanted: EstimateInput, answer: Estimate, read: ReadModel | None = None) -> list[Fix]:
    """Those that save memory, the ones that make it fit first; none where it fits already."""
    if answer.footprint.fits is not False or answer.footprint.required_bytes is None:
        return []
    singles = [one for one in _tried(wanted, answer, smaller_changes(wanted), read) if _helps(one)]
    # A pair is worth a line where neither of its halves is enough.
    halves = sorted((one for one in singles if not one.fits), key=lambda one: -one.saves_bytes)
    pairs = _tried(wanted, answer, _pairs(halves), read, are_pairs=True)
    return sorted([*singles, *(one for one in pairs if one.fits)], key=_by_fit)[:MOST_FIXES]


def savings_for(wanted: EstimateInput, answer: Estimate, read: ReadModel | None = None) -> list[Fix]:
    """Those that still fit and cost less, the one that saves most first; none where the cost is unknown."""
    if answer.cost is None or answer.footprint.fits is not True:
        return []
    singles = [one for one in _tried(wanted, answer, cheaper_changes(wanted, answer), read) if _saves(one)]
    pairs = [one for one in _tried(wanted, answer, _pairs(singles), read, are_pairs=True) if _saves(one)]
    # A pair that saves no more than one of its halves says nothing new.
    better = [one for one in pairs if all(_saved(one) > _saved(half) for half in singles if _contains(one, half))]
    return sorted([*singles, *better], key=lambda one: -_saved(one))[:MOST_SAVINGS]


def changed_input(wanted: EstimateInput, change: Change) -> EstimateInput:
    """The request with the change applied, as a client would send it; a field set to None is left out."""
    document = wanted.model_dump(mode="json", exclude_none=True) | change
    return EstimateInput.model_validate(
        {name: value for name, value in document.items() if value is not None}
    )


def _saved(fix: Fix) -> Decimal:
    return fix.saves_cost or Decimal(0)


def _contains(pair: Fix, half: Fix) -> bool:
    return all(name in pair.change and pair.change[name] == value for name, value in half.change.items())


def _pairs(singles: Iterable[Fix]) -> Iterator[Change]:
    """Two changes of different fields."""
    chosen = [one.change for one in singles][:PAIRED]
    for first, second in combinations(chosen, 2):
        if not first.keys() & second.keys():
            yield first | second


def _tried(
    wanted: EstimateInput,
    answer: Estimate,
    changes: Iterable[Change],
    read: ReadModel | None,
    *,
    are_pairs: bool = False,
) -> Iterator[Fix]:
    for change in changes:
        try:
            # Nobody asks how likely a proposal is to stay within the budget, and that takes longest.
            changed = estimate(replace(prepare(changed_input(wanted, change), read).job, budget=None))
        except (EstimatorError, InvalidInput, ValidationError):
            # It leads to a job that cannot be, or beyond what a request may say.
            continue
        yield _compared(change, are_pairs, answer, changed)


def _compared(change: Change, is_pair: bool, before: Estimate, after: Estimate) -> Fix:
    hours = cost = None
    if before.time.hours is not None and after.time.hours is not None:
        hours = after.time.hours - before.time.hours
    if before.cost is not None and after.cost is not None:
        # Of the amounts as they are shown, so that applying the change shows exactly this difference.
        cost = round_to_minor(before.cost.amount, before.cost.currency)
        cost -= round_to_minor(after.cost.amount, after.cost.currency)
    saved = (before.footprint.required_bytes or 0) - (after.footprint.required_bytes or 0)
    return Fix(change, is_pair, saved, hours, cost, bool(after.footprint.fits))


def _helps(fix: Fix) -> bool:
    return fix.saves_bytes > 0 or fix.fits


def _saves(fix: Fix) -> bool:
    return fix.fits and _saved(fix) > 0


def _by_fit(fix: Fix) -> tuple[Any, ...]:
    """What makes it fit comes first: one change before two, the one that costs least time first."""
    if fix.fits:
        return (0, fix.is_pair, fix.adds_hours or 0.0, -fix.saves_bytes)
    return (1, -fix.saves_bytes)
