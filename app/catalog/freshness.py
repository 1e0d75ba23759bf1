"""How old a price may be before it says so; pure."""

from datetime import date

LARGEST_AGE_DAYS = 30


def is_stale(as_of: date | None, today: date) -> bool:
    """Whether a price of ``as_of`` is undated or older than 30 days on ``today``."""
    return as_of is None or (today - as_of).days > LARGEST_AGE_DAYS
