"""How the offers stand in the page's table."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from app.catalog.models import Offer
from app.catalog.offer_table import OfferRow, Sort, choices_of, page_of_rows, row_of, sorted_rows, with_memory

TODAY = date(2026, 12, 1)


def row(name: str, price: str | None, *, currency: str = "CNY", count: str = "1", gpu: str = "a10",
        as_of: date | None = TODAY) -> OfferRow:  # fmt: skip
    offer = Offer(
        provider="alibaba",
        instance_type=name,
        gpu=gpu,
        gpu_count=Decimal(count),
        region="cn-hangzhou",
        billing="spot",
        currency=currency,
        price_per_hour=None if price is None else Decimal(price),
        as_of=as_of,
        created_at=datetime(2026, 12, 1, tzinfo=UTC),
    )
    return row_of(offer, TODAY, "zh_CN")


ROWS = [
    row("unpriced", None, as_of=None),
    row("dollars", "0.50", currency="USD", as_of=date(2026, 11, 1)),
    row("eight", "24.00", count="8", gpu="t4", as_of=date(2026, 10, 1)),
    row("half", "2.00", count="0.5", gpu="l4"),
    row("one", "3.20", gpu="a10"),
]


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        # Within a currency by price, the unknown price last.
        ("price", ["half", "one", "eight", "dollars", "unpriced"]),
        # 24 / 8 = 3.00, 3.20, 2 / 0.5 = 4.00.
        ("gpu_price", ["eight", "one", "half", "dollars", "unpriced"]),
        # 3.20 / 125 = 0.0256; 4.00 / 121 = 0.0331; 3.00 / 65 = 0.0462.
        ("tflop_price", ["one", "half", "eight", "dollars", "unpriced"]),
        # 23,028 MiB (A10), 15,360 (T4), half of 23,034 (L4).
        ("memory", ["dollars", "one", "unpriced", "eight", "half"]),
        # NVIDIA A10, NVIDIA L4, Tesla T4.
        ("gpu", ["dollars", "one", "unpriced", "half", "eight"]),
        ("provider", ["dollars", "eight", "half", "one", "unpriced"]),
        ("as_of", ["half", "one", "dollars", "eight", "unpriced"]),
    ],
)
def test_the_order_of_the_rows(sort: Sort, names: list[str]) -> None:
    assert [row.offer.instance_type for row in sorted_rows(ROWS, sort)] == names


def test_the_price_of_a_slice_is_brought_to_a_whole_card() -> None:
    assert row("half", "2.00", count="0.5").price_per_gpu_hour == 4
    assert row("unpriced", None).price_per_gpu_hour is None


def test_the_price_of_a_tflop_hour() -> None:
    # 24.00 / (8 × 65): the T4 has no bf16, so fp16 counts.
    found = row("eight", "24.00", count="8", gpu="t4").price_per_tflop_hour
    assert found is not None
    assert round(found, 6) == Decimal("0.046154")
    assert row("unpriced", None).price_per_tflop_hour is None
    assert row("strange", "1.00", gpu="abacus").price_per_tflop_hour is None


def test_the_memory_of_a_slice_is_its_share() -> None:
    assert row("whole", "1", count="8").memory_bytes == 23_028 * 1024**2
    assert row("half", "1", count="0.5").memory_bytes == 11_514 * 1024**2
    assert row("unreported", "1", gpu="mi250").memory_bytes is None


def test_rows_with_enough_usable_memory() -> None:
    rows = [row("a10", "1"), row("t4", "1", gpu="t4"), row("unreported", "1", gpu="mi250")]
    assert [one.offer.instance_type for one in with_memory(rows, Decimal(15))] == ["a10", "t4"]
    # 23,028 MiB are 22.49 GiB.
    assert with_memory(rows, Decimal("22.5")) == []
    assert with_memory(rows, None) == rows


def test_the_discount_of_today_reduces_the_price() -> None:
    offer = row("one", "3.20").offer
    offer.discount_percent, offer.discount_valid_until = Decimal(15), TODAY
    assert row_of(offer, TODAY, "en").reduced_price_per_hour == Decimal("2.72")
    assert row_of(offer, date(2026, 12, 2), "en").reduced_price_per_hour is None


def test_a_provider_is_named_in_the_reader_s_language() -> None:
    assert ROWS[0].provider_name == "阿里云"
    assert row_of(ROWS[0].offer, TODAY, "en").provider_name == "Alibaba Cloud"
    assert choices_of([ROWS[0].offer], "en").providers == [("alibaba", "Alibaba Cloud")]


def test_a_provider_that_is_not_packaged_keeps_its_word() -> None:
    own = row("box", "1")
    own.offer.provider = "our cellar"
    assert row_of(own.offer, TODAY, "zh_CN").provider_name == "our cellar"


@pytest.mark.parametrize(("wanted", "number", "rows"), [(1, 1, 50), (2, 2, 1), (9, 2, 1), (0, 1, 50)])
def test_pages_of_the_table(wanted: int, number: int, rows: int) -> None:
    page = page_of_rows([ROWS[0]] * 51, wanted)
    assert (page.number, page.count, len(page.rows), page.total_rows) == (number, 2, rows, 51)


def test_an_empty_table_has_one_page() -> None:
    assert (page_of_rows([], 1).count, page_of_rows([], 1).rows) == (1, [])


def test_the_choices_are_those_that_occur() -> None:
    choices = choices_of([row.offer for row in ROWS], "en")
    assert choices.gpus == [("a10", "NVIDIA A10 24GB"), ("l4", "NVIDIA L4 24GB"), ("t4", "Tesla T4 16GB")]
    assert choices.regions == [("cn-hangzhou", "cn-hangzhou")]
