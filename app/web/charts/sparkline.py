"""A line the size of a word."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.web.charts.paths import line_path
from app.web.charts.scales import LinearScale

WIDTH, HEIGHT = 96.0, 24.0


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A path in a box of ``width`` × ``height``."""

    path: str
    width: float = WIDTH
    height: float = HEIGHT


def build_sparkline(amounts: Sequence[Decimal]) -> Sparkline | None:
    """Amounts at equal distances, from the smallest of them and zero up to the largest; None for fewer than two."""
    if len(amounts) < 2:
        return None
    low, high = min(*amounts, Decimal(0)), max(amounts)
    scale = LinearScale(low, high if high > low else low + 1, HEIGHT, 0.0)
    distance = WIDTH / (len(amounts) - 1)
    return Sparkline(line_path([(i * distance, scale.position(amount)) for i, amount in enumerate(amounts)]))
