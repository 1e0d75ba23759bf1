"""Current prices of international clouds as a price list, by the ``gpuhunt`` library, an extra that is off by default.

What it publishes is written as CSV that the catalogue imports, so that a person sees what would change before it does.
gpuhunt tells a GPU by name and memory: where that leaves two cards, the slower one is taken, and the note says so.
"""

import csv
import io
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from app.catalog.gpus import find_gpu
from app.catalog.price_list import COLUMNS, MOST_ROWS
from app.errors import InvalidInput, TuneledgerError
from app.i18n import Message

# Name and GiB at gpuhunt; the GPU here; whether another card has the same name and memory.
_GPUS: Mapping[tuple[str, int], tuple[str, bool]] = {
    ("P100", 16): ("p100-pcie-16", True),
    ("V100", 16): ("v100-pcie-16", True),
    ("V100", 32): ("v100-pcie-32", True),
    ("T4", 16): ("t4", False),
    ("A10", 24): ("a10", False),
    ("A10G", 24): ("a10g", False),
    ("A30", 24): ("a30", False),
    ("A40", 48): ("a40", False),
    ("A100", 40): ("a100-pcie-40", True),
    ("A100", 80): ("a100-pcie-80", True),
    ("A4000", 16): ("rtx-a4000", False),
    ("A5000", 24): ("rtx-a5000", False),
    ("A6000", 48): ("rtx-a6000", False),
    ("RTX2080Ti", 11): ("rtx-2080ti", False),
    ("RTX3090", 24): ("rtx-3090", False),
    ("RTX3090Ti", 24): ("rtx-3090ti", False),
    ("RTX4090", 24): ("rtx-4090", False),
    ("RTX5090", 32): ("rtx-5090", False),
    ("RTX6000Ada", 48): ("rtx-6000-ada", False),
    ("RTX6000", 48): ("rtx-6000-ada", False),
    ("L4", 24): ("l4", False),
    ("L40", 48): ("l40", False),
    ("L40S", 48): ("l40s", False),
    ("H100", 80): ("h100-pcie", True),
    ("H100NVL", 94): ("h100-nvl", False),
    ("H200", 141): ("h200-sxm", False),
    ("H200NVL", 141): ("h200-nvl", False),
    ("B200", 180): ("b200", False),
    ("MI300X", 192): ("mi300x", False),
}
_PROVIDERS = {"lambdalabs": "lambda"}
# The published lists; the others would be asked one by one, with a key of the team's.
PROVIDERS = ("aws", "azure", "cloudrift", "gcp", "lambdalabs", "nebius", "oci", "runpod", "verda")
NOTE = "gpuhunt does not tell PCIe from SXM: taken as PCIe"


class ExtraMissing(TuneledgerError):
    """The extra is not installed."""

    def __init__(self) -> None:
        super().__init__(Message("This needs an extra: pip install 'tuneledger[gpuhunt]'."))


class NoPrices(TuneledgerError):
    """The published lists could not be fetched."""

    def __init__(self, reason: str) -> None:
        super().__init__(Message("No prices could be fetched: %(reason)s", reason=reason))


@dataclass(frozen=True, slots=True)
class WantedPrices:
    """Which prices; empty means all."""

    providers: Sequence[str] = ()
    gpus: Sequence[str] = ()
    regions: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FetchedPrices:
    """The price list as CSV text, a line an offer; ``missing``: providers whose list could not be fetched."""

    csv: str
    missing: Sequence[str]


def fetch_price_list(wanted: WantedPrices, today: date) -> FetchedPrices:
    """The prices that are published now.

    Raises ExtraMissing, NoPrices, and InvalidInput for an unknown provider or GPU, and for more lines than can be
    imported.
    """
    for provider in wanted.providers:
        if provider not in PROVIDERS:
            raise InvalidInput.at("--provider", Message("Choose one of: %(names)s.", names=", ".join(PROVIDERS)))
    if any(find_gpu(gpu) is None for gpu in wanted.gpus):
        raise InvalidInput.at("--gpu", Message("There is no such GPU in the catalogue."))
    items, missing = _fetch(wanted.providers or PROVIDERS)
    rows = sorted(_cheapest(_rows(items, wanted, today)), key=_order)
    if len(rows) > MOST_ROWS:
        message = Message("These are %(count)s prices; name GPUs or regions until they are at most %(most)s.",
                          count=len(rows), most=MOST_ROWS)  # fmt: skip
        raise InvalidInput.at("--gpu", message)
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return FetchedPrices(text.getvalue(), missing)


def _fetch(providers: Sequence[str]) -> tuple[list[Any], list[str]]:
    try:
        import gpuhunt  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ExtraMissing from error
    # It logs a traceback for each provider; what is missing is said below.
    logging.getLogger("gpuhunt").setLevel(logging.CRITICAL)
    catalog = gpuhunt.Catalog(auto_reload=False)
    try:
        catalog.load()
    except gpuhunt.GPUHuntError as error:
        raise NoPrices(str(error.__cause__ or error)) from error
    there = [provider for provider in providers if provider in catalog.catalog]
    items = [item for provider in there for item in catalog.query(provider=provider, min_gpu_count=1)]
    return items, [provider for provider in providers if provider not in there]


def _rows(items: Iterable[Any], wanted: WantedPrices, today: date) -> Iterator[dict[str, str]]:
    for item in items:
        gpu, is_assumed = _GPUS.get((item.gpu_name, round(item.gpu_memory or 0)), ("", False))
        price = Decimal(str(item.price)).quantize(Decimal("0.000001")).normalize()
        is_wanted = not wanted.gpus or gpu in wanted.gpus
        if not gpu or not is_wanted or price <= 0 or (wanted.regions and item.location not in wanted.regions):
            continue
        yield {
            "provider": _PROVIDERS.get(item.provider, item.provider),
            "instance_type": item.instance_name,
            "gpu": gpu,
            "gpu_count": str(item.gpu_count),
            "region": item.location,
            "billing": "spot" if item.spot else "on_demand",
            "price_per_hour": f"{price:f}",
            "currency": "USD",
            "as_of": today.isoformat(),
            "source": f"gpuhunt, {item.provider}",
            "note": NOTE if is_assumed else "",
        }


def _cheapest(rows: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Of offers that only their price tells apart, the cheapest."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        key = (*_order(row), row["gpu"], row["gpu_count"])
        if key not in found or Decimal(row["price_per_hour"]) < Decimal(found[key]["price_per_hour"]):
            found[key] = row
    return list(found.values())


def _order(row: Mapping[str, str]) -> tuple[str, ...]:
    return (row["provider"], row["instance_type"], row["region"], row["billing"])
