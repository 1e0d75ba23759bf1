"""How numbers, money and times stand on pages; every filter takes the reader's language from the context."""

from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_datetime
from jinja2 import pass_context
from jinja2.runtime import Context

from app.i18n import BABEL_LOCALE, Message, translate
from app.money import Money, format_unit_price, minor_digits, round_to_minor
from app.time import hours_of

GIB = 1024**3


def _locale(context: Context) -> str:
    return BABEL_LOCALE[context["language"]]


def grouped(value: Decimal, digits: int) -> str:
    """A number with digit groups and so many decimals, and a true minus sign; alike in both languages."""
    return f"{value:,.{digits}f}".replace("-", "\u2212")


@pass_context
def amount(_context: Context, value: Decimal, currency: str) -> str:
    """``1,204.60`` at the currency's minor unit."""
    return grouped(round_to_minor(value, currency), minor_digits(currency))


@pass_context
def money(context: Context, value: Money) -> str:
    """``CNY 1,204.60``: always with the ISO code, for ¥ is CNY or JPY."""
    return f"{value.currency}\u00a0{amount(context, value.amount, value.currency)}"


@pass_context
def unit_price(_context: Context, value: Decimal, currency: str) -> str:
    """``3.20``, ``0.4125``."""
    text = format_unit_price(value, currency)
    digits = len(text.partition(".")[2])
    return grouped(Decimal(text), digits)


@pass_context
def number(_context: Context, value: float | Decimal, digits: int = 0) -> str:
    """A plain number with digit groups."""
    return grouped(_rounded(value, digits), digits)


@pass_context
def hours(context: Context, value: float) -> str:
    """Hours to 0.1; below one hour to 0.01 where that says more."""
    is_short = abs(value) < 1 and _rounded(value, 1) != _rounded(value, 2)
    return number(context, value, 2 if is_short else 1)


@pass_context
def instance_hours(context: Context, microseconds: int) -> str:
    """Microseconds as hours to 0.1."""
    return number(context, hours_of(microseconds), 1)


@pass_context
def gib(context: Context, size_bytes: float) -> str:
    """Bytes as GiB to 0.1."""
    return number(context, size_bytes / GIB, 1)


@pass_context
def percent(context: Context, share: float | Decimal) -> str:
    """A share of 1 as a whole percentage."""
    return f"{number(context, share * 100)}\u00a0%"


@pass_context
def local_time(context: Context, instant: datetime) -> str:
    """Date and time in the team's time zone."""
    pattern = "y-MM-dd HH:mm"
    return format_datetime(instant, pattern, tzinfo=_zone(context), locale=_locale(context))


@pass_context
def local_date(context: Context, day: date) -> str:
    """A day, written out: ``3 Nov 2026``, ``2026年11月3日``."""
    if isinstance(day, datetime):
        day = day.astimezone(_zone(context)).date()
    language = context["language"]
    return format_date(day, "y年M月d日" if language == "zh-CN" else "d MMM y", locale=_locale(context))


@pass_context
def input_time(context: Context, instant: datetime | None) -> str:
    """What a datetime-local input holds, in the team's time zone."""
    return "" if instant is None else f"{instant.astimezone(_zone(context)):%Y-%m-%dT%H:%M}"


@pass_context
def said(context: Context, message: Message | str) -> str:
    """A Message in the reader's language."""
    return translate(message, context["language"])


def _rounded(value: float | Decimal, digits: int) -> Decimal:
    return Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP) + Decimal(0)


def _zone(context: Context) -> ZoneInfo:
    actor = context.get("actor")
    return actor.zone if actor is not None else ZoneInfo("Asia/Shanghai")


FILTERS: dict[str, Any] = {
    "amount": amount,
    "money": money,
    "unit_price": unit_price,
    "number": number,
    "hours": hours,
    "instance_hours": instance_hours,
    "gib": gib,
    "percent": percent,
    "local_time": local_time,
    "local_date": local_date,
    "input_time": input_time,
    "said": said,
}
