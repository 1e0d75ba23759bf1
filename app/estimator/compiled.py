"""A model under a recipe, computed once on the tape; what is asked later are batch and length."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from app.estimator.adapters import adapters_of
from app.estimator.architecture import Architecture
from app.estimator.model import run_step
from app.estimator.recipe import Precision, Recipe
from app.estimator.tape import Form, Peak, Work

STAGES = ("forward", "backward", "recomputed")
_SAME_SIZE: dict[Precision, Precision] = {"fp16": "bf16", "fp16-mixed": "bf16-mixed"}
PHASES = ("forward", "loss_forward", "loss_backward", "backward")


class Kernels(NamedTuple):
    """Kernels of one shape: how many, and their operations and bytes for each one of them on average."""

    stage: str
    kind: str
    inner: float
    outer: float
    times: float
    flops: Form
    moved: Form


@dataclass(frozen=True, slots=True)
class Compiled:
    """The candidates for each phase's peak, what forward leaves for backward, and the work by kernel."""

    peaks: tuple[tuple[Peak, ...], ...]  # by PHASES
    saved: Peak
    rows: tuple[Kernels, ...]
    operations: dict[str, Form]  # by stage, of one micro-batch


def compiled(architecture: Architecture, recipe: Recipe) -> Compiled:
    """From memory where the same model and recipe were computed before, whatever the batch and length."""
    return _compiled(architecture, _shape_of(recipe, architecture))


def units(architecture: Architecture, recipe: Recipe, length: float) -> tuple[float, float]:
    """What the forms are evaluated at: tokens of a micro-batch and their length, or samples and one."""
    if architecture.by_sample:
        return recipe.micro_batch_size, 1.0
    return recipe.micro_batch_size * length, length


def _shape_of(recipe: Recipe, architecture: Architecture) -> Recipe:
    """The recipe without what the tape does not depend on; both 16-bit types are of one size."""
    return Recipe(
        recipe.method,
        _SAME_SIZE.get(recipe.precision, recipe.precision),
        gradient_accumulation_steps=min(recipe.gradient_accumulation_steps, 2),
        gradient_checkpointing=recipe.gradient_checkpointing,
        attention=recipe.attention,
        lora=recipe.lora,
        weights_dtype="bf16" if recipe.weights_dtype == "fp16" else recipe.weights_dtype,
        fused_loss=recipe.fused_loss,
        keeps_outputs=recipe.keeps_outputs,
        sequence_length=recipe.sequence_length if architecture.by_sample else 1,
    )


@lru_cache(maxsize=512)
def _compiled(architecture: Architecture, recipe: Recipe) -> Compiled:
    tape = run_step(architecture, recipe, adapters_of(architecture, recipe))
    peaks = tuple(_largest_somewhere(tape.peaks.get(phase, ())) for phase in PHASES)
    groups = _summed(tape.works)
    return Compiled(peaks, tape.after_forward, tuple(_kernels(groups)), _operations(groups))


def _largest_somewhere(peaks: Iterable[Peak]) -> tuple[Peak, ...]:
    """Those that are the largest for some number of tokens.

    For one length each is a line over the tokens, and the largest ones are the lines' upper envelope; where scores
    matter, envelopes of lengths that double are put together.
    """
    lines = list(dict.fromkeys(peaks))
    lengths = [2.0**power for power in range(4, 19, 2)] if any(peak.pair for peak in lines) else [1.0]
    kept: dict[Peak, None] = {}
    for length in lengths:
        kept.update(dict.fromkeys(_envelope(lines, length)))
    return tuple(kept)


def _envelope(peaks: list[Peak], length: float) -> list[Peak]:
    """The upper envelope for tokens ≥ 0, by slope (the convex hull trick)."""
    best: dict[float, tuple[float, Peak]] = {}
    for peak in peaks:
        slope, height = peak.token + peak.pair * length, peak.fixed + peak.gradients
        if slope not in best or best[slope][0] < height:
            best[slope] = (height, peak)
    hull: list[tuple[float, float, Peak]] = []
    for slope in sorted(best):
        height, peak = best[slope]
        while hull and (
            height >= hull[-1][1]
            or (len(hull) > 1 and _passed(hull[-2], hull[-1], slope, height))
        ):
            hull.pop()
        hull.append((slope, height, peak))
    return [peak for _, _, peak in hull]


def _passed(
    left: tuple[float, float, Peak], middle: tuple[float, float, Peak], slope: float, height: float
) -> bool:
    """Whether the middle line is nowhere the largest between its neighbours."""
    meets_next = (left[1] - height) * (middle[0] - left[0])
    meets_middle = (left[1] - middle[1]) * (slope - left[0])
    return meets_next <= meets_middle


_Sums = dict[tuple[str, str, float, float], list[float]]  # by stage, kind and shape: times, then operations and bytes


def _summed(works: Iterable[Work]) -> _Sums:
    groups: _Sums = {}
    for stage, kind, inner, outer, times, flops, moved in works:
        sums = groups.setdefault((stage, kind, inner, outer), [0.0] * 7)
        sums[0] += times
        sums[1] += times * flops.fixed
        sums[2] += times * flops.token
        sums[3] += times * flops.pair
        sums[4] += times * moved.fixed
        sums[5] += times * moved.token
        sums[6] += times * moved.pair
    return groups


def _kernels(groups: _Sums) -> Iterable[Kernels]:
    for shape, (times, *totals) in groups.items():
        each = [total / times for total in totals]
        yield Kernels(*shape, times, Form(*each[:3]), Form(*each[3:]))


def _operations(groups: _Sums) -> dict[str, Form]:
    sums = {stage: [0.0, 0.0, 0.0] for stage in STAGES}
    for (stage, *_), totals in groups.items():
        for place in range(3):
            sums[stage][place] += totals[1 + place]
    return {stage: Form(*values) for stage, values in sums.items()}
