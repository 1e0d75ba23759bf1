"""Families that are taken for another GPU's; the truth is what the packaged offers say."""

import pytest

from app.catalog.gpus import find_gpu
from app.catalog.misnomers import find_misnomer
from app.catalog.packaged_offers import list_packaged_offers


@pytest.mark.parametrize(
    ("instance_type", "gpu", "english", "chinese"),
    [
        ("GN7.2XLARGE32", "t4", "often described as A10", "常被说成 A10"),
        ("GN7.LARGE20", "t4", "often described as A10", "常被说成 A10"),
        ("GN10X.2XLARGE40", "v100-sxm2-32", "often described as A100", "常被说成 A100"),
        ("GN10Xp.20XLARGE320", "v100-sxm2-32", "often described as A100", "常被说成 A100"),
    ],
)
def test_what_a_family_is_often_taken_for(instance_type: str, gpu: str, english: str, chinese: str) -> None:
    found = find_misnomer("tencent", instance_type)
    assert found is not None
    assert (found.gpu, found.note["en"], found.note["zh_CN"]) == (gpu, english, chinese)
    assert "Tencent Cloud" in found.source


def test_other_families_and_providers_have_none() -> None:
    assert find_misnomer("tencent", "PNV4.7XLARGE116") is None
    assert find_misnomer("tencent", "GN7vw.LARGE16") is None
    assert find_misnomer("alibaba", "GN7.2XLARGE32") is None


def test_the_packaged_offers_have_the_gpu_that_the_note_says() -> None:
    found = [(offer.gpu, find_misnomer(offer.provider, offer.instance_type)) for offer in list_packaged_offers()]
    named = [(gpu, misnomer) for gpu, misnomer in found if misnomer]
    assert len(named) >= 10
    assert all(misnomer.gpu == gpu and find_gpu(gpu) for gpu, misnomer in named)
