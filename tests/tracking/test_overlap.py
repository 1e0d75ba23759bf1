"""Which runs on one instance share some of their time."""

from datetime import UTC, datetime, timedelta
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from app.tracking.overlap import InstanceUse, overlapping_run_ids

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def use(run_id: int, start: int, end: int | None, instance: str = "ins-1") -> InstanceUse:
    """From so many hours after noon to so many."""
    until = None if end is None else NOON + timedelta(hours=end)
    return InstanceUse(run_id, instance, NOON + timedelta(hours=start), until)


def test_both_are_found() -> None:
    assert overlapping_run_ids([use(1, 0, 4), use(2, 3, 5), use(3, 6, 7)]) == {1, 2}


def test_one_that_ends_when_the_other_starts_does_not_overlap() -> None:
    assert overlapping_run_ids([use(1, 0, 4), use(2, 4, 5)]) == set()


def test_another_instance_is_another_matter() -> None:
    assert overlapping_run_ids([use(1, 0, 4), use(2, 1, 2, "ins-2")]) == set()


def test_a_running_one_goes_on() -> None:
    assert overlapping_run_ids([use(1, 0, None), use(2, 100, 101), use(3, 200, None)]) == {1, 2, 3}


def test_an_empty_run_takes_no_time_from_another() -> None:
    assert overlapping_run_ids([use(1, 0, 4), use(2, 2, 2)]) == set()


uses = st.builds(
    lambda start, length, instance: (start, None if length is None else start + length, instance),
    st.integers(0, 30),
    st.none() | st.integers(0, 8),
    st.sampled_from(["ins-1", "ins-2"]),
)


@given(st.lists(uses, max_size=12))
def test_it_finds_what_comparing_every_pair_finds(drawn: list[tuple[int, int | None, str]]) -> None:
    all_uses = [use(number, *one) for number, one in enumerate(drawn)]
    expected: set[int] = set()
    for left, right in combinations(all_uses, 2):
        lasts = left.until > left.started_at and right.until > right.started_at
        meets = left.started_at < right.until and right.started_at < left.until
        if left.instance == right.instance and lasts and meets:
            expected |= {left.run_id, right.run_id}
    assert overlapping_run_ids(all_uses) == expected
