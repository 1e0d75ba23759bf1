"""Errors on measured runs: where the data is, and the figures that describe a list of errors."""

import json
import os
import statistics
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def data_folder() -> Path | None:
    """``TUNELEDGER_ACCURACY_DATA``, else ``../shared/accuracy``; None, with a word on stderr, where there is none."""
    folder = Path(os.environ.get("TUNELEDGER_ACCURACY_DATA", "../shared/accuracy"))
    if folder.is_dir():
        return folder
    sys.stderr.write(f"no data at {folder}: set TUNELEDGER_ACCURACY_DATA\n")
    return None


def read_rows(file: Path) -> Iterator[Row]:
    """The rows of a file of JSON lines."""
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@dataclass(frozen=True, slots=True)
class Score:
    """Shares; errors are relative, negative where the estimate is too low."""

    count: int
    median: float
    mean: float
    p90: float
    p95: float
    worst: float
    bias: float
    low: float

    @classmethod
    def of(cls, errors: Iterable[float]) -> "Score":
        """Of one error at least."""
        signed = list(errors)
        sizes = sorted(map(abs, signed))
        return cls(
            count=len(sizes),
            median=statistics.median(sizes),
            mean=statistics.fmean(sizes),
            p90=_quantile(sizes, 0.9),
            p95=_quantile(sizes, 0.95),
            worst=max(signed, key=abs),
            bias=statistics.median(signed),
            low=sum(error < -0.05 for error in signed) / len(signed),
        )


def _quantile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
