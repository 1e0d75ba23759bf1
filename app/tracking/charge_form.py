"""The form of a charge: what it shows of one, and what it says of one."""

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from app.money import format_unit_price
from app.tracking.form_patch import read_changes
from app.tracking.inputs import ChargeInput, ChargePatch
from app.tracking.models import Charge
from app.tracking.run_form import local_input
from app.web.forms import read_form


def values_of_charge(charge: Charge, voucher_id: int | None, zone: ZoneInfo) -> dict[str, str]:
    """What the form of a charge holds; times are those of the team's time zone."""
    has_list = charge.list_amount != charge.amount
    return {
        "category": charge.category,
        "service": charge.service,
        "amount.amount": format_unit_price(charge.amount, charge.currency),
        "amount.currency": charge.currency,
        "list_amount.amount": format_unit_price(charge.list_amount, charge.currency) if has_list else "",
        "period_start": local_input(charge.period_start, zone),
        "period_end": local_input(charge.period_end, zone),
        "external_id": charge.external_id or "",
        "voucher_id": "" if voucher_id is None else str(voucher_id),
        "exchange_rate.rate": "" if charge.exchange_rate is None else f"{charge.exchange_rate:f}",
        "exchange_rate.date": "" if charge.exchange_rate_day is None else str(charge.exchange_rate_day),
        "note": charge.note,
    }


def read_charge(values: Mapping[str, str], zone: ZoneInfo) -> ChargeInput:
    """The charge that a form describes. Raises InvalidInput."""
    return read_form(ChargeInput, _completed(values), zone)


def read_charge_changes(
    values: Mapping[str, str], charge: Charge, voucher_id: int | None, zone: ZoneInfo
) -> ChargePatch:
    """What a form changes of the charge that it showed. Raises InvalidInput."""
    shown = values_of_charge(charge, voucher_id, zone)
    return read_changes(ChargePatch, ChargeInput, _completed(values), shown, zone)


def _completed(values: Mapping[str, str]) -> dict[str, str]:
    """One currency for both amounts; what has no end was paid at its start."""
    completed = dict(values)
    if values.get("list_amount.amount", "").strip():
        completed["list_amount.currency"] = values.get("amount.currency", "")
    if not values.get("period_end", "").strip():
        completed["period_end"] = values.get("period_start", "")
    return completed
