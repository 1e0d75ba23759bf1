"""A model under a recipe, computed once on the tape; what is asked later are batch and length."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from app.estimator.adapters import Adapters
from app.estimator.architecture import Architecture
from app.estimator.model import run_step
from app.estimator.recipe import Recipe
from app.estimator.tape import Form, Peak, Work

PHASES = ("forward", "loss_forward", "loss_backward", "backward")


@dataclass(frozen=True, slots=True)
class Kernels:
    """Kernels of one shape: how many, and their operations and bytes for each one of them on average."""

    stage: str
    kind: str
    inner: float
    outer: float
    count: float
    flops: Form
    moved: Form


@dataclass(frozen=True, slots=True)
class Compiled:
    """The candidates for each phase's peak, what forward leaves for backward, and the work by kernel."""

    peaks: tuple[tuple[Peak, ...], ...]  # by PHASES
    saved: Peak
    kernels: tuple[Kernels, ...]

    def flops(self, stage: str, tokens: float, length: float) -> float:
        """Operations of one stage of one micro-batch."""
        return sum(one.count * one.flops.at(tokens, length) for one in self.kernels if one.stage == stage)


def compiled(architecture: Architecture, recipe: Recipe, adapters: Adapters | None) -> Compiled:
    """From memory where the same model and recipe were computed before, whatever the batch and length."""
    return _compiled(architecture, _shape_of(recipe), adapters)


def _shape_of(recipe: Recipe) -> Recipe:
    """The recipe without what the tape does not depend on."""
    return Recipe(
        recipe.method,
        recipe.precision,
        gradient_accumulation_steps=min(recipe.gradient_accumulation_steps, 2),
        gradient_checkpointing=recipe.gradient_checkpointing,
        attention=recipe.attention,
        lora=recipe.lora,
        weights_dtype=recipe.weights_dtype,
        fused_loss=recipe.fused_loss,
    )


@lru_cache(maxsize=512)
def _compiled(architecture: Architecture, recipe: Recipe, adapters: Adapters | None) -> Compiled:
    tape = run_step(architecture, recipe, adapters)
    peaks = tuple(_undominated(tape.peaks.get(phase, ())) for phase in PHASES)
    return Compiled(peaks, tape.after_forward, tuple(_gathered(tape.works)))


def _undominated(peaks: Iterable[Peak]) -> tuple[Peak, ...]:
    """Without those that are smaller in every part than another."""
    kept: list[Peak] = []
    for peak in sorted(set(peaks), key=sum, reverse=True):
        if not any(all(mine <= other for mine, other in zip(peak, one, strict=True)) for one in kept):
            kept.append(peak)
    return tuple(kept)


def _gathered(works: Iterable[Work]) -> Iterable[Kernels]:
    groups: dict[tuple[str, str, float, float], list[float]] = {}
    for work in works:
        sums = groups.setdefault((work.stage, work.kind, work.inner, work.outer), [0.0] * 7)
        sums[0] += work.count
        for place, value in enumerate((*work.flops, *work.moved), 1):
            sums[place] += work.count * value
    for (stage, kind, inner, outer), (count, *totals) in groups.items():
        each = [total / count for total in totals]
        yield Kernels(stage, kind, inner, outer, count, Form(*each[:3]), Form(*each[3:]))
