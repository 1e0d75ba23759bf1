"""Prints the estimator's errors on measured runs as Markdown tables, without a server.

The data is a folder of JSON lines, as the API's requests with what was observed beside them; ``scoring.data_folder``
says where it is looked for.
"""

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from app.errors import InvalidInput
from app.planning.estimates import answer_for, read_estimate_input
from tests.accuracy.scoring import Row, Score, data_folder, read_rows

READINGS = {
    "max_allocated": "peak_allocated_bytes",
    "max_reserved": "reserved_bytes",
    "nvidia_smi": "required_bytes",
}
Errors = dict[str, list[float]]


def main() -> int:
    """Scores the three open files."""
    folder = data_folder()
    if folder is None:
        return 2
    _exact(folder / "groundtruth_open.jsonl")
    _measured(folder / "measured_open.jsonl")
    _speed(folder / "speed_open.jsonl")
    return 0


def _answers(file: Path) -> tuple[list[tuple[Row, dict[str, Any]]], int]:
    answered, refused = [], 0
    for row in read_rows(file):
        try:
            answered.append((row, answer_for(read_estimate_input(row["request"]), "en", details=False)))
        except InvalidInput:
            refused += 1
    return answered, refused


def _exact(file: Path) -> None:
    answered, refused = _answers(file)
    errors: Errors = defaultdict(list)
    winners = 0
    for row, answer in answered:
        observed = row["observed"]
        peak = answer["memory"]["peak_allocated_bytes"] / observed["bytes"] - 1
        errors["peak allocated"].append(peak)
        errors[f"– {row['request']['method']}"].append(peak)
        errors["FLOPs of a step"].append(answer["time"]["flops_per_step"] / observed["flops"] - 1)
        winners += answer["memory"]["peak_phase"] == observed["phase"]
    _table("Exact steps", errors, refused)
    print(f"\nRight winning moment: {winners} of {len(answered)}.")


def _measured(file: Path) -> None:
    answered, refused = _answers(file)
    errors: Errors = defaultdict(list)
    sources: Errors = defaultdict(list)
    inside: list[bool] = []
    for row, answer in answered:
        memory, observed = answer["memory"], row["observed"]
        readings = {observed["metric"]: observed["bytes"]}
        readings |= {
            metric: observed[name]
            for metric, name in (("max_reserved", "reserved_bytes"), ("nvidia_smi", "process_bytes"))
            if observed.get(name)
        }
        for metric, size in readings.items():
            if metric == "unspecified":
                near = min(
                    (memory["peak_allocated_bytes"], memory["required_bytes"]), key=lambda one: abs(one - size)
                )
                errors["metric not stated, nearer of allocated and required"].append(near / size - 1)
                continue
            error = memory[READINGS[metric]] / size - 1
            errors[{"max_allocated": "allocated", "max_reserved": "reserved", "nvidia_smi": "process"}[metric]].append(
                error
            )
            if metric == "max_allocated":
                sources[f"allocated, {row['source_id']} {row['request']['method']}"].append(error)
            else:
                errors["reserved and process together"].append(error)
            if metric == "nvidia_smi":
                low, high = memory["interval_bytes"]
                inside.append(low <= size <= high)
    _table("Measured memory", errors | dict(sorted(sources.items())), refused)
    print(f"\nThe interval holds the truth in {sum(inside)} of {len(inside)} readings of the process.")


def _speed(file: Path) -> None:
    answered, refused = _answers(file)
    errors: Errors = defaultdict(list)
    for row, answer in answered:
        spent, observed = answer["time"], row["observed"]
        if observed["tokens_per_second"]:
            error = spent["tokens_per_second"] / observed["tokens_per_second"] - 1
        else:
            error = observed["seconds_per_step"] / spent["seconds_per_step"] - 1
        errors["speed"].append(error)
        errors[f"{row['source_id']} {row['request']['method']}"].append(error)
    _table("Measured speed", {"speed": errors.pop("speed")} | dict(sorted(errors.items())), refused)


def _table(title: str, errors: Errors, refused: int) -> None:
    print(f"\n### {title}\n\nRefused: {refused}.\n")
    print("| what | n | median | mean | 90th | 95th | worst | bias | more than 5 % low |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, found in errors.items():
        one = Score.of(found)
        print(
            f"| {name} | {one.count} | {one.median:.2%} | {one.mean:.2%} | {one.p90:.2%} | {one.p95:.2%} | "
            f"{one.worst:+.1%} | {one.bias:+.2%} | {one.low:.0%} |"
        )


if __name__ == "__main__":
    sys.exit(main())
