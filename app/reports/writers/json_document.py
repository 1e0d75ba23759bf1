"""The report as the JSON document of API.md."""

from typing import Any

from app.money import format_amount, format_unit_price
from app.reports.weekly import ChargeRow, PriceDate, ProjectLine, RunRow, Totals, WeeklyReport
from app.time import format_instant


def report_document(report: WeeklyReport) -> dict[str, Any]:
    """Plain values: money as objects of text and code, instants in UTC."""
    return {
        "week": str(report.week),
        "starts_at": format_instant(report.starts_at),
        "ends_at": format_instant(report.ends_at),
        "cut_off": format_instant(report.cut_off),
        "time_zone": report.zone_name,
        "team": report.team_name,
        "project": None
        if report.project_id is None
        else {"id": report.project_id, "name": report.project_name},
        "currency": report.currency,
        "totals": _totals(report.totals),
        "to_date": _totals(report.to_date),
        "other_currencies": [
            {"currency": totals.currency} | _totals(totals) for totals in report.other_currencies
        ],
        "projects": [_project(line) for line in report.projects],
        "runs": [_run(row) for row in report.runs],
        "charges": [_charge(row) for row in report.charges],
        "prices": [_price(price) for price in report.prices],
        "rates": [
            {
                "from": rate.from_currency,
                "to": rate.to_currency,
                "rate": f"{rate.rate:f}",
                "date": rate.day.isoformat(),
                "source": rate.source,
            }
            for rate in report.rates
        ],
        "estimator_version": report.estimator_version,
        "digest": report.digest,
        "superseded_by": None,
    }


def _money(amount: Any, currency: str) -> dict[str, str] | None:
    return None if amount is None else {"amount": format_amount(amount, currency), "currency": currency}


def _totals(totals: Totals) -> dict[str, Any]:
    code = totals.currency
    return {
        "hours": totals.hours,
        "gpu_hours": totals.gpu_hours,
        "compute": _money(totals.compute, code),
        "charges": _money(totals.charges, code),
        "list": _money(totals.listed, code),
        "billed": _money(totals.billed, code),
        "rounding": _money(totals.rounding, code),
    }


def _project(line: ProjectLine) -> dict[str, Any]:
    code = line.currency
    return {
        "id": line.id,
        "name": line.name,
        "state": line.state,
        "planned_week": _money(line.planned_week, code),
        "billed_week": _money(line.billed_week, code),
        "planned_to_date": _money(line.planned_to_date, code),
        "spent": _money(line.spent, code),
        "budget": _money(line.budget, code),
        "target": _money(line.target, code),
    }


def _run(row: RunRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "project_id": row.project_id,
        "project": row.project_name,
        "name": row.name,
        "started_at": format_instant(row.started_at),
        "ended_at": None if row.ended_at is None else format_instant(row.ended_at),
        "state": row.state,
        "instance": row.instance,
        "instance_count": row.instance_count,
        "gpu": row.gpu,
        "billing": row.billing,
        "price_per_hour": {
            "amount": format_unit_price(row.price_per_hour, row.price_currency),
            "currency": row.price_currency,
        },
        "hours": row.hours,
        "gpu_hours": row.gpu_hours,
        "list": _money(row.listed, row.currency),
        "cost": _money(row.cost, row.currency),
        "interruptions": row.interruptions,
        "lost_hours": row.lost_hours,
        "note": row.note,
    }


def _charge(row: ChargeRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "project_id": row.project_id,
        "project": row.project_name,
        "category": row.category,
        "service": row.service,
        "period_start": format_instant(row.period_start),
        "period_end": format_instant(row.period_end),
        "list_amount": _money(row.listed, row.currency),
        "amount": _money(row.amount, row.currency),
        "note": row.note,
    }


def _price(price: PriceDate) -> dict[str, Any]:
    return {
        "provider": price.provider,
        "instance_type": price.instance_type,
        "price_per_hour": {
            "amount": format_unit_price(price.price_per_hour, price.currency),
            "currency": price.currency,
        },
        "as_of": None if price.as_of is None else price.as_of.isoformat(),
        "source": price.source,
    }
