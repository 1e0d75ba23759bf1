"""How the catalogue stands in JSON answers."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from app.api.answers import Answer, InstantAnswer, MoneyAnswer
from app.catalog.freshness import is_stale
from app.catalog.gpus import Gpu
from app.catalog.imports import PriceListImport, Verdict
from app.catalog.inputs import Availability
from app.catalog.known_models import CatalogModel
from app.catalog.models import Offer, OfferPrice, Rate
from app.catalog.packaged_offers import Billing
from app.catalog.parameters import parameter_counts
from app.i18n import Language, translate

Confidence = Literal["high", "medium", "low"]


class GpuAnswer(Answer):
    """A GPU: usable memory, dense rates; a figure that is missing in ``sources`` is unsourced."""

    id: str = Field(examples=["a10"])
    name: str
    vendor: str
    architecture: str
    compute_capability: str | None
    memory_bytes: int | None = Field(description="Usable, as the driver reports it; null where that is not known.")
    memory_nominal_gb: int
    memory_type: str
    bandwidth_gb_per_second: float
    fp16_tflops: float | None
    bf16_tflops: float | None
    tf32_tflops: float | None
    fp32_tflops: float | None
    supports_bf16: bool
    supports_fp8: bool
    interconnect: str | None
    interconnect_gb_per_second: float | None = Field(description="All links, both directions together.")
    pcie: str
    power_watts: int
    form_factor: str
    sources: dict[str, str]
    source: str | None
    confidence: Confidence
    notes: str
    as_of: date

    @classmethod
    def of(cls, gpu: Gpu) -> "GpuAnswer":
        """The GPU as it is packaged."""
        return cls(**{name: _plain(getattr(gpu, name)) for name in cls.model_fields})


class ModelAnswer(Answer):
    """A model with its true configuration."""

    id: str = Field(examples=["llama-7b"])
    hub_name: str = Field(examples=["huggyllama/llama-7b"])
    name: str
    family: str
    parameters: int = Field(description="Computed from the configuration.")
    published_parameters: int | None
    longest_tokens: int | None
    license: str | None
    config: dict[str, Any]
    source: str
    as_of: date

    @classmethod
    def of(cls, model: CatalogModel) -> "ModelAnswer":
        """The model as it is packaged."""
        fields = {name: _plain(getattr(model, name)) for name in cls.model_fields if name != "parameters"}
        return cls(parameters=parameter_counts()[model.id], **fields)


class TierAnswer(Answer):
    """From so many continuous hours on, an hour costs so many percent of the price."""

    from_hours: int | float = Field(examples=[96])
    percent: int | float = Field(examples=[50])


class OfferAnswer(Answer):
    """An offer; the price is that of the whole instance, null where nobody knows it."""

    id: int
    provider: str = Field(examples=["alibaba"])
    instance_type: str = Field(examples=["ecs.gn7i-c8g1.2xlarge"])
    gpu: str = Field(examples=["a10"])
    gpu_label: str
    gpu_count: int | float = Field(description="A share of a card between 0 and 1 for a slice.", examples=[1])
    region: str
    billing: Billing
    price_per_hour: MoneyAnswer | None
    as_of: date | None
    source: str | None
    note: str
    stale: bool = Field(description="The price is undated or older than 30 days.")
    own: bool = Field(description="The team's own offer, which it may change.")
    billing_minimum_minutes: int | None
    billing_granularity_minutes: int | None
    tiers: list[TierAnswer] | None
    discount_percent: int | float | None
    discount_valid_from: date | None
    discount_valid_until: date | None
    free_trial_hours: int | float | None
    availability: Availability | None
    availability_on: date | None
    availability_note: str | None

    @classmethod
    def of(cls, offer: Offer, today: date) -> "OfferAnswer":
        """The offer as it is seen on ``today``."""
        price = offer.price_per_hour
        return cls(
            id=offer.id or 0,
            provider=offer.provider,
            instance_type=offer.instance_type,
            gpu=offer.gpu,
            gpu_label=offer.gpu_label,
            gpu_count=_count(offer.gpu_count),
            region=offer.region,
            billing=offer.billing,
            price_per_hour=None if price is None else MoneyAnswer.of_price(price, offer.currency),
            as_of=offer.as_of,
            source=offer.source or None,
            note=offer.note,
            stale=is_stale(offer.as_of, today),
            own=offer.team_id is not None,
            billing_minimum_minutes=offer.billing_minimum_minutes,
            billing_granularity_minutes=offer.billing_granularity_minutes,
            tiers=None if offer.tiers is None else [TierAnswer(**tier) for tier in offer.tiers],
            discount_percent=_number(offer.discount_percent),
            discount_valid_from=offer.discount_valid_from,
            discount_valid_until=offer.discount_valid_until,
            free_trial_hours=_number(offer.free_trial_hours),
            availability=offer.availability,
            availability_on=offer.availability_on,
            availability_note=offer.availability_note,
        )


class OfferPriceAnswer(Answer):
    """What an offer cost from this change to the next."""

    id: int
    price_per_hour: MoneyAnswer
    as_of: date | None
    source: str | None
    changed_at: InstantAnswer
    changed_by: str

    @classmethod
    def of(cls, price: OfferPrice) -> "OfferPriceAnswer":
        """The price as it was entered."""
        return cls(
            id=price.id or 0,
            price_per_hour=MoneyAnswer.of_price(price.price_per_hour, price.currency),
            as_of=price.as_of,
            source=price.source or None,
            changed_at=price.changed_at,
            changed_by=price.changed_by,
        )


class ImportRowAnswer(Answer):
    """One row of a price list."""

    line: int
    verdict: Verdict
    reason: str | None = Field(description="Why it was refused, or which columns are other than before.")
    offer_id: int | None = Field(description="Null where there is no offer: refused, or new in a dry run.")


class PriceListAnswer(Answer):
    """What a price list brings, row by row."""

    counts: dict[Verdict, int]
    rows: list[ImportRowAnswer]
    unknown_columns: list[str]

    @classmethod
    def of(cls, made: PriceListImport, language: Language) -> "PriceListAnswer":
        """The import in the reader's language."""
        rows = [
            ImportRowAnswer(
                line=row.line,
                verdict=row.verdict,
                reason=" ".join(translate(reason, language) for reason in row.reasons) or None,
                offer_id=None if row.offer is None else row.offer.id,
            )
            for row in made.rows
        ]
        return cls(counts=made.counts, rows=rows, unknown_columns=list(made.unknown_columns))


class RateAnswer(Answer):
    """One unit of ``from`` is ``rate`` units of ``to`` on ``date``."""

    id: int
    from_currency: str = Field(serialization_alias="from", examples=["USD"])
    to_currency: str = Field(serialization_alias="to", examples=["CNY"])
    day: date = Field(serialization_alias="date")
    rate: str = Field(examples=["7.10"])
    source: str

    @classmethod
    def of(cls, rate: Rate) -> "RateAnswer":
        """The rate as it was entered."""
        return cls(
            id=rate.id or 0,
            from_currency=rate.from_currency,
            to_currency=rate.to_currency,
            day=rate.day,
            rate=f"{rate.rate:f}",
            source=rate.source,
        )


def _count(value: Decimal) -> int | float:
    return int(value) if value == int(value) else float(value)


def _number(value: Decimal | None) -> int | float | None:
    return None if value is None else _count(value)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value
