"""Alternatives by two amounts that both should be small, on logarithmic axes, with the line of those nothing beats."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.web.charts.paths import step_path
from app.web.charts.scales import LogScale, log_ticks, tick_label
from app.web.charts.spend_chart import PlotSize

# Points may touch the frame, but not be cut by it.
MARGIN = 1.15


@dataclass(frozen=True, slots=True)
class Alternative:
    """Something to choose."""

    label: str
    x: float
    y: float
    on_frontier: bool
    is_inside: bool


@dataclass(frozen=True, slots=True)
class Dot:
    """An alternative in its place, in percent of the plot."""

    label: str
    x: float
    y: float
    on_frontier: bool
    is_inside: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled value, ``at`` in percent of the axis."""

    label: str
    at: float


@dataclass(frozen=True, slots=True)
class ScatterChart:
    """Everything a template needs to draw it. ``x_limit`` and ``y_limit`` in percent, None where they lie outside."""

    size: PlotSize
    dots: tuple[Dot, ...]
    frontier_path: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    x_limit: float | None
    y_limit: float | None


def build_scatter_chart(
    alternatives: Sequence[Alternative],
    x_limit: float | None = None,
    y_limit: float | None = None,
    size: PlotSize = PlotSize(),
) -> ScatterChart | None:
    """None where nothing can be placed: amounts must be greater than zero."""
    placed = [one for one in alternatives if one.x > 0 and one.y > 0]
    if not placed:
        return None
    across = _scale([one.x for one in placed], x_limit, 0.0, 100.0)
    up = _scale([one.y for one in placed], y_limit, 100.0, 0.0)
    frontier = sorted((one.x, one.y) for one in placed if one.on_frontier)
    points = [
        (across.position(x) / 100 * size.width, up.position(y) / 100 * size.height) for x, y in _lowest(frontier)
    ]
    return ScatterChart(
        size=size,
        dots=tuple(
            Dot(one.label, _percent(across, one.x), _percent(up, one.y), one.on_frontier, one.is_inside)
            for one in placed
        ),
        frontier_path=step_path(points, size.width),
        x_ticks=_ticks(across),
        y_ticks=_ticks(up),
        x_limit=_inside(across, x_limit),
        y_limit=_inside(up, y_limit),
    )


def _lowest(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """One height for each place, and never up again."""
    kept: list[tuple[float, float]] = []
    for x, y in points:
        if not kept or y < kept[-1][1]:
            kept.append((x, y))
    return kept


def _scale(values: Sequence[float], limit: float | None, start: float, end: float) -> LogScale:
    low, high = min(values) / MARGIN, max(values) * MARGIN
    if limit is not None and 0 < limit <= high * 3:
        low, high = min(low, limit / MARGIN), max(high, limit * MARGIN)
    return LogScale(low, high, start, end)


def _percent(scale: LogScale, value: float) -> float:
    return round(scale.position(value), 2)


def _inside(scale: LogScale, value: float | None) -> float | None:
    if value is None or not scale.low <= value <= scale.high:
        return None
    return _percent(scale, value)


def _ticks(scale: LogScale) -> tuple[Tick, ...]:
    return tuple(Tick(tick_label(tick), _percent(scale, float(tick))) for tick in log_ticks(scale.low, scale.high))
