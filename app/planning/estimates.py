"""The whole answer to an estimate, as API.md lays it out."""

from dataclasses import asdict
from typing import Any

from pydantic import ValidationError

from app.errors import InvalidInput
from app.estimator import (
    ESTIMATOR_VERSION,
    MOMENTS,
    Estimate,
    EstimatorError,
    Largest,
    estimate,
    explain,
    largest_that_fits,
)
from app.fields import field_errors
from app.i18n import LANGUAGES, Language, translate
from app.money import format_amount
from app.planning.fixes import Fix, fixes_for, savings_for
from app.planning.inputs import EstimateInput
from app.planning.jobs import Prepared, ReadModel, invalid, prepare
from app.planning.odds import odds_answer
from app.planning.preflight import preflight


def read_estimate_input(body: object) -> EstimateInput:
    """The request of a parsed JSON document. Raises InvalidInput."""
    try:
        return EstimateInput.model_validate(body)
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


def answer_for(
    wanted: EstimateInput, language: Language, *, details: bool = True, read: ReadModel | None = None
) -> dict[str, Any]:
    """The answer as plain values; ``read``: the model, where it was read before. Raises InvalidInput.

    Without ``details`` there are no proposals, no odds beside the budget's, and no explanation.
    """
    prepared = prepare(wanted, read)
    try:
        result = estimate(prepared.job)
        largest = largest_that_fits(prepared.job)
    except EstimatorError as error:
        raise invalid(error) from error
    known = (prepared.model_id, prepared.job.architecture)
    fixes = fixes_for(wanted, result, known) if details else []
    savings = savings_for(wanted, result, known) if details else []
    return {
        "model": {
            "id": prepared.model_id,
            "parameters": result.parameters,
            "trainable_parameters": result.trainable_parameters,
            "unknown_fields": list(prepared.job.architecture.unknown_fields),
        },
        "memory": _memory(result, largest),
        "time": _time(result),
        "cost": _cost(result),
        "odds": odds_answer(prepared.job, result, wanted.deadline_hours) if details else None,
        "preflight": [
            {
                "level": finding.level,
                "code": finding.code,
                "message": translate(finding.message, language),
                "advice": finding.advice,
            }
            for finding in preflight(prepared, result)
        ],
        "fixes": [_fix(fix, prepared) for fix in fixes],
        "savings": [_fix(fix, prepared) for fix in savings],
        "assumptions": [{"field": name, "value": value} for name, value in prepared.assumptions],
        "explanation": _explanation(prepared, result) if details else [],
        "evidence": {
            "estimator_version": ESTIMATOR_VERSION,
            "similar_runs": 0,
            "memory_error_percent": None,
            "time_error_percent": None,
        },
    }


def _explanation(prepared: Prepared, result: Estimate) -> list[dict[str, Any]]:
    return [asdict(one) for one in explain(prepared.job, result)]


def _memory(result: Estimate, largest: Largest) -> dict[str, Any]:
    shape = result.footprint
    others = {name: shape.other_bytes.get(name) for name in ("loading", "saving", "merging", "evaluation")}
    return {
        "peak_allocated_bytes": result.step.peak_bytes,
        "reserved_bytes": shape.reserved_bytes,
        "required_bytes": shape.required_bytes,
        "interval_bytes": None if shape.interval_bytes is None else list(shape.interval_bytes),
        "capacity_bytes": shape.capacity_bytes,
        "fits": shape.fits,
        "headroom_bytes": shape.headroom_bytes,
        "peak_phase": result.step.peak_phase,
        "moments": {name: result.step.moments[name] for name in MOMENTS},
        "components": result.step.components | {"framework": shape.framework_bytes},
        "other_peaks": others,
        "largest_fitting": {
            "micro_batch_size": largest.micro_batch_size,
            "sequence_length": largest.sequence_length,
        },
        "host_ram_bytes": result.host_ram_bytes,
    }


def _time(result: Estimate) -> dict[str, Any]:
    time = result.time
    return {
        "flops_per_step": time.flops_per_step,
        "tokens_per_step": time.tokens_per_step,
        "tokens_per_second": time.tokens_per_second,
        "seconds_per_step": time.seconds_per_step,
        "steps": time.steps,
        "hours": time.hours,
        "interval_hours": None if time.interval_hours is None else list(time.interval_hours),
        "bound_by": time.bound_by,
    }


def _cost(result: Estimate) -> dict[str, Any] | None:
    cost = result.cost
    if cost is None:
        return None
    spot = cost.spot
    return {
        "amount": format_amount(cost.amount, cost.currency),
        "currency": cost.currency,
        "interval": [format_amount(edge, cost.currency) for edge in cost.interval],
        "probability_within_budget": cost.probability_within_budget,
        "spot": None
        if spot is None
        else {
            "expected_interruptions": spot.expected_interruptions,
            "expected_lost_hours": spot.expected_lost_hours,
            "optimal_checkpoint_interval_minutes": spot.optimal_checkpoint_interval_minutes,
        },
    }


def _fix(fix: Fix, prepared: Prepared) -> dict[str, Any]:
    currency = "" if prepared.job.price is None else prepared.job.price.currency
    return {
        "change": fix.change,
        "saves_bytes": fix.saves_bytes,
        "adds_hours": fix.adds_hours,
        "saves_cost": None if fix.saves_cost is None else format_amount(fix.saves_cost, currency),
    }


def kept_answer(wanted: EstimateInput, language: Language) -> dict[str, Any]:
    """The answer as a plan keeps it: its sentences in every language, for readers to come. Raises InvalidInput."""
    answer = answer_for(wanted, language)
    told = {one: answer_for(wanted, one, details=False)["preflight"] for one in LANGUAGES}
    for place, finding in enumerate(answer["preflight"]):
        finding["messages"] = {one: findings[place]["message"] for one, findings in told.items()}
    return answer


def reworded(result: dict[str, Any], language: Language) -> dict[str, Any]:
    """A kept answer with its sentences in the reader's language; the figures stay as they were."""
    findings = [
        one | {"message": one.get("messages", {}).get(language, one["message"])} for one in result["preflight"]
    ]
    return result | {"preflight": findings}
