"""Hours from instants, cut at local midnights."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from app.time import MICROSECONDS_PER_HOUR
from app.tracking.hours import RunTime, split_hours

SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")
HOUR = MICROSECONDS_PER_HOUR


def test_one_instance_of_eight_gpus_for_ten_hours() -> None:
    start = datetime(2026, 11, 2, tzinfo=UTC)
    time = RunTime(start, start + timedelta(hours=10), 1, Decimal(8))
    assert (time.hours, time.instance_us, time.gpu_us) == (10.0, 10 * HOUR, 80 * HOUR)


def test_a_run_without_an_end_has_no_hours_yet() -> None:
    time = RunTime(datetime(2026, 11, 2, tzinfo=UTC), None, 4, Decimal(8))
    assert (time.hours, time.instance_us, time.gpu_us, split_hours(time, SHANGHAI)) == (0.0, 0, 0, [])


def test_a_run_over_sunday_midnight_belongs_to_both_days() -> None:
    start = datetime(2026, 11, 8, 20, tzinfo=SHANGHAI)
    parts = split_hours(RunTime(start, start + timedelta(hours=8), 2, Decimal("0.5")), SHANGHAI)
    assert [(part.day, part.until_us, part.instance_us, part.gpu_us) for part in parts] == [
        (date(2026, 11, 8), 4 * HOUR, 8 * HOUR, 4 * HOUR),
        (date(2026, 11, 9), 8 * HOUR, 8 * HOUR, 4 * HOUR),
    ]


def test_the_day_on_which_clocks_go_back_has_25_hours() -> None:
    start = datetime(2026, 10, 25, tzinfo=BERLIN).astimezone(UTC)
    time = RunTime(start, datetime(2026, 10, 26, 1, tzinfo=BERLIN).astimezone(UTC))
    parts = split_hours(time, BERLIN)
    assert time.hours == 26.0
    assert [(part.day.day, part.instance_us) for part in parts] == [(25, 25 * HOUR), (26, HOUR)]


def test_a_third_of_a_microsecond_is_rounded_not_lost() -> None:
    start = datetime(
        2026, 11, 8, 15, 59, 59, 999_999, tzinfo=UTC
    )  # a microsecond before midnight in Shanghai
    time = RunTime(start, start + timedelta(microseconds=2), 1, Decimal("0.25"))
    assert time.gpu_us == 1  # 0.5, half up
    assert [part.gpu_us for part in split_hours(time, SHANGHAI)] == [0, 1]  # 0.25, then the rest


moments = st.integers(0, 334 * 24 * 3600).map(
    lambda after: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=after)
)


@given(
    moments,
    st.integers(0, 40 * 24 * HOUR),
    st.integers(1, 64),
    st.decimals("0.01", 16, places=3),
    st.sampled_from([SHANGHAI, BERLIN, ZoneInfo("America/St_Johns")]),
)
def test_parts_sum_to_the_run(
    start: datetime, elapsed_us: int, instances: int, gpus: Decimal, zone: ZoneInfo
) -> None:
    time = RunTime(start, start + timedelta(microseconds=elapsed_us), instances, gpus)
    parts = split_hours(time, zone)
    assert sum(part.instance_us for part in parts) == time.instance_us
    assert sum(part.gpu_us for part in parts) == time.gpu_us
    assert parts[-1].until_us == elapsed_us
    days = [part.day for part in parts]
    assert days == [days[0] + timedelta(days=number) for number in range(len(days))]
