"""From what was sent to what is stored of a charge: defaults, checks and rate."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from sqlmodel import Session

from app.accounts.access import Actor
from app.errors import FieldError, InvalidInput
from app.fields import field_errors
from app.i18n import Message
from app.money import LARGEST_AMOUNT
from app.projects.models import Project
from app.time import LARGEST_CLOCK_SKEW, local_day
from app.tracking.charge_cost import ChargeTerms
from app.tracking.conversion import Conversion, KeptConversion, conversion_for
from app.tracking.inputs import ChargeInput, ChargePatch
from app.tracking.models import Charge

LONGEST_PERIOD = timedelta(days=3653)

_AS_SENT = ("category", "service", "period_start", "period_end", "external_id", "note")


def charge_fields(
    session: Session,
    actor: Actor,
    project: Project,
    wanted: ChargeInput,
    kept_rate: KeptConversion | None = None,
) -> dict[str, Any]:
    """The columns of a charge. Raises InvalidInput naming every field that is wrong."""
    errors = list(_faults(wanted, actor.clock()))
    if errors:
        raise InvalidInput(*errors)
    day = local_day(wanted.period_start, actor.zone)
    code = wanted.amount.currency
    rate = conversion_for(session, actor, project, code, day, wanted.exchange_rate, kept_rate)
    listed = wanted.list_amount or wanted.amount
    terms = ChargeTerms(wanted.amount.amount, listed.amount, rate.rate or Decimal(1))
    if max(abs(terms.cost), abs(terms.list_cost)) > LARGEST_AMOUNT:
        raise InvalidInput.at("amount", Message("This amount is too large."))
    return {
        **{name: getattr(wanted, name) for name in _AS_SENT},
        **rate.columns,
        "amount": wanted.amount.amount,
        "list_amount": listed.amount,
        "currency": code,
    }


def merged_charge(charge: Charge, voucher_id: int | None, patch: ChargePatch) -> ChargeInput:
    """The charge with its voucher as the patch leaves it. Raises InvalidInput naming what is wrong with it."""
    document: dict[str, Any] = {name: getattr(charge, name) for name in _AS_SENT}
    document["voucher_id"] = voucher_id
    document["amount"] = {"amount": charge.amount, "currency": charge.currency}
    if charge.list_amount != charge.amount:
        # One that was the amount itself goes on being it.
        document["list_amount"] = {"amount": charge.list_amount, "currency": charge.currency}
    try:
        return ChargeInput.model_validate(document | patch.model_dump(exclude_unset=True))
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


def kept_rate_of(charge: Charge, actor: Actor) -> KeptConversion:
    """The rate that the charge has, for as long as it fits."""
    conversion = Conversion(charge.exchange_rate, charge.exchange_rate_day, charge.exchange_rate_source)
    return KeptConversion(conversion, charge.currency, local_day(charge.period_start, actor.zone))


def terms_of(charge: Charge) -> ChargeTerms:
    """What the charge adds to spend: what is owed falls by a credit, while the list price does not know it."""
    listed = Decimal(0) if charge.category == "credit" else charge.list_amount
    rate = charge.exchange_rate if charge.exchange_rate is not None else Decimal(1)
    return ChargeTerms(charge.amount, listed, rate)


def _faults(wanted: ChargeInput, now: datetime) -> Iterator[FieldError]:
    if wanted.period_end < wanted.period_start:
        yield FieldError("period_end", Message("The end lies before the start."))
    elif wanted.period_end - wanted.period_start > LONGEST_PERIOD:
        yield FieldError("period_end", Message("A charge covers at most ten years."))
    if wanted.period_start > now + LARGEST_CLOCK_SKEW:
        # Its end may lie ahead: months are paid in advance.
        yield FieldError("period_start", Message("This lies ahead of the server's clock."))
    if wanted.category == "credit" and wanted.amount.amount > 0:
        yield FieldError("amount.amount", Message("A credit is negative."))
    if wanted.list_amount is not None and wanted.list_amount.currency != wanted.amount.currency:
        yield FieldError("list_amount.currency", Message("Both amounts are in one currency."))
