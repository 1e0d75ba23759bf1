"""The offers of the packaged catalogue: dated list prices with their sources; pure.

Ids are written in the data and never given to another offer. A price is per instance and hour. An offer whose price
nobody knows is kept without one; the day of a price that is known only by month or year is None.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from app.catalog.packaged import DATA_FOLDER, read_packaged

Billing = Literal["on_demand", "spot", "monthly"]


@dataclass(frozen=True, slots=True)
class PackagedOffer:
    """One instance type at one provider, in one region, under one billing mode.

    A slice of a card is a fraction of ``gpu_count``. ``gpu_label`` is what the provider calls the GPU.
    ``source`` is None where nobody could follow it.
    """

    id: int
    provider: str
    instance_type: str
    gpu: str
    gpu_label: str
    gpu_count: Decimal
    vcpu: int | None
    ram_gib: float | None
    region: str
    billing: Billing
    currency: str
    price_per_hour: Decimal | None
    as_of: date | None
    source: str | None
    confidence: Literal["high", "medium", "low"]
    notes: str


@cache
def list_packaged_offers() -> tuple[PackagedOffer, ...]:
    """All packaged offers, by id."""
    content = read_packaged("offers")
    return tuple(_offer(row, content["sources"]) for row in content["offers"])


@cache
def provider_names() -> Mapping[str, Mapping[str, str]]:
    """What a provider is called, by its id and then by locale (``en``, ``zh_CN``)."""
    return MappingProxyType(read_packaged("offers")["providers"])


@cache
def offers_digest() -> str:
    """SHA-256 of the packaged offers: tells whether a database holds these."""
    return hashlib.sha256((DATA_FOLDER / "offers.json").read_bytes()).hexdigest()


def _offer(row: Mapping[str, Any], sources: Mapping[str, str]) -> PackagedOffer:
    price, as_of = row["price_per_hour"], row["as_of"]
    return PackagedOffer(
        id=row["id"],
        provider=row["provider"],
        instance_type=row["instance_type"],
        gpu=row["gpu"],
        gpu_label=row["gpu_label"],
        gpu_count=Decimal(row["gpu_count"]),
        vcpu=row["vcpu"],
        ram_gib=row["ram_gib"],
        region=row["region"],
        billing=row["billing"],
        currency=row["currency"],
        price_per_hour=None if price is None else Decimal(price),
        as_of=None if as_of is None else date.fromisoformat(as_of),
        source=None if row["source"] is None else sources[row["source"]],
        confidence=row["confidence"],
        notes=row["notes"],
    )
