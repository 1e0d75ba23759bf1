"""Prints the estimator's errors on measured runs, without a server.

The data is a folder of JSON lines as the API's requests with what was observed beside them; its place is
``TUNELEDGER_ACCURACY_DATA``, else ``../shared/accuracy``.
"""

import json
import os
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from app.errors import InvalidInput
from app.planning.estimates import answer_for, read_estimate_input

Row = dict[str, Any]
READINGS = {
    "max_allocated": "peak_allocated_bytes",
    "max_reserved": "reserved_bytes",
    "nvidia_smi": "required_bytes",
}


def main() -> int:
    """Scores the three open files."""
    folder = Path(os.environ.get("TUNELEDGER_ACCURACY_DATA", "../shared/accuracy"))
    if not folder.is_dir():
        sys.stderr.write(f"no data at {folder}: set TUNELEDGER_ACCURACY_DATA\n")
        return 2
    _ground_truth(list(_rows(folder / "groundtruth_open.jsonl")))
    _measured(list(_rows(folder / "measured_open.jsonl")))
    _speed(list(_rows(folder / "speed_open.jsonl")))
    return 0


def _rows(file: Path) -> Iterator[Row]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _answer(row: Row) -> dict[str, Any] | None:
    try:
        return answer_for(read_estimate_input(row["request"]), "en", with_fixes=False)
    except InvalidInput:
        return None


def _ground_truth(rows: list[Row]) -> None:
    peaks, flops, winners, refused = [], [], 0, 0
    for row in rows:
        answer, observed = _answer(row), row["observed"]
        if answer is None:
            refused += 1
            continue
        peaks.append(answer["memory"]["peak_allocated_bytes"] / observed["bytes"] - 1)
        flops.append(answer["time"]["flops_per_step"] / observed["flops"] - 1)
        winners += answer["memory"]["peak_phase"] == observed["phase"]
    _line("exact steps, peak allocated", peaks, refused)
    _line("exact steps, FLOPs", flops, refused)
    print(f"  right winning moment: {winners}/{len(peaks)}")


def _measured(rows: list[Row]) -> None:
    errors: dict[str, list[float]] = defaultdict(list)
    refused = 0
    for row in rows:
        answer, observed = _answer(row), row["observed"]
        if answer is None:
            refused += 1
            continue
        if observed["metric"] in READINGS:
            predicted = answer["memory"][READINGS[observed["metric"]]]
            errors[observed["metric"]].append(predicted / observed["bytes"] - 1)
        for name, field in (("reserved_bytes", "reserved_bytes"), ("process_bytes", "required_bytes")):
            if observed.get(name):
                errors[f"also {name}"].append(answer["memory"][field] / observed[name] - 1)
    for metric, found in sorted(errors.items()):
        _line(f"measured, {metric}", found, refused)


def _speed(rows: list[Row]) -> None:
    errors, refused = [], 0
    for row in rows:
        answer, observed = _answer(row), row["observed"]
        if answer is None or not observed["tokens_per_second"]:
            refused += answer is None
            continue
        errors.append(answer["time"]["tokens_per_second"] / observed["tokens_per_second"] - 1)
    _line("measured, tokens a second", errors, refused)


def _line(name: str, errors: Iterable[float], refused: int) -> None:
    signed = sorted(errors)
    absolute = sorted(map(abs, signed))
    if not absolute:
        print(f"{name}: nothing scored, {refused} refused")
        return
    low = sum(error < -0.05 for error in signed) / len(signed)
    print(
        f"{name}: n {len(absolute)}, refused {refused}, median {statistics.median(absolute):.2%}, "
        f"mean {statistics.mean(absolute):.2%}, p90 {_quantile(absolute, 0.9):.2%}, "
        f"p95 {_quantile(absolute, 0.95):.2%}, worst {absolute[-1]:.1%}, "
        f"bias {statistics.median(signed):+.2%}, more than 5 % low {low:.0%}"
    )


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


if __name__ == "__main__":
    sys.exit(main())
