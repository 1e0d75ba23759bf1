"""The estimate against exact training steps of real model code; ``tests/accuracy/exact_steps.py`` computes them."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.estimator import Job, Lora, Recipe, estimate, read_architecture

CONTENT = json.loads((Path(__file__).parent / "exact_steps.json").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = CONTENT["rows"]


def recipe_of(row: dict[str, Any]) -> Recipe:
    lora = row.get("lora")
    if lora is not None:
        targets: Any = lora["target_modules"]
        lora = Lora(lora["rank"], targets if targets == "all-linear" else tuple(targets), lora["dropout"])
    same = (
        "method", "precision", "optimizer", "micro_batch_size", "gradient_accumulation_steps", "sequence_length",
        "gradient_checkpointing", "attention",
    )  # fmt: skip
    return Recipe(**{name: row[name] for name in same}, lora=lora)


def title(row: dict[str, Any]) -> str:
    checkpointing = "checkpointing" if row["gradient_checkpointing"] else "whole"
    return "-".join((row["model"], row["method"], row["precision"], row["attention"], checkpointing))


@pytest.mark.parametrize("row", ROWS, ids=title)
def test_peak_winning_moment_and_operations(row: dict[str, Any]) -> None:
    answer = estimate(Job(read_architecture(CONTENT["models"][row["model"]]), recipe_of(row)))
    assert answer.step.peak_bytes == pytest.approx(row["peak"], rel=0.01)
    assert answer.step.peak_phase == row["phase"]
    if "flops" in row:
        assert answer.time.flops_per_step == pytest.approx(row["flops"], rel=0.01)


def test_half_of_all_peaks_are_within_a_tenth_of_a_thousandth() -> None:
    errors = sorted(
        abs(
            estimate(Job(read_architecture(CONTENT["models"][row["model"]]), recipe_of(row))).step.peak_bytes
            / row["peak"]
            - 1
        )
        for row in ROWS
    )
    assert errors[len(errors) // 2] < 1e-4
