"""Two plans side by side, or two versions of one: every line with what is different."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from app.i18n import Message
from app.planning.job_facts import LABELS, flat_request, value_in_words
from app.planning.models import PlanState

Kind = Literal["text", "money", "hours", "bytes", "number", "share"]


@dataclass(frozen=True, slots=True)
class Line:
    """One value on both sides; ``difference`` is right less left, None where there is nothing to subtract."""

    label: Message | str
    kind: Kind
    left: Any
    right: Any
    currency: str = ""  # of money

    @property
    def is_different(self) -> bool:
        """Whether the two sides differ."""
        return bool(self.left != self.right)

    @property
    def difference(self) -> Any:
        """Right less left."""
        if self.kind == "text" or self.left is None or self.right is None:
            return None
        return self.right - self.left


def compare_figures(left: PlanState, right: PlanState, currency: str) -> list[Line]:
    """Money, hours and memory; ``currency``: the project's, in which costs are planned."""
    return [
        Line(Message("Planned cost"), "money", left.planned_cost, right.planned_cost, currency),
        Line(Message("Planned hours"), "hours", left.planned_hours, right.planned_hours),
        *_of_results(left.result, right.result),
        Line(Message("Estimator"), "text", left.estimator_version, right.estimator_version),
    ]


def _of_results(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Line]:
    figures: tuple[tuple[Message, Kind, tuple[str, ...]], ...] = (
        (Message("Estimated hours"), "hours", ("time", "hours")),
        (Message("Estimated cost"), "money", ("cost", "amount")),
        (Message("Within the budget"), "share", ("cost", "probability_within_budget")),
        (Message("Hours lost to interruptions"), "hours", ("cost", "spot", "expected_lost_hours")),
        (Message("Tokens a second"), "number", ("time", "tokens_per_second")),
        (Message("Memory needed"), "bytes", ("memory", "required_bytes")),
        (Message("Memory free"), "bytes", ("memory", "headroom_bytes")),
        (Message("Trained parameters"), "number", ("model", "trainable_parameters")),
    )
    for label, kind, path in figures:
        values = [_inner(result, path) for result in (left, right)]
        if kind != "money":
            yield Line(label, kind, *values)
        elif _currency(left) == _currency(right):
            amounts = (None if value is None else Decimal(value) for value in values)
            yield Line(label, kind, next(amounts), next(amounts), _currency(left) or "")


def _inner(document: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = document
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _currency(result: Mapping[str, Any]) -> Any:
    return _inner(result, ("cost", "currency"))


def compare_requests(left: PlanState, right: PlanState) -> list[Line]:
    """Every field of the job that either side names, in words."""
    ours, theirs = _fields(left), _fields(right)
    known = {name: place for place, name in enumerate(LABELS)}
    names = sorted({**ours, **theirs}, key=lambda name: known.get(name, len(known)))
    return [Line(LABELS.get(name, name), "text", ours.get(name), theirs.get(name)) for name in names]


def _fields(state: PlanState) -> dict[str, Message | str]:
    fields = dict(flat_request(state.request))
    fields |= {"starts_on": state.starts_on.isoformat(), "hours_per_week": state.hours_per_week}
    offer = {} if state.offer is None else {"offer": _offer(state.offer)}
    return {name: value_in_words(name, value) for name, value in fields.items() if value is not None} | offer


def _offer(offer: Mapping[str, Any]) -> str:
    return " · ".join(str(offer[name]) for name in ("provider", "instance_type", "region") if offer[name])
