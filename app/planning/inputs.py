"""What a request or a form says of an estimate and of a plan."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from app.catalog.packaged_offers import Billing
from app.estimator.recipe import (
    AdapterType,
    Attention,
    Dtype,
    Method,
    Offload,
    Optimizer,
    Parallelism,
    Precision,
)
from app.fields import UNION_TAG, CurrencyField, Day, Id, Input, Name, PriceField, printable, refusal
from app.i18n import Message

LONGEST_SEQUENCE = 1_048_576
LARGEST_BATCH = 65_536
LARGEST_GPU_COUNT = 1024
# Providers cut a card into twelve; a hundredth is nobody's.
SMALLEST_GPU_COUNT = 0.01
LARGEST_WORKLOAD = 10**15
LONGEST_PLANNED_HOURS = 1_000_000
HOURS_A_WEEK = 168
MOST_OPTIONS = 500
LONGEST_INTERVAL_MINUTES = 100_000

Batch = Annotated[int, Field(ge=1, le=LARGEST_BATCH)]
Length = Annotated[int, Field(ge=1, le=LONGEST_SEQUENCE)]
Region = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(printable)]
GpuCount = Annotated[float, Field(ge=SMALLEST_GPU_COUNT, le=LARGEST_GPU_COUNT)]


def _not_free(price: Decimal) -> Decimal:
    if price == 0:
        raise refusal(Message("A price must be greater than zero."))
    return price


class ModelConfigInput(Input):
    """A model by its own configuration."""

    config: dict[str, Any]


def _model_form(value: object) -> str | None:
    if isinstance(value, str):
        return UNION_TAG + "id"
    return UNION_TAG + "config" if isinstance(value, dict | ModelConfigInput) else None


ModelField = Annotated[
    Annotated[str, Tag(UNION_TAG + "id")] | Annotated[ModelConfigInput, Tag(UNION_TAG + "config")],
    Discriminator(
        _model_form, custom_error_type="model_form", custom_error_message="Give a model's id or its configuration."
    ),
]


class LoraInput(Input):
    """Low-rank adapters."""

    rank: Annotated[int, Field(ge=1, le=4096)] | None = None
    target_modules: (
        Annotated[list[str], Field(min_length=1, max_length=100)] | Literal["all-linear"] | None
    ) = None
    dropout: Annotated[float, Field(ge=0, lt=1)] | None = None
    adapter_dtype: AdapterType | None = None


class QloraInput(Input):
    """How the base is quantised."""

    double_quantization: bool | None = None


class WorkloadInput(Input):
    """How much data: tokens in all, or samples."""

    train_tokens: Annotated[int, Field(ge=1, le=LARGEST_WORKLOAD)] | None = None
    samples: Annotated[int, Field(ge=1, le=LARGEST_WORKLOAD)] | None = None
    epochs: Annotated[float, Field(ge=0.001, le=100_000)] | None = None
    mean_tokens: Annotated[float, Field(ge=1, le=LONGEST_SEQUENCE)] | None = None
    longest_tokens: Length | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "WorkloadInput":
        if self.train_tokens is None and self.samples is None:
            raise refusal(Message("Give the tokens or the samples."))
        if self.train_tokens is not None and self.samples is not None:
            raise refusal(Message("Give either the tokens or the samples."))
        return self


class EstimatePriceInput(Input):
    """What the whole job pays an hour."""

    per_hour: Annotated[PriceField, AfterValidator(_not_free)]
    currency: CurrencyField
    billing: Billing = "on_demand"


class SpotInput(Input):
    """Interruptions and what they cost; ``notice_seconds``: between a warning and the interruption, used to save."""

    interruptions_per_hour: Annotated[float, Field(ge=0, le=60)] | None = None
    checkpoint_interval_minutes: Annotated[float, Field(ge=0.1, le=LONGEST_INTERVAL_MINUTES)] | None = None
    checkpoint_seconds: Annotated[float, Field(ge=0, le=86_400)] | None = None
    restart_minutes: Annotated[float, Field(ge=0, le=10_000)] | None = None
    notice_seconds: Annotated[float, Field(ge=0, le=86_400)] | None = None
    price_spread_percent: Annotated[float, Field(ge=0, le=1_000)] | None = None


class JobOptions(Input):
    """What a job may say of itself wherever it runs."""

    lora: LoraInput | None = None
    qlora: QloraInput | None = None
    precision: Precision | None = None
    weights_dtype: Dtype | None = None
    optimizer: Optimizer | None = None
    optimizer_state_dtype: Dtype | None = None
    micro_batch_size: Batch | None = None
    gradient_accumulation_steps: Batch | None = None
    sequence_length: Length | None = None
    gradient_checkpointing: bool | None = None
    attention: Attention | None = None
    max_grad_norm: Annotated[float, Field(ge=1e-9, le=1e9)] | None = None
    packing: bool | None = None
    fused_loss: bool | None = None
    keeps_outputs: bool | None = None
    gpu_count: GpuCount | None = None
    parallelism: Parallelism | None = None
    offload: Offload | None = None
    host_ram_bytes: Annotated[int, Field(ge=1, le=10**15)] | None = None
    storage_mb_per_second: Annotated[float, Field(ge=0.1, le=1e6)] | None = None
    image_size: Annotated[int, Field(ge=32, le=8192)] | None = None
    gpus_per_node: Annotated[int, Field(ge=1, le=LARGEST_GPU_COUNT)] | None = None
    workload: WorkloadInput | None = None
    spot: SpotInput | None = None
    budget: PriceField | None = None
    deadline_hours: Annotated[float, Field(ge=0.01, le=LONGEST_PLANNED_HOURS)] | None = None
    data_region: Region | None = None


class RecipeOptions(JobOptions):
    """What may be left out of an estimate's body; the answer's ``assumptions`` name the default that is taken."""

    gpu: str | None = None
    region: Region | None = None
    price: EstimatePriceInput | None = None


class ScheduleOptions(Input):
    """What may be left out of a plan's body beside the recipe."""

    offer_id: Id | None = None
    starts_on: Day | None = None
    hours_per_week: Annotated[float, Field(ge=0.1, le=HOURS_A_WEEK)] | None = None
    planned_hours: Annotated[float, Field(ge=0.01, le=LONGEST_PLANNED_HOURS)] | None = None


class EstimateInput(RecipeOptions):
    """A job to estimate."""

    model: ModelField
    method: Method


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Words = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(min_length=1, max_length=100)]


class SearchInput(JobOptions):
    """A job to place: what it leaves out of its recipe varies, and so does the instance.

    ``budget`` is in ``currency``, which is the team's where it is left out.
    """

    model: ModelField
    method: Method | None = None
    currency: CurrencyField | None = None
    providers: Annotated[Words, BeforeValidator(_as_list)] | None = None
    regions: Annotated[Words, BeforeValidator(_as_list)] | None = None
    billing: Annotated[list[Billing], Field(min_length=1, max_length=3), BeforeValidator(_as_list)] | None = None
    limit: Annotated[int, Field(ge=1, le=MOST_OPTIONS)] = 100


class PlanInput(EstimateInput, ScheduleOptions):
    """An estimate's body with a name and a schedule."""

    name: Name


class PlanPatch(RecipeOptions, ScheduleOptions):
    """Fields of a plan to change; those left out stay."""

    name: Name | None = None
    model: ModelField | None = None
    method: Method | None = None
