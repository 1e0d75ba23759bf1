"""Time: offsets are demanded, days are local, weeks are ISO's."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.time import (
    InstantError,
    format_instant,
    local_day,
    microseconds_between,
    parse_instant,
    parse_week,
    split_by_day,
    start_of_day,
    week_of,
)

SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")
INSTANTS = st.integers(946_684_800, 4_102_444_800).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


def test_an_instant_is_read_with_its_offset_and_shown_in_utc() -> None:
    assert format_instant(parse_instant("2026-12-01T11:00:00+08:00")) == "2026-12-01T03:00:00Z"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2026-12-01T11:00:00", "no_offset"),
        ("2026-12-01T11:00", "no_offset"),
        ("2026-13-01T11:00:00Z", "not_an_instant"),
        ("2026-02-30T11:00:00Z", "not_an_instant"),
        ("2026-12-01", "not_an_instant"),
        ("yesterday", "not_an_instant"),
        ("0001-01-01T00:00:00+14:00", "not_an_instant"),
        ("9999-12-31T23:59:59-12:00", "not_an_instant"),
    ],
)
def test_what_is_no_instant_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(InstantError) as caught:
        parse_instant(text)
    assert caught.value.reason == reason


def test_digits_beyond_a_microsecond_are_cut() -> None:
    assert parse_instant("2026-12-01T00:00:00.123456789Z").microsecond == 123456


def test_a_day_begins_at_local_midnight() -> None:
    assert start_of_day(date(2026, 12, 1), SHANGHAI) == datetime(2026, 11, 30, 16, tzinfo=UTC)
    assert local_day(datetime(2026, 11, 30, 16, tzinfo=UTC), SHANGHAI) == date(2026, 12, 1)


def test_the_day_on_which_clocks_go_back_has_25_hours() -> None:
    start, end = start_of_day(date(2026, 10, 25), BERLIN), start_of_day(date(2026, 10, 26), BERLIN)
    (piece,) = split_by_day(start, end, BERLIN)
    assert piece.microseconds == 25 * 3_600_000_000


def test_a_stretch_is_cut_at_every_local_midnight() -> None:
    start = datetime(2026, 11, 30, 14, tzinfo=UTC)  # 22:00 in Shanghai
    pieces = list(split_by_day(start, start + timedelta(hours=30), SHANGHAI))
    assert [(piece.day.isoformat(), piece.microseconds // 3_600_000_000) for piece in pieces] == [
        ("2026-11-30", 2),
        ("2026-12-01", 24),
        ("2026-12-02", 4),
    ]


def test_an_empty_stretch_falls_on_its_day() -> None:
    (piece,) = split_by_day(datetime(2026, 12, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC), SHANGHAI)
    assert (piece.day, piece.microseconds) == (date(2026, 12, 1), 0)


@given(INSTANTS, st.integers(0, 10**12), st.sampled_from(["Asia/Shanghai", "Europe/Berlin", "America/New_York"]))
def test_pieces_sum_to_the_whole_and_touch(start: datetime, microseconds: int, zone_name: str) -> None:
    end = start + timedelta(microseconds=microseconds)
    pieces = list(split_by_day(start, end, ZoneInfo(zone_name)))
    assert sum(piece.microseconds for piece in pieces) == microseconds_between(start, end)
    assert all(left.ended_at == right.started_at for left, right in pairwise(pieces))
    assert all(local_day(piece.started_at, ZoneInfo(zone_name)) == piece.day for piece in pieces)


@pytest.mark.parametrize("text", ["2026-W00", "2025-W53", "2026-W54", "2026-49", "W49", "0000-W01", ""])
def test_a_week_that_does_not_exist_is_none(text: str) -> None:
    assert parse_week(text) is None


def test_iso_weeks_cross_the_turn_of_the_year() -> None:
    week = parse_week("2026-W53")
    assert week is not None
    assert (week.monday, week.next_monday) == (date(2026, 12, 28), date(2027, 1, 4))
    assert str(week_of(date(2027, 1, 3))) == "2026-W53"
