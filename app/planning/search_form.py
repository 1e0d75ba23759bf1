"""The search's form: from text fields to the SearchInput that the JSON API reads."""

from collections.abc import Mapping

from pydantic import ValidationError

from app.accounts.access import Actor
from app.errors import InvalidInput
from app.fields import field_errors
from app.money import format_amount
from app.planning.inputs import MOST_OPTIONS, SearchInput
from app.planning.jobs import is_image_model
from app.planning.plan_form import add_targets
from app.projects.models import Project
from app.web.forms import form_document

SHOWN = (
    "model", "method", "sequence_length", "image_size", "micro_batch_size", "workload.samples", "workload.epochs",
    "workload.mean_tokens", "workload.longest_tokens", "workload.train_tokens", "budget", "deadline_hours",
    "gpu_count", "billing", "providers", "regions", "spot.interruptions_per_hour",
)  # fmt: skip
# What a plan's form hands over, and the search keeps without showing it.
CARRIED = (
    "lora.rank", "lora.target_modules", "lora.dropout", "gradient_accumulation_steps", "data_region",
    "storage_mb_per_second",
)  # fmt: skip


def usual_search(project: Project) -> dict[str, str]:
    """What an empty form begins with: the target of the project and the data of a small job."""
    target = "" if project.target is None else format_amount(project.target, project.currency)
    return {
        "model": "llama-7b",
        "sequence_length": "512",
        "workload.samples": "20000",
        "workload.epochs": "3",
        "budget": target,
    }


def carried(values: Mapping[str, str]) -> dict[str, str]:
    """The fields that stand hidden in the form."""
    return {name: values[name] for name in CARRIED if values.get(name, "").strip()}


def read_search_form(values: Mapping[str, str], actor: Actor, project: Project) -> SearchInput:
    """Money is in the project's currency. Raises InvalidInput with the fields that are wrong."""
    document = form_document(SearchInput, _relevant(values), actor.zone)
    add_targets(document)
    try:
        return SearchInput.model_validate(document | {"currency": project.currency, "limit": MOST_OPTIONS})
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


def _relevant(values: Mapping[str, str]) -> dict[str, str]:
    """Without what another field makes meaningless: tokens stand before samples, an image has a size, no length."""
    kept = {name: values[name] for name in (*SHOWN, *CARRIED) if values.get(name, "").strip()}
    if "workload.train_tokens" in kept:
        kept.pop("workload.samples", None)
        kept.pop("workload.epochs", None)
    elif "workload.samples" not in kept:
        kept = {name: value for name, value in kept.items() if not name.startswith("workload.")}
    if "micro_batch_size" not in kept:
        # The search makes both: the samples of a step stay.
        kept.pop("gradient_accumulation_steps", None)
    kept.pop("sequence_length" if is_image_model(kept.get("model", "")) else "image_size", None)
    if kept.get("method") == "full":
        kept = {name: value for name, value in kept.items() if not name.startswith("lora.")}
    return kept
