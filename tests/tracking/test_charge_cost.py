"""What a charge spends on each day of its period."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from app.tracking.charge_cost import ChargeTerms, charge_days

SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")


def amounts(terms: ChargeTerms, start: datetime, end: datetime, zone: ZoneInfo = SHANGHAI) -> list[str]:
    return [str(day.billed_amount) for day in charge_days(terms, start, end, zone)]


def test_ten_over_three_days() -> None:
    start = datetime(2026, 11, 2, tzinfo=SHANGHAI)
    ten = ChargeTerms(Decimal(10), Decimal(10))
    assert amounts(ten, start, start + timedelta(days=3)) == ["3.333333", "3.333334", "3.333333"]


def test_a_refund_is_the_mirror_of_what_it_refunds() -> None:
    start = datetime(2026, 11, 2, tzinfo=SHANGHAI)
    refund = ChargeTerms(Decimal(-10), Decimal(0))
    days = charge_days(refund, start, start + timedelta(days=3), SHANGHAI)
    assert [str(day.billed_amount) for day in days] == ["-3.333333", "-3.333334", "-3.333333"]
    assert [day.list_amount for day in days] == [0, 0, 0]


def test_the_end_is_no_part_of_the_period() -> None:
    start = datetime(2026, 11, 2, tzinfo=SHANGHAI)
    days = charge_days(ChargeTerms(Decimal(6), Decimal(6)), start, start + timedelta(days=2), SHANGHAI)
    assert [day.local_day for day in days] == [date(2026, 11, 2), date(2026, 11, 3)]


def test_an_empty_period_is_spent_whole_on_its_day() -> None:
    at = datetime(2026, 11, 2, 23, tzinfo=SHANGHAI)
    (day,) = charge_days(ChargeTerms(Decimal("6.40"), Decimal(8)), at, at, SHANGHAI)
    assert (day.local_day, day.billed_amount, day.list_amount) == (
        date(2026, 11, 2),
        Decimal("6.40"),
        Decimal(8),
    )


def test_a_day_of_25_hours_takes_25_parts() -> None:
    start = datetime(2026, 10, 25, tzinfo=BERLIN)
    charge = ChargeTerms(Decimal(49), Decimal(49))
    assert amounts(charge, start, datetime(2026, 10, 27, tzinfo=BERLIN), BERLIN) == ["25.000000", "24.000000"]


def test_dollars_at_7_10() -> None:
    charge = ChargeTerms(Decimal(2), Decimal(3), Decimal("7.10"))
    assert (charge.cost, charge.list_cost) == (Decimal("14.20"), Decimal("21.30"))


moments = st.integers(0, 334 * 24 * 3600).map(
    lambda after: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=after)
)


@given(
    moments,
    st.integers(0, 40 * 24 * 3_600_000_000),
    st.decimals(-1000, 1000, places=6),
    st.decimals("0.000001", 1000, places=6),
    st.sampled_from([SHANGHAI, BERLIN]),
)
def test_days_sum_to_the_charge_exactly(
    start: datetime, period_us: int, amount: Decimal, rate: Decimal, zone: ZoneInfo
) -> None:
    charge = ChargeTerms(amount, abs(amount), rate)
    days = charge_days(charge, start, start + timedelta(microseconds=period_us), zone)
    assert sum(day.billed_amount for day in days) == charge.cost
    assert sum(day.list_amount for day in days) == charge.list_cost
