"""Mean, maximum and quantiles of lengths, pure."""

from collections.abc import Sequence

QUANTILES = (50, 90, 95, 99)


def quantiles(lengths: Sequence[int]) -> dict[int, int]:
    """By per cent, the shortest length that so many of the samples do not exceed (nearest rank)."""
    ordered = sorted(lengths)
    return {percent: ordered[-(-percent * len(ordered) // 100) - 1] for percent in QUANTILES}
