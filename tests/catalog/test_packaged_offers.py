"""The packaged offers: prices stated here a second time, and what holds for all of them."""

from collections import Counter
from datetime import date
from decimal import Decimal

from app.catalog.gpus import find_gpu
from app.catalog.packaged_offers import PackagedOffer, list_packaged_offers, offers_digest, provider_names
from app.money import CURRENCIES


def offers_of(instance_type: str, region: str | None = None) -> list[PackagedOffer]:
    found = [offer for offer in list_packaged_offers() if offer.instance_type == instance_type]
    return [offer for offer in found if region in (None, offer.region)]


def test_ids_are_written_and_unique() -> None:
    ids = [offer.id for offer in list_packaged_offers()]
    assert len(ids) >= 100
    assert ids == list(range(1, len(ids) + 1))


def test_prices_differ_by_region() -> None:
    here, there = offers_of("ecs.gn7i-c8g1.2xlarge", "cn-hangzhou"), offers_of("ecs.gn7i-c8g1.2xlarge", "cn-wulanchabu")
    assert [offer.price_per_hour for offer in here] == [Decimal("9.5326")]
    assert [offer.price_per_hour for offer in there] == [Decimal("8.5794")]


def test_each_billing_mode_is_an_offer_of_its_own() -> None:
    prices = {offer.billing: (offer.price_per_hour, offer.confidence) for offer in offers_of("g5.xlarge", "us-east-1")}
    assert prices == {"on_demand": (Decimal("1.006"), "high"), "spot": (Decimal("0.4125"), "low")}


def test_a_monthly_price_is_spread_over_730_hours() -> None:
    monthly = next(offer for offer in offers_of("GN7.2XLARGE32") if offer.billing == "monthly")
    # 2500 / 730 = 3.42465753…
    assert monthly.price_per_hour == Decimal("3.424658")
    assert monthly.as_of == date(2026, 6, 15)


def test_gn7_is_a_t4_and_its_suffix_is_no_gpu_memory() -> None:
    assert {offer.gpu for offer in list_packaged_offers() if offer.instance_type.startswith("GN7.")} == {"t4"}


def test_the_a10_of_tencent_has_no_known_price() -> None:
    (offer,) = offers_of("PNV4.7XLARGE116")
    assert (offer.gpu, offer.billing, offer.price_per_hour, offer.as_of) == ("a10", "on_demand", None, None)


def test_a_slice_is_a_fraction_of_a_card() -> None:
    (offer,) = offers_of("ecs.vgn7i-vws-m12.3xlarge")
    assert (offer.gpu, offer.gpu_count) == ("a10", Decimal("0.5"))


def test_a_price_that_only_repeats_the_list_price_is_no_spot_price() -> None:
    assert {offer.billing for offer in offers_of("1x_A100-80GB_SECURE")} == {"on_demand"}


def test_every_offer_is_complete_or_explicitly_unknown() -> None:
    for offer in list_packaged_offers():
        assert offer.provider in provider_names(), offer.id
        assert find_gpu(offer.gpu) is not None, offer.id
        assert 0 < offer.gpu_count <= 16, offer.id
        assert offer.currency in CURRENCIES, offer.id
        assert offer.price_per_hour is None or offer.price_per_hour > 0, offer.id
        assert offer.as_of is None or date(2020, 1, 1) < offer.as_of <= date(2026, 12, 1), offer.id
        assert offer.source is None or "unnamed" not in offer.source, offer.id
        assert offer.source is not None or offer.confidence == "low", offer.id


def test_no_two_offers_are_the_same() -> None:
    offers = list_packaged_offers()
    keys = Counter((offer.provider, offer.instance_type, offer.gpu, offer.region, offer.billing) for offer in offers)
    assert [key for key, times in keys.items() if times > 1] == []


def test_the_digest_names_the_content() -> None:
    assert len(offers_digest()) == 64


def test_providers_have_a_name_in_both_languages() -> None:
    assert provider_names()["alibaba"] == {"en": "Alibaba Cloud", "zh_CN": "阿里云"}
    assert all(set(names) == {"en", "zh_CN"} for names in provider_names().values())
