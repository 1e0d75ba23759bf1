"""The GPUs of the packaged catalogue; pure.

Memory is what the driver reports, not the number on the box. Rates are dense (no sparsity) and, on consumer cards, with
accumulation in fp32. A figure that is not known is None; a figure whose source nobody can follow has no source.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from app.catalog.packaged import read_packaged

Figure = Literal["memory", "bandwidth", "rates", "interconnect", "compute_capability"]
FIGURES: tuple[Figure, ...] = ("memory", "bandwidth", "rates", "interconnect", "compute_capability")

_BYTES_PER_MIB = 1024**2


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU model.

    ``memory_bytes``: usable, as the driver reports it; None where no report is known (it is then never said to fit).
    ``bandwidth_gb_per_second``: memory bandwidth, 10⁹ bytes. ``*_tflops``: dense rates, 10¹² operations a second.
    ``interconnect_gb_per_second``: all links of one card, both directions together. ``pcie``: generation and lanes.
    ``compute_capability``: NVIDIA's number, AMD's target name, or None. ``sources``: by figure; a figure that is
    missing there is unsourced. ``as_of``: the day on which the catalogue was compiled.
    """

    id: str
    name: str
    vendor: str
    architecture: str
    compute_capability: str | None
    memory_bytes: int | None
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
    interconnect_gb_per_second: float | None
    pcie: str
    power_watts: int
    form_factor: str
    sources: Mapping[Figure, str]
    confidence: Literal["high", "medium", "low"]
    notes: str
    as_of: date

    @property
    def source(self) -> str | None:
        """All sources in one line, each once; None where there is none."""
        named = [part for figure in FIGURES for part in self.sources.get(figure, "").split("; ") if part]
        return "; ".join(dict.fromkeys(named)) or None

    @property
    def training_tflops(self) -> float | None:
        """The better of the dense rates in bf16 and fp16; None where neither is known."""
        return max((rate for rate in (self.bf16_tflops, self.fp16_tflops) if rate), default=None)


@cache
def list_gpus() -> tuple[Gpu, ...]:
    """All GPUs, in the order of the catalogue."""
    content = read_packaged("gpus")
    compiled_on = date.fromisoformat(content["compiled_on"])
    return tuple(_gpu(row, compiled_on) for row in content["gpus"])


def find_gpu(gpu_id: str) -> Gpu | None:
    """The GPU with this id (``a10``, ``a100-sxm-80`` …), or None."""
    return _by_id().get(gpu_id)


@cache
def _by_id() -> Mapping[str, Gpu]:
    return MappingProxyType({gpu.id: gpu for gpu in list_gpus()})


def _gpu(row: Mapping[str, Any], compiled_on: date) -> Gpu:
    rates = row["dense_tflops"]
    reported_mib = row["memory_reported_mib"]
    return Gpu(
        id=row["id"],
        name=row["name"],
        vendor=row["vendor"],
        architecture=row["architecture"],
        compute_capability=row["compute_capability"],
        memory_bytes=None if reported_mib is None else reported_mib * _BYTES_PER_MIB,
        memory_nominal_gb=row["memory_nominal_gb"],
        memory_type=row["memory_type"],
        bandwidth_gb_per_second=row["bandwidth_gb_per_second"],
        fp16_tflops=rates["fp16"],
        bf16_tflops=rates["bf16"],
        tf32_tflops=rates["tf32"],
        fp32_tflops=rates["fp32"],
        supports_bf16=row["bf16"],
        supports_fp8=row["fp8"],
        interconnect=row["interconnect"],
        interconnect_gb_per_second=row["interconnect_gb_per_second"],
        pcie=row["pcie"],
        power_watts=row["power_watts"],
        form_factor=row["form_factor"],
        sources=MappingProxyType(row["sources"]),
        confidence=row["confidence"],
        notes=row["notes"],
        as_of=compiled_on,
    )
