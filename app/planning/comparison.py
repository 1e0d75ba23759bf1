"""Two plans side by side, or two versions of one: every line with what is different."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from app.i18n import Message
from app.planning.models import PlanState

Kind = Literal["text", "money", "hours", "bytes", "number", "share"]


@dataclass(frozen=True, slots=True)
class Line:
    """One value on both sides; ``difference`` is right less left, None where there is nothing to subtract."""

    label: Message | str
    kind: Kind
    left: Any
    right: Any

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


def compare_figures(left: PlanState, right: PlanState) -> list[Line]:
    """Money, hours and memory."""
    return [
        Line(Message("Planned cost"), "money", left.planned_cost, right.planned_cost),
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
            yield Line(label, kind, *(None if value is None else Decimal(value) for value in values))


def _inner(document: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = document
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _currency(result: Mapping[str, Any]) -> Any:
    return _inner(result, ("cost", "currency"))


def compare_requests(left: PlanState, right: PlanState) -> list[Line]:
    """Every field of the job that either side names, by its name."""
    ours, theirs = dict(_flat(left.request)), dict(_flat(right.request))
    ours |= {"offer": _offer(left), "starts_on": left.starts_on.isoformat(), "hours_per_week": left.hours_per_week}
    theirs |= {"offer": _offer(right), "starts_on": right.starts_on.isoformat(), "hours_per_week": right.hours_per_week}
    names = [*ours, *(name for name in theirs if name not in ours)]
    return [Line(name, "text", _text(ours.get(name)), _text(theirs.get(name))) for name in names]


def _offer(state: PlanState) -> str | None:
    if state.offer is None:
        return None
    return " · ".join(str(state.offer[name]) for name in ("provider", "instance_type", "region") if state.offer[name])


def _flat(request: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in request.items():
        if isinstance(value, Mapping) and name != "config":
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return "config.json"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
