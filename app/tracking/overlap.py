"""Which runs on one instance share some of their time; pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

_OPEN = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class InstanceUse:
    """A run's hold on an instance; without an end it goes on."""

    run_id: int
    instance: str
    started_at: datetime
    ended_at: datetime | None

    @property
    def until(self) -> datetime:
        """Its end, or the end of time."""
        return _OPEN if self.ended_at is None else self.ended_at


def overlapping_run_ids(uses: Iterable[InstanceUse]) -> set[int]:
    """Every run that another one on the same instance overlaps; touching ends and empty runs do not."""
    lasting = sorted(
        (use for use in uses if use.until > use.started_at), key=lambda use: (use.instance, use.started_at)
    )
    found: set[int] = set()
    for _, on_instance in groupby(lasting, key=lambda use: use.instance):
        found |= _on_one_instance(list(on_instance))
    return found


def _on_one_instance(uses: list[InstanceUse]) -> set[int]:
    """In the order of their starts, a use overlaps an earlier one exactly when it overlaps the longest lasting one."""
    found: set[int] = set()
    longest = uses[0]
    for use in uses[1:]:
        if use.started_at < longest.until:
            found |= {use.run_id, longest.run_id}
        longest = max(longest, use, key=lambda one: one.until)
    return found
