"""What a form changes: only what differs from what it showed, so that nothing is rounded by being shown."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ValidationError

from app.errors import InvalidInput
from app.fields import field_errors
from app.web.forms import M, form_document


def read_changes(
    patch: type[M],
    whole: type[BaseModel],
    values: Mapping[str, str],
    shown: Mapping[str, str],
    zone: ZoneInfo,
) -> M:
    """The patch from what the form ``shown`` held to ``values``. A field that was emptied gets the default of
    ``whole``, which is None for what can be taken away. Raises InvalidInput.
    """
    changed = {name.partition(".")[0] for name in shown if _text(values, name, shown) != shown[name]}
    sent = {name: text for name, text in values.items() if name.partition(".")[0] in changed}
    document = form_document(patch, sent, zone)
    emptied = {name: _default(whole, name) for name in changed if name not in document}
    try:
        return patch.model_validate(document | emptied)
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


def _text(values: Mapping[str, str], name: str, shown: Mapping[str, str]) -> str:
    # A box that is not ticked sends nothing; its marker says that the form has it.
    missing = "" if f"{name}.shown" in values else shown[name]
    return values.get(name, missing).strip().replace("\r\n", "\n")


def _default(whole: type[BaseModel], name: str) -> Any:
    info = whole.model_fields[name]
    return None if info.is_required() else info.default
