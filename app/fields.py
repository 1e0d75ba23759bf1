"""The field types of every request, shared by JSON bodies and page forms, and their error messages.

A form and a JSON body are read by the same pydantic models, so that a rule stands in one place.
"""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from app.errors import FieldError
from app.i18n import Message
from app.money import CURRENCIES, AmountError, Money, parse_amount
from app.time import InstantError, parse_instant

LARGEST_ID = 2**63 - 1
# What begins with this in an error's place tells which form of a union was meant; it is no part of the field's name.
UNION_TAG = "~"


class Input(BaseModel):
    """Base of every request body: unknown fields are refused, types are strict."""

    model_config = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True, allow_inf_nan=False)


def _amount(value: object) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("amount_not_text", 'Write the amount as a decimal in quotes, like "3.20".')
    try:
        return parse_amount(value)
    except AmountError as error:
        raise PydanticCustomError(f"amount_{error.reason}", "This is not an amount.") from error


def _not_negative(value: Decimal) -> Decimal:
    if value < 0:
        raise PydanticCustomError("amount_negative", "This amount cannot be negative.")
    return value


def _currency(value: object) -> object:
    if isinstance(value, str) and value in CURRENCIES:
        return value
    raise PydanticCustomError("currency_unknown", "Use an ISO 4217 code such as CNY or USD.")


def _instant(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("instant_not_an_instant", "This is not a date and time.")
    try:
        return parse_instant(value)
    except InstantError as error:
        raise PydanticCustomError(f"instant_{error.reason}", "This is not a date and time.") from error


def _day(value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        if not isinstance(value, str) or len(value) != 10:
            raise ValueError
        day = date.fromisoformat(value)
    except ValueError as error:
        raise PydanticCustomError("not_a_day", "This is not a date.") from error
    if not 1970 <= day.year <= 9998:
        raise PydanticCustomError("not_a_day", "This is not a date.")
    return day


def printable(value: str) -> str:
    """Text that both databases can store."""
    # A NUL cannot be stored by PostgreSQL, a lone surrogate by neither database.
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise PydanticCustomError("text_unprintable", "This text holds characters that cannot be stored.")
    return value


class InstantField:
    """Marks a field as an instant: a form sends it as local time of the team's zone."""


AmountField = Annotated[
    Decimal, BeforeValidator(_amount), WithJsonSchema({"type": "string", "examples": ["256.00"]})
]
PriceField = Annotated[
    Decimal,
    BeforeValidator(_amount),
    AfterValidator(_not_negative),
    WithJsonSchema({"type": "string", "examples": ["3.20"]}),
]
CurrencyField = Annotated[
    str,
    BeforeValidator(_currency),
    WithJsonSchema({"type": "string", "pattern": "^[A-Z]{3}$", "examples": ["CNY"]}),
]
Instant = Annotated[
    datetime,
    BeforeValidator(_instant),
    InstantField(),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Day = Annotated[date, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(printable)
]
Label = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200), AfterValidator(printable)]
LongText = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(printable)]
Id = Annotated[int, Field(ge=1, le=LARGEST_ID)]
Count = Annotated[int, Field(ge=0, le=LARGEST_ID)]


class MoneyInput(Input):
    """An amount with its currency."""

    amount: AmountField
    currency: CurrencyField

    @property
    def money(self) -> Money:
        """The value."""
        return Money(self.amount, self.currency)


class PriceInput(Input):
    """A price, never negative, with its currency."""

    amount: PriceField
    currency: CurrencyField

    @property
    def money(self) -> Money:
        """The value."""
        return Money(self.amount, self.currency)


def refusal(message: Message) -> PydanticCustomError:
    """What a validator raises to say a sentence of its own."""
    return PydanticCustomError("refused", "This value is not valid.", {"said": message})


def field_errors(errors: Sequence[Any]) -> list[FieldError]:
    """Pydantic's errors as ours, with dotted field names; one for each field."""
    found: dict[str, FieldError] = {}
    for error in errors:
        name = field_name(error["loc"])
        found.setdefault(name, FieldError(name, message_of(error)))
    return list(found.values())


def field_name(location: Sequence[int | str]) -> str:
    """``("body", "budget", "amount")`` as ``budget.amount``."""
    # Where several types would do, pydantic names the one it tried, like list[str]: no field has a bracket.
    parts = [str(part) for part in location if not str(part).startswith(UNION_TAG) and "[" not in str(part)]
    if parts and parts[0] in ("body", "query", "path", "header", "form"):
        parts = parts[1:]
    return ".".join(parts) or "body"


def message_of(error: Any) -> Message:
    """Our sentence for a pydantic error."""
    context = error.get("ctx") or {}
    kind = error["type"]
    said = context.get("said")
    if isinstance(said, Message):
        return said
    if kind in _SENTENCES:
        return Message(_SENTENCES[kind].text, **{name: _plain(value) for name, value in context.items()})
    return Message("This value is not valid.")


def _plain(value: object) -> str:
    """A limit without an empty decimal, choices as a list: 1024, on_demand, spot."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).replace("' or '", "', '").replace("'", "")


_SENTENCES = {
    "missing": Message("This field is required."),
    "extra_forbidden": Message("This field is not known."),
    "json_invalid": Message("The body is not valid JSON."),
    "model_type": Message("This must be an object."),
    "model_attributes_type": Message("This must be an object."),
    "dict_type": Message("This must be an object."),
    "list_type": Message("This must be a list."),
    "string_type": Message("This must be text."),
    "string_too_short": Message("This must have at least %(min_length)s characters."),
    "string_too_long": Message("This must have at most %(max_length)s characters."),
    "string_pattern_mismatch": Message("This is not written as it must be."),
    "int_type": Message("This must be a whole number."),
    "int_parsing": Message("This must be a whole number."),
    "int_from_float": Message("This must be a whole number."),
    "int_parsing_size": Message("This number is too large."),
    "float_type": Message("This must be a number."),
    "float_parsing": Message("This must be a number."),
    "finite_number": Message("This must be a finite number."),
    "bool_type": Message("This must be true or false."),
    "bool_parsing": Message("This must be true or false."),
    "greater_than": Message("This must be greater than %(gt)s."),
    "greater_than_equal": Message("This must be at least %(ge)s."),
    "less_than": Message("This must be less than %(lt)s."),
    "less_than_equal": Message("This must be at most %(le)s."),
    "too_long": Message("This list is too long."),
    "too_short": Message("This list is too short."),
    "model_form": Message("Give a model's id or its configuration."),
    "literal_error": Message("Choose one of: %(expected)s."),
    "enum": Message("Choose one of: %(expected)s."),
    "amount_not_text": Message('Write the amount as a decimal in quotes, like "3.20".'),
    "amount_not_decimal": Message("This is not an amount; write it like 3.20."),
    "amount_too_many_decimals": Message("An amount has at most 6 decimals."),
    "amount_too_large": Message("This amount is too large."),
    "amount_negative": Message("This amount cannot be negative."),
    "currency_unknown": Message("Use an ISO 4217 code such as CNY or USD."),
    "instant_no_offset": Message("Add the offset from UTC, like 2026-12-01T09:00:00+08:00."),
    "instant_not_an_instant": Message("This is not a date and time; write it like 2026-12-01T09:00:00+08:00."),
    "not_a_day": Message("This is not a date; write it like 2026-12-01."),
    "text_unprintable": Message("This text holds characters that cannot be stored."),
}
