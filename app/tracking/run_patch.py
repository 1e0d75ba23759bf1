"""A run with some of its fields changed, as the input that would make it."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from app.errors import InvalidInput
from app.fields import field_errors
from app.i18n import Message
from app.tracking.inputs import RunInput, RunPatch
from app.tracking.models import Run

_OF_OFFER = ("price_per_hour", "gpu", "gpus_per_instance", "billing")


def run_document(run: Run) -> dict[str, Any]:
    """The run as the input that would make it; its exchange rate is kept elsewhere."""
    document: dict[str, Any] = {
        name: getattr(run, name)
        for name in RunInput.model_fields
        if name not in ("price_per_hour", "exchange_rate", "hours", "gpus_per_instance")
    }
    document["gpus_per_instance"] = float(run.gpus_per_instance)
    document["price_per_hour"] = {"amount": run.price_per_hour, "currency": run.currency}
    return document


def merged_run(run: Run, patch: RunPatch) -> RunInput:
    """The run as the patch leaves it. Raises InvalidInput naming what is wrong with it."""
    changes = patch.model_dump(exclude_unset=True)
    document = run_document(run) | changes
    for name in _superseded(run, changes):
        document.pop(name, None)
    return _checked(document)


def with_external_id(wanted: RunInput, external_id: str) -> RunInput:
    """The run under the id of its address. Raises InvalidInput when it names another, or this cannot be one."""
    document = wanted.model_dump(exclude_unset=True)
    run = _checked(document | {"external_id": external_id})
    if wanted.external_id not in (None, run.external_id):
        raise InvalidInput.at("external_id", Message("This differs from the one in the address."))
    return run


def _checked(document: dict[str, Any]) -> RunInput:
    try:
        return RunInput.model_validate(document)
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


def _superseded(run: Run, changes: Mapping[str, Any]) -> set[str]:
    """Fields of the run that no longer hold, because something else was said in their place."""
    gone: set[str] = set()
    if changes.get("hours") is not None:
        gone.add("ended_at")
    if run.state == "running" and (changes.get("ended_at") or changes.get("hours") is not None):
        gone.add("state")
    if changes.get("offer_id") not in (None, run.offer_id):
        # Another offer brings its own price, GPU and billing.
        gone.update(_OF_OFFER)
    return gone - set(changes)
