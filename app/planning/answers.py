"""Estimates and plans as the JSON API answers them."""

from datetime import date
from typing import Any, Literal

from pydantic import Field

from app.api.answers import Answer, InstantAnswer, MoneyAnswer
from app.catalog.answers import OfferAnswer
from app.catalog.hosted.answers import HostedAnswer
from app.planning.models import Plan, PlanState, PlanVersion
from app.projects.models import Project


class ModelAnswer(Answer):
    """The model."""

    id: str | None
    parameters: int
    trainable_parameters: int
    unknown_fields: list[str]


class LargestAnswer(Answer):
    """What still fits with everything else as it is."""

    micro_batch_size: int | None
    sequence_length: int | None


class MemoryAnswer(Answer):
    """Bytes of one card."""

    peak_allocated_bytes: int
    reserved_bytes: int | None
    required_bytes: int | None
    interval_bytes: list[int] | None
    capacity_bytes: int | None
    fits: bool | None
    headroom_bytes: int | None
    peak_phase: str
    moments: dict[str, int]
    components: dict[str, int]
    other_peaks: dict[str, int | None]
    largest_fitting: LargestAnswer | None = None
    host_ram_bytes: int


class TimeAnswer(Answer):
    """Durations."""

    flops_per_step: int
    tokens_per_step: int | None
    tokens_per_second: float | None
    seconds_per_step: float | None
    steps: int | None
    hours: float | None
    interval_hours: list[float] | None
    bound_by: str | None


class SpotAnswer(Answer):
    """What interruptions do."""

    expected_interruptions: float
    expected_lost_hours: float
    optimal_checkpoint_interval_minutes: float | None


class CostAnswer(Answer):
    """Money of the whole job."""

    amount: str
    currency: str
    interval: list[str]
    probability_within_budget: float | None
    spot: SpotAnswer | None


class DriverAnswer(Answer):
    """An uncertain input: the cost at its 10th and 90th percentile, the other inputs at their middle."""

    input: Literal["speed", "price", "interruptions"]
    low: str | None
    high: str | None


class OddsAnswer(Answer):
    """How hours and cost are spread, from seeded draws."""

    hours: dict[str, float]
    cost: dict[str, str] | None
    probability_by_deadline: float | None
    probability_within_budget_by_deadline: float | None
    drivers: list[DriverAnswer]
    draws: int
    seed: int


class FindingAnswer(Answer):
    """One thing to know before paying; ``advice`` names the checked claim behind it."""

    level: Literal["error", "warning", "info"]
    code: str
    message: str
    advice: str | None = None


class FixAnswer(Answer):
    """A change of request fields and what it does."""

    change: dict[str, Any]
    saves_bytes: int
    adds_hours: float | None
    saves_cost: str | None


class AssumptionAnswer(Answer):
    """A default that was taken."""

    field: str
    value: Any


class ExplanationAnswer(Answer):
    """What a figure was computed from; docs/formulas/ has the formula under its id."""

    figure: str
    formula: str
    inputs: dict[str, int | float | str | bool | None]
    source: str


class EvidenceAnswer(Answer):
    """What the estimate rests on."""

    estimator_version: str
    similar_runs: int
    memory_error_percent: float | None
    time_error_percent: float | None


class EstimateAnswer(Answer):
    """The whole answer to an estimate."""

    model: ModelAnswer
    memory: MemoryAnswer
    time: TimeAnswer
    cost: CostAnswer | None
    odds: OddsAnswer | None = None
    preflight: list[FindingAnswer]
    fixes: list[FixAnswer]
    savings: list[FixAnswer] = []
    assumptions: list[AssumptionAnswer]
    explanation: list[ExplanationAnswer] = []
    evidence: EvidenceAnswer


class OptionAnswer(EstimateAnswer):
    """One recipe on one offer; ``request`` is the estimate's body that reproduces it."""

    offer: OfferAnswer
    request: dict[str, Any]
    on_frontier: bool


class HostedOptionAnswer(Answer):
    """Hosted fine-tuning of the same data; no hours, for the provider decides how long it takes."""

    hosted: HostedAnswer
    tokens: int = Field(description="Those of all epochs, without padding.")
    cost: MoneyAnswer
    within_budget: bool | None = Field(description="Null without a budget, or where no rate leads to its currency.")


class SearchAnswer(Answer):
    """The options, best first, how many were looked at, and hosted fine-tuning, cheapest first."""

    options: list[OptionAnswer]
    considered: int
    hosted: list[HostedOptionAnswer] | None = Field(
        default=None, description="Null where the request has no workload in tokens."
    )


class PlanStateAnswer(Answer):
    """What was planned: the request, the estimate as it was, and the schedule."""

    name: str
    request: dict[str, Any]
    estimate: EstimateAnswer
    estimator_version: str
    offer: dict[str, Any] | None
    price_per_hour: MoneyAnswer | None
    billing: str | None
    starts_on: date
    hours_per_week: float
    planned_hours: float | None
    planned_cost: MoneyAnswer | None


class PlanAnswer(PlanStateAnswer):
    """A plan as it stands."""

    id: int
    project_id: int
    offer_id: int | None
    is_baseline: bool
    approved_at: InstantAnswer | None
    approved_by: str | None
    created_at: InstantAnswer
    created_by: str
    version: int


class PlanVersionAnswer(PlanStateAnswer):
    """A plan as it was saved at one time."""

    number: int
    reason: str
    saved_at: InstantAnswer
    saved_by: str


def plan_answer(plan: Plan, project: Project) -> PlanAnswer:
    """The plan's answer; its cost is in the project's currency."""
    same = (
        "project_id", "offer_id", "is_baseline", "approved_at", "approved_by", "created_at", "created_by", "version",
    )  # fmt: skip
    fields = {name: getattr(plan, name) for name in same}
    return PlanAnswer(id=plan.id or 0, **fields, **_state(plan, project))


def plan_version_answer(version: PlanVersion, project: Project) -> PlanVersionAnswer:
    """The version's answer; its cost is in the project's currency."""
    fields = {name: getattr(version, name) for name in ("number", "reason", "saved_at", "saved_by")}
    return PlanVersionAnswer(**fields, **_state(version, project))


def _state(state: PlanState, project: Project) -> dict[str, Any]:
    price = None
    if state.price_per_hour is not None and state.currency is not None:
        price = MoneyAnswer.of_price(state.price_per_hour, state.currency)
    same = (
        "name", "request", "estimator_version", "offer", "billing", "starts_on", "hours_per_week", "planned_hours",
    )  # fmt: skip
    return {name: getattr(state, name) for name in same} | {
        "estimate": EstimateAnswer(**state.result),
        "price_per_hour": price,
        "planned_cost": None if state.planned_cost is None else MoneyAnswer.of(state.planned_cost, project.currency),
    }
