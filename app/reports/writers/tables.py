"""The report as tables of text: what CSV and Markdown print, worded once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from app.i18n import Language, Message, translate
from app.money import format_amount, format_unit_price
from app.reports.weekly import ChargeRow, PriceDate, ProjectLine, RunRow, Totals, WeeklyReport
from app.reports.words import BILLINGS, BUDGET_STATES, CATEGORIES, SERVICES, STATES
from app.time import format_instant


@dataclass(frozen=True, slots=True)
class Table:
    """A heading, the columns' names, and rows; a Decimal or float cell is a number, all else is text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Decimal]]


@dataclass(frozen=True, slots=True)
class ReportTables:
    """All tables of a report in one language."""

    report: WeeklyReport
    language: Language

    def say(self, text: str, **params: object) -> str:
        """The text in the reader's language."""
        return translate(Message(text, **params), self.language)

    def title(self) -> str:
        """The report's heading."""
        name = self.report.project_name or self.report.team_name
        return self.say("Weekly report %(week)s: %(name)s", week=self.report.week, name=name)

    def all(self) -> list[Table]:
        """In the order of the page."""
        return [self.totals(), self.projects(), self.runs(), self.charges(), self.basis()]

    def totals(self) -> Table:
        """The week and to date; currencies that no rate converts apart."""
        rows = [
            self._total_row(self.say("This week"), self.report.totals),
            self._total_row(self.say("To date"), self.report.to_date),
        ]
        rows += [
            self._total_row(self.say("This week, not converted"), totals)
            for totals in self.report.other_currencies
        ]
        columns = ["", *map(self.say, _TOTAL_COLUMNS)]
        return Table(self.say("Totals"), columns, rows)

    def _total_row(self, name: str, totals: Totals) -> list[str | Decimal]:
        code = totals.currency
        amounts = (totals.compute, totals.charges, totals.rounding, totals.billed, totals.listed)
        return [
            name,
            _hours(totals.hours),
            _hours(totals.gpu_hours),
            *(_amount(amount, code) for amount in amounts),
            code,
        ]

    def projects(self) -> Table:
        """Each project against its plan and budget."""
        columns = [
            "Project", "Planned this week", "Billed this week", "Planned to date", "Spent of budget", "Budget",
            "Currency", "State",
        ]  # fmt: skip
        rows = [self._project_row(line) for line in self.report.projects]
        return Table(self.say("Projects"), [self.say(column) for column in columns], rows)

    def _project_row(self, line: ProjectLine) -> list[str | Decimal]:
        amounts = (line.planned_week, line.billed_week, line.planned_to_date, line.spent, line.budget)
        return [
            line.name,
            *("" if amount is None else _amount(amount, line.currency) for amount in amounts),
            line.currency,
            translate(BUDGET_STATES[line.state], self.language),
        ]

    def runs(self) -> Table:
        """The runs with the hours and the cost that fall into the week."""
        columns = [
            "Project", "Run", "Start", "End", "State", "Instance", "GPU", "Billing", "Price per hour", "Hours",
            "GPU hours", "Cost", "Currency", "Interruptions", "Lost hours", "Note",
        ]  # fmt: skip
        rows = [self._run_row(row) for row in self.report.runs]
        return Table(self.say("Runs"), [self.say(column) for column in columns], rows)

    def _run_row(self, row: RunRow) -> list[str | Decimal]:
        price = f"{row.price_currency} {format_unit_price(row.price_per_hour, row.price_currency)}"
        return [
            row.project_name,
            row.name,
            self._local(row.started_at),
            "" if row.ended_at is None else self._local(row.ended_at),
            translate(STATES[row.state], self.language),
            row.instance if row.instance_count == 1 else f"{row.instance} ×{row.instance_count}".strip(),
            row.gpu or "",
            translate(BILLINGS[row.billing], self.language),
            price,
            _hours(row.hours),
            _hours(row.gpu_hours),
            _amount(row.cost, row.currency),
            row.currency,
            Decimal(row.interruptions),
            _hours(row.lost_hours),
            row.note,
        ]

    def charges(self) -> Table:
        """The charges with the part that falls into the week."""
        columns = ["Project", "Category", "Service", "From", "To", "List", "Amount", "Currency", "Note"]
        rows = [self._charge_row(row) for row in self.report.charges]
        return Table(self.say("Charges"), [self.say(column) for column in columns], rows)

    def _charge_row(self, row: ChargeRow) -> list[str | Decimal]:
        return [
            row.project_name,
            translate(CATEGORIES[row.category], self.language),
            translate(SERVICES[row.service], self.language),
            self._local(row.period_start),
            self._local(row.period_end),
            _amount(row.listed, row.currency),
            _amount(row.amount, row.currency),
            row.currency,
            row.note,
        ]

    def basis(self) -> Table:
        """What the figures rest on."""
        report = self.report
        rows: list[Sequence[str | Decimal]] = [
            [self.say("Week"), f"{report.week} ({report.zone_name})"],
            [self.say("Cut-off"), format_instant(report.cut_off)],
            *([self.say("Price"), self.price_words(price)] for price in report.prices),
            *(
                [
                    self.say("Exchange rate"),
                    f"{rate.from_currency}/{rate.to_currency} {rate.rate:f} · {rate.day.isoformat()} · {rate.source}",
                ]
                for rate in report.rates
            ),
            [self.say("Estimator"), report.estimator_version],
            [self.say("Digest of the inputs"), report.digest],
        ]
        return Table(self.say("Basis"), ["", ""], rows)

    def price_words(self, price: PriceDate) -> str:
        """The offer, its price, the day and the source of it."""
        unit = f"{price.currency} {format_unit_price(price.price_per_hour, price.currency)}/h"
        day = self.say("undated") if price.as_of is None else price.as_of.isoformat()
        source = translate(price.source, self.language) if price.source else ""
        parts = (price.provider, price.instance_type, unit, day, source)
        return " · ".join(part for part in parts if part)

    def _local(self, instant: datetime) -> str:
        return f"{instant.astimezone(ZoneInfo(self.report.zone_name)):%Y-%m-%d %H:%M}"


_TOTAL_COLUMNS = (
    "Hours",
    "GPU hours",
    "Compute",
    "Charges",
    "Rounding of the rows",
    "Billed",
    "List",
    "Currency",
)


def _amount(amount: Decimal, currency: str) -> Decimal:
    return Decimal(format_amount(amount, currency))


def _hours(hours: float) -> Decimal:
    """Hours to 0.01, as a number."""
    return Decimal(f"{hours:.2f}")
