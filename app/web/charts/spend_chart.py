"""Projected against actual spend: cumulative amounts over days, with the budget, the target and today."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from app.web.charts.paths import band_path, line_path, step_path
from app.web.charts.scales import DateScale, DateTick, LinearScale, date_ticks, nice_ticks, tick_label

ZERO = Decimal(0)
DatedAmount = tuple[date, Decimal]
# A budget more than this many times the largest amount would press the lines flat: it is named at the top edge instead.
OFF_SCALE_FACTOR = 3
SHORTEST_SPAN = timedelta(days=7)
# Today stretches the axis only while it is near: by this, or by half of the span.
NEAR_TODAY = timedelta(days=14)
LABEL_HEIGHT = 18
LABEL_ABOVE, LABEL_BELOW = -5, 14
EDGE = 0.06
# A table of more days than this is read by nobody: it has one line a week, the week's last.
MOST_DAILY_ROWS = 62


@dataclass(frozen=True, slots=True)
class PlotSize:
    """The plot's box in pixels as the paths count them; the page may stretch it."""

    width: float = 720.0
    height: float = 248.0


@dataclass(frozen=True, slots=True)
class AmountTick:
    """A labelled height; ``y`` in percent of the plot's height from the top."""

    amount: Decimal
    label: str
    y: float


@dataclass(frozen=True, slots=True)
class DayTick:
    """A labelled day; ``x`` in percent of the plot's width. Not ``narrow``: hidden in narrow frames."""

    label: str
    x: float
    anchor: str
    narrow: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """The budget or the target: its path, and its label at the right end, ``label_dy`` pixels from ``y`` percent.

    ``off_scale``: far above everything else, only named at the top edge.
    """

    amount: Decimal
    path: str
    y: float
    label_dy: int
    off_scale: bool


@dataclass(frozen=True, slots=True)
class Marker:
    """Something that happened, on the actual line; ``x`` and ``y`` in percent."""

    day: date
    label: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Today:
    """The line of today; ``x`` in percent, ``anchor`` keeps its label inside."""

    x: float
    anchor: str


@dataclass(frozen=True, slots=True)
class SpendRow:
    """A line of the data table; actual amounts hold until the next one, up to today. A long table has one a week."""

    day: date
    projected: Decimal | None
    actual: Decimal | None


@dataclass(frozen=True, slots=True)
class SpendChart:
    """Everything a template needs to draw the chart. Empty paths and None: nothing to draw."""

    size: PlotSize
    first_day: date
    last_day: date
    amount_ticks: tuple[AmountTick, ...]
    day_ticks: tuple[DayTick, ...]
    projected_path: str
    actual_path: str
    forecast_path: str
    band_path: str
    budget: Reference | None
    target: Reference | None
    today: Today | None
    markers: tuple[Marker, ...]
    rows: tuple[SpendRow, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a projected nor an actual line."""
        return not self.projected_path and not self.actual_path


@dataclass(frozen=True, slots=True)
class ForecastPoint:
    """What is expected to be spent by the end of a day, with its interval."""

    day: date
    low: Decimal
    amount: Decimal
    high: Decimal


def build_spend_chart(
    *,
    projected: Sequence[DatedAmount],
    actual: Sequence[DatedAmount],
    budget_steps: Sequence[DatedAmount],
    target: Decimal | None,
    today: date,
    forecast: Sequence[ForecastPoint] = (),
    events: Sequence[tuple[date, str]] = (),
    size: PlotSize = PlotSize(),
) -> SpendChart:
    """Lays the chart out.

    ``projected`` and ``actual`` are cumulative by local day, in order of days, in one currency. The actual line holds
    each amount until the next and the last until today. ``budget_steps`` say from which day an amount was the budget.
    ``events`` (day, sentence) are marked on the actual line.
    """
    days = _date_scale(projected, actual, budget_steps, today, forecast, size)
    data = _amounts(projected, actual, forecast)
    references = [amount for _, amount in budget_steps] + ([] if target is None else [target])
    ticks = nice_ticks(*_value_range(data, references))
    heights = LinearScale(ticks[0], ticks[-1], size.height, 0.0)
    frame = _Frame(days, heights, size)
    budget, target_line = frame.references(budget_steps, target)
    return SpendChart(
        size=size,
        first_day=days.first,
        last_day=days.last,
        amount_ticks=tuple(AmountTick(tick, tick_label(tick), frame.y_percent(tick)) for tick in ticks),
        day_ticks=tuple(frame.day_tick(tick) for tick in date_ticks(days)),
        projected_path=line_path(frame.points(projected)),
        actual_path=frame.actual_path(actual, today),
        forecast_path=line_path(frame.points((point.day, point.amount) for point in forecast)),
        band_path=frame.band(forecast),
        budget=budget,
        target=target_line,
        today=frame.today(today),
        markers=tuple(frame.marker(day, label, actual) for day, label in events if _has_by(actual, day)),
        rows=_rows(projected, actual, today),
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """The two scales together."""

    days: DateScale
    heights: LinearScale
    size: PlotSize

    def points(self, amounts: Iterable[DatedAmount]) -> list[tuple[float, float]]:
        return [(self.days.position(day), self.heights.position(amount)) for day, amount in amounts]

    def x_percent(self, day: date) -> float:
        return round(self.days.position(day) / self.size.width * 100, 2)

    def y_percent(self, amount: Decimal) -> float:
        return round(self.heights.position(amount) / self.size.height * 100, 2)

    def day_tick(self, tick: DateTick) -> DayTick:
        x = round(tick.position / self.size.width * 100, 2)
        return DayTick(tick.label, x, "end" if x > 100 * (1 - EDGE / 2) else "middle", tick.narrow)

    def actual_path(self, actual: Sequence[DatedAmount], today: date) -> str:
        """Rises from zero on the first day, for before it nothing was spent."""
        if not actual:
            return ""
        from_zero = [(actual[0][0], ZERO), *actual]
        until = max(actual[-1][0], self.days.clamp(today))
        return step_path(self.points(from_zero), self.days.position(until))

    def band(self, forecast: Sequence[ForecastPoint]) -> str:
        lower = self.points((point.day, point.low) for point in forecast)
        return band_path(lower, self.points((point.day, point.high) for point in forecast))

    def today(self, today: date) -> Today | None:
        if not self.days.first <= today <= self.days.last:
            return None
        x = self.x_percent(today)
        anchor = "start" if x < 100 * EDGE else "end" if x > 100 * (1 - EDGE) else "middle"
        return Today(x, anchor)

    def marker(self, day: date, label: str, actual: Sequence[DatedAmount]) -> Marker:
        amount = next(amount for when, amount in reversed(actual) if when <= day)
        return Marker(day, label, self.x_percent(self.days.clamp(day)), self.y_percent(amount))

    def references(
        self, budget_steps: Sequence[DatedAmount], target: Decimal | None
    ) -> tuple[Reference | None, Reference | None]:
        budget = self.reference(budget_steps)
        aim = None if target is None else self.reference([(self.days.first, target)])
        return _apart(budget, aim, self.size.height)

    def reference(self, steps: Sequence[DatedAmount]) -> Reference | None:
        """A level that changes on given days; what lies above the plot runs along its top edge."""
        within = [(day, amount) for day, amount in steps if day <= self.days.last]
        if not within:
            return None
        amount = within[-1][1]
        off_scale = amount > self.heights.high
        if all(level > self.heights.high for _, level in within):
            return Reference(amount, "", 0.0, LABEL_ABOVE, off_scale)
        points = self.points((self.days.clamp(day), min(level, self.heights.high)) for day, level in within)
        y = self.y_percent(min(amount, self.heights.high))
        return Reference(amount, step_path(points, self.size.width), y, LABEL_ABOVE, off_scale)


def _date_scale(
    projected: Sequence[DatedAmount],
    actual: Sequence[DatedAmount],
    budget_steps: Sequence[DatedAmount],
    today: date,
    forecast: Sequence[ForecastPoint],
    size: PlotSize,
) -> DateScale:
    drawn = [day for day, _ in (*projected, *actual)] + [point.day for point in forecast]
    days = drawn or [day for day, _ in budget_steps] or [today]
    first, last = min(days), max(days)
    near = max(NEAR_TODAY, (last - first) / 2)
    if first - near <= today <= last + near:
        first, last = min(first, today), max(last, today)
    return DateScale(first, max(last, first + SHORTEST_SPAN), size.width)


def _amounts(
    projected: Sequence[DatedAmount], actual: Sequence[DatedAmount], forecast: Sequence[ForecastPoint]
) -> list[Decimal]:
    drawn = [amount for _, amount in (*projected, *actual)]
    return drawn + [bound for point in forecast for bound in (point.low, point.high)]


def _value_range(data: Sequence[Decimal], references: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    """From zero, or the lowest amount below it, to the highest amount or reference that is not far above."""
    low, high = min([*data, ZERO]), max([*data, ZERO])
    near = [amount for amount in references if high == 0 or amount <= high * OFF_SCALE_FACTOR]
    return low, max([high, *near])


def _apart(
    budget: Reference | None, target: Reference | None, height: float
) -> tuple[Reference | None, Reference | None]:
    """Two labels that would overlap: the lower one goes below its line, or the upper one higher at the bottom edge."""
    if budget is None or target is None or abs(budget.y - target.y) / 100 * height >= LABEL_HEIGHT:
        return budget, target
    budget_is_upper = budget.y <= target.y
    lower_y = max(budget.y, target.y) / 100 * height
    if lower_y + LABEL_HEIGHT <= height:
        upper_dy, lower_dy = LABEL_ABOVE, LABEL_BELOW
    else:
        upper_dy, lower_dy = LABEL_ABOVE - LABEL_HEIGHT, LABEL_ABOVE
    budget_dy, target_dy = (upper_dy, lower_dy) if budget_is_upper else (lower_dy, upper_dy)
    return _with_label(budget, budget_dy), _with_label(target, target_dy)


def _with_label(line: Reference, label_dy: int) -> Reference:
    return Reference(line.amount, line.path, line.y, label_dy, line.off_scale)


def _has_by(amounts: Sequence[DatedAmount], day: date) -> bool:
    return bool(amounts) and amounts[0][0] <= day


def _rows(
    projected: Sequence[DatedAmount], actual: Sequence[DatedAmount], today: date
) -> tuple[SpendRow, ...]:
    planned, spent = dict(projected), dict(actual)
    rows: list[SpendRow] = []
    held: Decimal | None = None
    last_known = max([day for day, _ in actual] + [today])
    for day in sorted(planned.keys() | spent.keys()):
        held = spent.get(day, held)
        rows.append(SpendRow(day, planned.get(day), held if day <= last_known else None))
    return tuple(rows if len(rows) <= MOST_DAILY_ROWS else _last_of_weeks(rows))


def _last_of_weeks(rows: Sequence[SpendRow]) -> list[SpendRow]:
    """A projected amount without one after it in its week stands, for it is cumulative."""
    weeks: dict[tuple[int, int], SpendRow] = {}
    for row in rows:
        year, week, _ = row.day.isocalendar()
        before = weeks.get((year, week))
        projected = before.projected if before and row.projected is None else row.projected
        weeks[year, week] = SpendRow(row.day, projected, row.actual)
    return list(weeks.values())
