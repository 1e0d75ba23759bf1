"""What a request or a form says of a run or a charge."""

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from app.catalog.inputs import RateField
from app.catalog.packaged_offers import Billing
from app.fields import (
    AmountField,
    Count,
    CurrencyField,
    Day,
    Id,
    Input,
    Instant,
    Label,
    LongText,
    Name,
    PriceInput,
)

RunState = Literal["running", "finished", "interrupted", "failed", "lost_contact"]
Category = Literal["usage", "credit", "adjustment", "tax", "purchase"]
Service = Literal["compute", "storage", "network", "other"]

LARGEST_COUNT = 100_000
# Ten years: what is longer is a slip of the pen.
LONGEST_HOURS = 87_840
InstanceCount = Annotated[int, Field(ge=1, le=LARGEST_COUNT)]
GpuShare = Annotated[float, Field(ge=0.01, le=LARGEST_COUNT)]
Hours = Annotated[float, Field(ge=0, le=LONGEST_HOURS)]


def _not_null(value: object) -> object:
    # A default is not validated, so None here was sent.
    if value is None:
        raise PydanticCustomError("missing", "This field is required.")
    return value


class ExchangeRateInput(Input):
    """One unit of the record's currency in the project's, on a day."""

    rate: RateField
    date: Day


class RunInput(Input):
    """A run. ``hours`` may stand in place of ``ended_at``, ``offer_id`` in place of the price."""

    name: Name
    external_id: Annotated[Label, Field(min_length=1)] | None = None
    plan_id: Id | None = None
    offer_id: Id | None = None
    instance: Label = ""
    instance_count: InstanceCount = 1
    gpu: Name | None = None
    gpus_per_instance: GpuShare | None = None
    billing: Billing | None = None
    price_per_hour: PriceInput | None = None
    exchange_rate: ExchangeRateInput | None = None
    started_at: Instant
    ended_at: Instant | None = None
    hours: Hours | None = None
    state: RunState | None = None
    interruptions: Annotated[int, Field(ge=0, le=LARGEST_COUNT)] = 0
    lost_hours: Hours = 0.0
    steps_started: Count | None = None
    steps_done: Count | None = None
    steps_total: Count | None = None
    peak_memory_bytes: Annotated[int, Field(ge=1, le=2**60)] | None = None
    tokens_per_second: Annotated[float, Field(ge=0, le=1e15)] | None = None
    out_of_memory: bool = False
    note: LongText = ""


class RunPatch(Input):
    """Fields of a run to change; those left out stay."""

    name: Name | None = None
    external_id: Annotated[Label, Field(min_length=1)] | None = None
    plan_id: Id | None = None
    offer_id: Id | None = None
    instance: Label | None = None
    instance_count: InstanceCount | None = None
    gpu: Name | None = None
    gpus_per_instance: GpuShare | None = None
    billing: Billing | None = None
    price_per_hour: PriceInput | None = None
    exchange_rate: ExchangeRateInput | None = None
    started_at: Instant | None = None
    ended_at: Instant | None = None
    hours: Hours | None = None
    state: RunState | None = None
    interruptions: Annotated[int, Field(ge=0, le=LARGEST_COUNT)] | None = None
    lost_hours: Hours | None = None
    steps_started: Count | None = None
    steps_done: Count | None = None
    steps_total: Count | None = None
    peak_memory_bytes: Annotated[int, Field(ge=1, le=2**60)] | None = None
    tokens_per_second: Annotated[float, Field(ge=0, le=1e15)] | None = None
    out_of_memory: bool | None = None
    note: LongText | None = None

    _required = field_validator(
        "name",
        "instance",
        "instance_count",
        "gpus_per_instance",
        "billing",
        "price_per_hour",
        "started_at",
        "state",
        "interruptions",
        "lost_hours",
        "out_of_memory",
        "note",
        mode="before",
    )(_not_null)


class ChargeMoney(Input):
    """An amount, negative for credits and refunds, with its currency."""

    amount: AmountField
    currency: CurrencyField


class ChargeInput(Input):
    """An amount of money that is not instance time."""

    category: Category
    service: Service = "other"
    amount: ChargeMoney
    list_amount: ChargeMoney | None = None
    period_start: Instant
    period_end: Instant
    external_id: Annotated[Label, Field(min_length=1)] | None = None
    exchange_rate: ExchangeRateInput | None = None
    voucher_id: Id | None = Field(default=None, description="A credit may name the voucher that it is paid from.")
    note: LongText = ""


class ChargePatch(Input):
    """Fields of a charge to change; those left out stay."""

    category: Category | None = None
    service: Service | None = None
    amount: ChargeMoney | None = None
    list_amount: ChargeMoney | None = None
    period_start: Instant | None = None
    period_end: Instant | None = None
    external_id: Annotated[Label, Field(min_length=1)] | None = None
    exchange_rate: ExchangeRateInput | None = None
    voucher_id: Id | None = None
    note: LongText | None = None

    _required = field_validator(
        "category", "service", "amount", "period_start", "period_end", "note", mode="before"
    )(_not_null)
