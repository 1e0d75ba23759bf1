"""The form of a run: what it shows of one, and what it says of one."""

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from app.errors import InvalidInput
from app.i18n import Message
from app.money import format_unit_price
from app.tracking.form_patch import read_changes
from app.tracking.inputs import RunInput, RunPatch
from app.tracking.models import Run
from app.web.forms import read_form

GIB = 1024**3
# People think of memory in GiB, the API in bytes.
_BYTES, _GIB = "peak_memory_bytes", "peak_memory_gib"
_PRICE, _CURRENCY = "price_per_hour.amount", "price_per_hour.currency"
_SIZE = re.compile(r"\d{1,8}(\.\d{1,9})?")

_SHOWN_AS_THEY_ARE = (
    "name",
    "external_id",
    "plan_id",
    "offer_id",
    "instance",
    "instance_count",
    "gpu",
    "billing",
    "state",
    "interruptions",
    "steps_started",
    "steps_done",
    "steps_total",
    "note",
)


def values_of_run(run: Run, zone: ZoneInfo) -> dict[str, str]:
    """What the form of a run holds; times are those of the team's time zone."""
    values = {name: _plain(getattr(run, name)) for name in _SHOWN_AS_THEY_ARE}
    return values | {
        "started_at": local_input(run.started_at, zone),
        "ended_at": "" if run.ended_at is None else local_input(run.ended_at, zone),
        "hours": "",
        "price_per_hour.amount": format_unit_price(run.price_per_hour, run.currency),
        "price_per_hour.currency": run.currency,
        "gpus_per_instance": f"{run.gpus_per_instance:f}",
        "exchange_rate.rate": "" if run.exchange_rate is None else f"{run.exchange_rate:f}",
        "exchange_rate.date": _plain(run.exchange_rate_day),
        "lost_hours": f"{run.lost_hours:g}",
        _GIB: ""
        if run.peak_memory_bytes is None
        else f"{run.peak_memory_bytes / GIB:.3f}".rstrip("0").rstrip("."),
        "tokens_per_second": "" if run.tokens_per_second is None else f"{run.tokens_per_second:g}",
        "out_of_memory": "true" if run.out_of_memory else "",
    }


def read_run(values: Mapping[str, str], zone: ZoneInfo) -> RunInput:
    """The run that a form describes. Raises InvalidInput."""
    sent = _with_bytes(values)
    if not sent.get(_PRICE, "").strip():
        # A currency alone is no price: the offer's is meant.
        sent.pop(_CURRENCY, None)
    return read_form(RunInput, sent, zone)


def read_run_changes(values: Mapping[str, str], run: Run, zone: ZoneInfo) -> RunPatch:
    """What a form changes of the run that it showed. Raises InvalidInput."""
    shown = values_of_run(run, zone)
    size = shown.pop(_GIB)
    if values.get(_GIB, size).strip() == size:
        sent = {name: text for name, text in values.items() if name != _GIB}
    else:
        sent, shown[_BYTES] = {_BYTES: ""} | _with_bytes(values), size
    if sent.get("offer_id", "") not in ("", shown["offer_id"]) and not sent.get(_PRICE, "").strip():
        # Another offer brings its own price.
        shown = {name: text for name, text in shown.items() if name not in (_PRICE, _CURRENCY)}
    return read_changes(RunPatch, RunInput, sent, shown, zone)


def local_input(instant: datetime, zone: ZoneInfo) -> str:
    """What a field for a local date and time holds."""
    return f"{instant.astimezone(zone):%Y-%m-%dT%H:%M}"


def _with_bytes(values: Mapping[str, str]) -> dict[str, str]:
    text = values.get(_GIB, "").strip()
    if not text:
        return dict(values)
    if not _SIZE.fullmatch(text):
        raise InvalidInput.at(_GIB, Message("This must be a number."))
    return dict(values) | {_BYTES: str(round(Decimal(text) * GIB))}


def _plain(value: object) -> str:
    return "" if value is None else str(value)
