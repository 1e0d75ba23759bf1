"""Path strings of SVG from points."""

from collections.abc import Sequence

Point = tuple[float, float]


def coordinate(value: float) -> str:
    """At most two decimals, without trailing zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def line_path(points: Sequence[Point]) -> str:
    """Straight lines from point to point; empty for no points, a visible dot of a line for one."""
    if not points:
        return ""
    if len(points) == 1:
        return f"{_move(points[0])}h0.01"
    return _move(points[0]) + "".join(f"L{coordinate(x)} {coordinate(y)}" for x, y in points[1:])


def step_path(points: Sequence[Point], until_x: float) -> str:
    """A value holds until the next point's, the last one until ``until_x``; points without a change add nothing."""
    if not points:
        return ""
    path, height = _move(points[0]), points[0][1]
    for x, y in points[1:]:
        if y != height:
            path += f"H{coordinate(x)}V{coordinate(y)}"
            height = y
    return f"{path}H{coordinate(until_x)}"


def band_path(lower: Sequence[Point], upper: Sequence[Point]) -> str:
    """The closed area between two lines; empty where a line has fewer than two points."""
    if min(len(lower), len(upper)) < 2:
        return ""
    return line_path([*upper, *reversed(lower)]) + "Z"


def _move(point: Point) -> str:
    return f"M{coordinate(point[0])} {coordinate(point[1])}"
