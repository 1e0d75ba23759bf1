"""What a run costs, whole and by day."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from app.catalog.pricing import Pricing
from app.tracking.hours import RunTime
from app.tracking.run_cost import run_cost, run_days

SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")
ONE = Decimal(1)


def lasting(
    hours: float, instances: int = 1, start: datetime = datetime(2026, 11, 2, 1, tzinfo=UTC)
) -> RunTime:
    # In UTC: hours added to local time would be those of the clock on the wall.
    begin = start.astimezone(UTC)
    return RunTime(begin, begin + timedelta(hours=hours), instances)


def test_twelve_hours_at_3_20() -> None:
    assert run_cost(lasting(12), Pricing(Decimal("3.20"))) == Decimal("38.40")
    assert run_cost(lasting(12, instances=3), Pricing(Decimal("3.20"))) == Decimal("115.20")


def test_a_run_without_an_end_costs_nothing_yet() -> None:
    time = RunTime(datetime(2026, 11, 2, tzinfo=UTC), None)
    assert run_cost(time, Pricing(Decimal("3.20"))) == 0
    assert run_days(time, Pricing(Decimal("3.20")), ONE, SHANGHAI) == []


def test_dollars_at_7_10() -> None:
    assert run_cost(lasting(12), Pricing(Decimal("0.50")), Decimal("7.10")) == Decimal("42.60")


def test_over_sunday_midnight() -> None:
    time = lasting(8, start=datetime(2026, 11, 8, 21, tzinfo=SHANGHAI))
    days = run_days(time, Pricing(Decimal("3.20")), ONE, SHANGHAI)
    assert [(day.local_day, day.billed_amount) for day in days] == [
        (date(2026, 11, 8), Decimal("9.60")),
        (date(2026, 11, 9), Decimal("16.00")),
    ]
    assert [day.list_amount for day in days] == [day.billed_amount for day in days]


def test_a_day_of_25_hours_costs_25() -> None:
    time = lasting(25, start=datetime(2026, 10, 25, tzinfo=BERLIN))
    (day,) = run_days(time, Pricing(ONE), ONE, BERLIN)
    assert (day.local_day, day.billed_amount) == (date(2026, 10, 25), Decimal(25))


def test_three_days_whose_thirds_cannot_be_written() -> None:
    # 72 h at 0.000001 an hour are 0.000072; from 16:00 on the days have 8, 24, 24 and 16 h of them. At a price of a
    # ninth of that per hour there would be fractions: 8/9, 32/9, 56/9 and 8 micro-units are shown as 1, 3, 2 and 2.
    time = lasting(72, start=datetime(2026, 11, 2, 16, tzinfo=SHANGHAI))
    days = run_days(time, Pricing(Decimal("0.000001")), Decimal(1) / Decimal(9), SHANGHAI)
    assert [day.billed_amount * 1_000_000 for day in days] == [1, 3, 2, 2]


def test_another_currency_is_rounded_once() -> None:
    # Half an hour at 0.000001 × 7.1 is 0.00000355; rounded before the conversion it would be 0.000007.
    assert run_cost(lasting(0.5), Pricing(Decimal("0.000001")), Decimal("7.1")) == Decimal("0.000004")


moments = st.integers(0, 334 * 24 * 3600).map(
    lambda after: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=after)
)


@given(
    moments,
    st.integers(0, 20 * 24 * 3_600_000_000),
    st.integers(1, 8),
    st.decimals(0, 1000, places=6),
    st.decimals("0.000001", 1000, places=6),
    st.sampled_from([SHANGHAI, BERLIN]),
)
def test_days_sum_to_the_run_exactly(
    start: datetime, elapsed_us: int, instances: int, price: Decimal, rate: Decimal, zone: ZoneInfo
) -> None:
    time = RunTime(start, start + timedelta(microseconds=elapsed_us), instances)
    days = run_days(time, Pricing(price), rate, zone)
    assert sum(day.billed_amount for day in days) == run_cost(time, Pricing(price), rate)
    assert all(day.billed_amount >= 0 for day in days)
