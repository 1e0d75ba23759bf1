"""The packaged GPUs: figures stated here a second time, from the vendors' documents and the driver."""

from datetime import date

import pytest

from app.catalog.gpus import FIGURES, find_gpu, list_gpus

MIB = 1024**2


def test_there_are_enough_of_them_and_each_once() -> None:
    ids = [gpu.id for gpu in list_gpus()]
    assert len(ids) >= 40
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("gpu_id", "reported_mib"),
    [("a10", 23_028), ("t4", 15_360), ("rtx-4090", 24_564), ("l40s", 46_068), ("h100-sxm", 81_559), ("h20-96", 97_871)],
)
def test_memory_is_what_the_driver_reports(gpu_id: str, reported_mib: int) -> None:
    gpu = find_gpu(gpu_id)
    assert gpu is not None
    assert gpu.memory_bytes == reported_mib * MIB


@pytest.mark.parametrize(
    ("gpu_id", "bf16_tflops", "bandwidth"),
    [
        ("a10", 125, 600),
        ("a10g", 70, 600),
        ("a100-sxm-80", 312, 2039),
        ("h100-sxm", 989.4, 3350),
        ("h20-96", 148, 4000),
        ("rtx-4090", 165.2, 1008),
        ("l4", 121, 300),
    ],
)
def test_rates_are_dense(gpu_id: str, bf16_tflops: float, bandwidth: float) -> None:
    gpu = find_gpu(gpu_id)
    assert gpu is not None
    assert gpu.bf16_tflops == bf16_tflops
    assert gpu.bandwidth_gb_per_second == bandwidth


@pytest.mark.parametrize("gpu_id", ["t4", "v100-sxm2-32", "p40", "p100-pcie-16", "rtx-2080ti"])
def test_cards_before_ampere_have_no_bf16(gpu_id: str) -> None:
    gpu = find_gpu(gpu_id)
    assert gpu is not None
    assert not gpu.supports_bf16
    assert gpu.bf16_tflops is None
    assert float(gpu.compute_capability or 0) < 8


def test_the_export_variants_differ_where_it_matters() -> None:
    h800, h100 = find_gpu("h800-sxm"), find_gpu("h100-sxm")
    assert h800 is not None
    assert h100 is not None
    assert (h800.interconnect_gb_per_second, h100.interconnect_gb_per_second) == (400, 900)
    assert h800.bf16_tflops == h100.bf16_tflops


def test_a_card_whose_driver_report_is_unknown_says_so() -> None:
    gpu = find_gpu("mi250")
    assert gpu is not None
    assert gpu.memory_bytes is None


def test_an_unknown_id_is_none() -> None:
    assert find_gpu("a11") is None


def test_every_figure_is_positive_or_unknown_and_has_a_date() -> None:
    for gpu in list_gpus():
        numbers = [gpu.memory_bytes, gpu.bandwidth_gb_per_second, gpu.interconnect_gb_per_second]
        numbers += [gpu.fp16_tflops, gpu.bf16_tflops, gpu.tf32_tflops, gpu.fp32_tflops]
        assert all(number is None or number > 0 for number in numbers), gpu.id
        assert gpu.as_of <= date(2026, 12, 1)
        assert gpu.supports_bf16 == (gpu.bf16_tflops is not None)
        assert (gpu.interconnect is None) == (gpu.interconnect_gb_per_second is None)


def test_sources_can_be_followed() -> None:
    for gpu in list_gpus():
        assert set(gpu.sources) <= set(FIGURES)
        assert all(source and "unnamed" not in source for source in gpu.sources.values())
        assert gpu.confidence == "low" or gpu.source


def test_a_memory_without_a_source_is_shown_as_such() -> None:
    gpu = find_gpu("a10")
    assert gpu is not None
    assert "memory" not in gpu.sources
    assert gpu.confidence == "low"
    assert gpu.source == "vendor datasheet; lightning-fabric 2.6.6, utilities/throughput.py"
