"""The plan's form: from text fields to the same PlanInput that the JSON API reads, and back."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from app.accounts.access import Actor
from app.errors import InvalidInput
from app.fields import field_errors
from app.i18n import Message
from app.money import format_amount, format_unit_price
from app.planning.inputs import PlanInput
from app.planning.jobs import is_image_model
from app.planning.models import Plan
from app.projects.models import Project
from app.web.forms import form_document

_MISSING_NAME = "–"


def read_plan_form(values: Mapping[str, str], actor: Actor, *, needs_name: bool = True) -> PlanInput:
    """Raises InvalidInput with the fields that are wrong. A preview does not need a name yet."""
    sent = dict(values)
    if not needs_name and not sent.get("name", "").strip():
        sent["name"] = _MISSING_NAME
    document = form_document(PlanInput, _relevant(sent), actor.zone)
    add_targets(document)
    _add_config(document, sent)
    try:
        return PlanInput.model_validate(document)
    except ValidationError as error:
        raise InvalidInput(*_at_form_fields(error)) from error


def _at_form_fields(error: ValidationError) -> list[Any]:
    return field_errors(error.errors())


def _relevant(sent: Mapping[str, str]) -> dict[str, str]:
    """Without what another choice of the form makes meaningless: it is shown, but not sent."""
    method = sent.get("method", "")
    has_price = bool(sent.get("price.per_hour", "").strip())
    billing = sent.get("price.billing", "") if has_price else ""
    dropped = {
        "lora.": method == "full",
        "qlora.": method != "qlora",
        "price.": not has_price,
        "spot.": has_price and billing != "spot",
    }
    kept = {
        name: value
        for name, value in sent.items()
        if not any(is_dropped and name.startswith(prefix) for prefix, is_dropped in dropped.items())
    }
    if not kept.get("config", "").strip() and is_image_model(kept.get("model", "")):
        kept.pop("sequence_length", None)
    elif not kept.get("config", "").strip():
        kept.pop("image_size", None)
    if kept.get("workload.train_tokens", "").strip():
        for name in ("workload.samples", "workload.epochs"):
            kept.pop(name, None)
    elif not kept.get("workload.samples", "").strip():
        kept = {name: value for name, value in kept.items() if not name.startswith("workload.")}
    return kept


def add_targets(document: dict[str, Any]) -> None:
    """The layers of a LoRA, written one after the other, as a list."""
    lora = document.get("lora")
    if isinstance(lora, dict) and isinstance(lora.get("target_modules"), str):
        text = lora["target_modules"].strip()
        if text != "all-linear":
            lora["target_modules"] = [
                part.strip() for part in text.replace("，", ",").split(",") if part.strip()
            ]


def _add_config(document: dict[str, Any], sent: Mapping[str, str]) -> None:
    """A pasted configuration stands before a chosen model."""
    text = sent.get("config", "").strip()
    if not text:
        return
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput.at("config", Message("This is not JSON.")) from error
    if not isinstance(config, dict):
        raise InvalidInput.at("config", Message("A config.json is an object."))
    document["model"] = {"config": config}


def new_plan_values(actor: Actor, project: Project) -> dict[str, Any]:
    """What an empty form begins with: the recipe that most teams start from."""
    return {
        "name": "",
        "model": "llama-7b",
        "method": "lora",
        "lora.rank": 8,
        "lora.target_modules": "q_proj, v_proj",
        "precision": "bf16-mixed",
        "optimizer": "adamw",
        "micro_batch_size": 1,
        "gradient_accumulation_steps": 4,
        "sequence_length": 512,
        "gradient_checkpointing": True,
        "attention": "sdpa",
        "workload.train_tokens": "",
        "price.currency": project.currency,
        "price.billing": "on_demand",
        "budget": "" if project.target is None else format_amount(project.target, project.currency),
        "starts_on": actor.today.isoformat(),
        "hours_per_week": 168,
    }


def plan_values(plan: Plan, project: Project) -> dict[str, Any]:
    """The form of a plan as it is."""
    values = request_values(plan.request)
    if plan.price_per_hour is not None and plan.currency is not None:
        values["price.per_hour"] = format_unit_price(plan.price_per_hour, plan.currency)
    values |= {
        "name": plan.name,
        "offer_id": plan.offer_id or "",
        "starts_on": plan.starts_on.isoformat(),
        "hours_per_week": _text(plan.hours_per_week),
        "planned_hours": _text(plan.request.get("planned_hours", "")),
        "version": plan.version,
    }
    return {"price.currency": project.currency} | values


def request_values(request: Mapping[str, Any]) -> dict[str, Any]:
    """An estimate's body as the form's fields."""
    values: dict[str, Any] = {}
    for name, value in request.items():
        if name == "model":
            continue
        if isinstance(value, dict):
            values |= {f"{name}.{key}": _text(inner) for key, inner in value.items()}
        else:
            values[name] = _text(value)
    model = request["model"]
    if isinstance(model, str):
        return values | {"model": model}
    return values | {"model": "", "config": json.dumps(model["config"])}


def prefilled_values(actor: Actor, project: Project, sent: Mapping[str, str]) -> dict[str, Any]:
    """A new plan's form with the fields of a link, and nothing of the usual recipe."""
    usual = new_plan_values(actor, project)
    kept = {name: usual[name] for name in ("name", "price.currency", "starts_on", "hours_per_week", "budget")}
    return kept | dict(sent)


def _text(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
