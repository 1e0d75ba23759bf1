"""Scores ours and the peers on the same open rows in one run, and prints Markdown tables.

``python -m tests.benchmarks.peers`` from the top of the repository. The data are those of ``make accuracy``; the peers
live in a virtual environment of their own (``TUNELEDGER_PEERS_VENV``, default ``.venv-peers``), which is made on the
first run.
"""

import json
import os
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any

from app.estimator import estimate, read_architecture
from app.planning.estimates import read_estimate_input
from app.planning.jobs import prepare
from tests.accuracy.scoring import Score, data_folder, read_rows

HERE = Path(__file__).parent
PEERS = ("fitcheck", "ftuneai", "gpu-estimator", "hf-vram-calc")
# PyTorch, which one of them imports, makes this some gigabytes.
WHAT_THEY_IMPORT = ("torch", "pyyaml", "rich", "pydantic", "huggingface-hub", "transformers", "requests", "tqdm")
Row = dict[str, Any]


def main() -> int:
    """Prints a table for each kind of reading."""
    folder = data_folder()
    if folder is None:
        return 2
    python = _interpreter()
    exact = list(read_rows(folder / "groundtruth_open.jsonl"))
    measured = [row for row in read_rows(folder / "measured_open.jsonl") if "config" in row["request"]["model"]]
    for title, rows, metric in (
        ("Exact steps, peak allocated", exact, None),
        ("Measured, allocated", measured, "max_allocated"),
        ("Measured, reserved", measured, "max_reserved"),
        ("Measured, process", measured, "nvidia_smi"),
    ):
        chosen = [row for row in rows if metric is None or row["observed"]["metric"] == metric]
        print(f"\n### {title}: {len(chosen)} rows\n")
        print("| estimator | answered | median | mean | 90th | more than 5 % low | µs an estimate |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        _print("ours", _ours(chosen, metric), len(chosen))
        for peer in PEERS:
            reading = "allocated" if metric in (None, "max_allocated") else "process"
            _print(peer, _theirs(python, peer, chosen, reading), len(chosen))
    return 0


def _interpreter() -> Path:
    folder = Path(os.environ.get("TUNELEDGER_PEERS_VENV", ".venv-peers"))
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, "--no-deps", "--requirement", str(HERE / "requirements.txt")], check=True)
        subprocess.run([*install, *WHAT_THEY_IMPORT], check=True)
    return python


def _ours(rows: list[Row], metric: str | None) -> tuple[list[float], list[float]]:
    errors, spent = [], []
    for row in rows:
        job = prepare(read_estimate_input(row["request"])).job
        answer = estimate(job)
        started = time.perf_counter()
        estimate(job)
        spent.append(time.perf_counter() - started)
        predicted = {
            "max_reserved": answer.footprint.reserved_bytes, "nvidia_smi": answer.footprint.required_bytes,
        }.get(metric or "", answer.step.peak_bytes)  # fmt: skip
        assert predicted is not None
        errors.append(predicted / row["observed"]["bytes"] - 1)
    return errors, spent


def _theirs(python: Path, peer: str, rows: list[Row], reading: str) -> tuple[list[float], list[float]]:
    tasks = [
        json.dumps(
            {
                "request": row["request"],
                "parameters": read_architecture(row["request"]["model"]["config"]).parameters,
            }
        )
        for row in rows
    ]
    done = subprocess.run(
        [str(python), str(HERE / "worker.py"), peer], input="\n".join(tasks), capture_output=True, text=True, check=True
    )
    errors, spent = [], []
    for row, line in zip(rows, done.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        if reading in answer:
            errors.append(answer[reading] / row["observed"]["bytes"] - 1)
            spent.append(answer["seconds"])
    return errors, spent


def _print(name: str, found: tuple[list[float], list[float]], rows: int) -> None:
    errors, spent = found
    if not errors:
        print(f"| {name} | 0 of {rows} | | | | | |")
        return
    score = Score.of(errors)
    print(
        f"| {name} | {len(errors)} of {rows} | {score.median:.1%} | {score.mean:.1%} | {score.p90:.1%} | "
        f"{score.low:.0%} | {statistics.median(spent) * 1e6:,.0f} |"
    )


if __name__ == "__main__":
    sys.exit(main())
