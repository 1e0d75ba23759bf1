"""Page forms, read by the same models as the JSON bodies.

A form sends text only: an empty field is left out, numbers and truth values are read as the model's field wants them,
and a local date and time is one of the team's time zone.
"""

import re
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin
from zoneinfo import ZoneInfo

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from app.errors import FieldError, InvalidInput
from app.fields import InstantField, field_errors
from app.i18n import Language, translate
from app.web.language import language_of

_LOCAL_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?")
_INTEGER = re.compile(r"-?\d{1,19}")


M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Form:
    """What a form holds and what is wrong with it: ``values`` and ``errors`` by dotted field name."""

    values: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    # Tells the fields of several forms on one page apart.
    id: str = ""

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.errors


def form_of_input(request: Request, values: Mapping[str, Any], error: InvalidInput, id: str = "") -> Form:
    """The form as it was sent, with a service's errors at their fields."""
    return Form(values, errors_by_field(error.errors, language_of(request)), id)


def errors_by_field(errors: tuple[FieldError, ...], language: Language) -> dict[str, str]:
    """Errors as text by field name."""
    return {error.field: translate(error.message, language) for error in errors}


async def _form_values(request: Request) -> dict[str, str]:
    async with request.form() as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def read_form(model: type[M], values: Mapping[str, str], zone: ZoneInfo) -> M:
    """The model of a form's values. Raises InvalidInput with the fields that are wrong."""
    document = form_document(model, values, zone)
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


def form_document(
    model: type[BaseModel], values: Mapping[str, str], zone: ZoneInfo, prefix: str = ""
) -> dict[str, Any]:
    """The JSON-like document of a form's values; nested models have dotted names."""
    document: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        key = prefix + name
        nested = _nested_model(info)
        if nested is not None:
            inner = form_document(nested, values, zone, key + ".")
            if inner:
                document[name] = inner
        elif _is_truth(info):
            # A checkbox that is not ticked sends nothing; the hidden marker says that the form has it.
            if key in values or f"{key}.shown" in values:
                document[name] = values.get(key) in ("on", "true", "1")
        elif values.get(key, "").strip():
            document[name] = _converted(info, values[key].strip(), zone)
    return document


def _converted(info: FieldInfo, text: str, zone: ZoneInfo) -> Any:
    if any(isinstance(mark, InstantField) for mark in _metadata(info)) and _LOCAL_TIME.fullmatch(text):
        return _local_instant(text, zone)
    kinds = _plain_types(info.annotation)
    if int in kinds and _INTEGER.fullmatch(text):
        return int(text)
    if float in kinds:
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _local_instant(text: str, zone: ZoneInfo) -> str:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=zone).isoformat()
    except ValueError:
        return text


def _metadata(info: FieldInfo) -> list[Any]:
    marks = list(info.metadata)
    for part in _union_parts(info.annotation):
        if get_origin(part) is Annotated:
            marks.extend(get_args(part)[1:])
    return marks


def _union_parts(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def _plain_types(annotation: Any) -> set[Any]:
    parts: set[Any] = set()
    for part in _union_parts(annotation):
        base = get_args(part)[0] if get_origin(part) is Annotated else part
        parts.add(Literal if get_origin(base) is Literal else base)
    return parts


def _nested_model(info: FieldInfo) -> type[BaseModel] | None:
    kinds = _plain_types(info.annotation)
    # What may also be plain text is one field of the form.
    models = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return models[0] if models and str not in kinds else None


def _is_truth(info: FieldInfo) -> bool:
    return bool in _plain_types(info.annotation)


# What a page's form sent: text by field name.
FormValues = Annotated[dict[str, str], Depends(_form_values)]
