"""What a member of a team can do with charges."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.errors import FieldError, InvalidInput, NotFound
from app.fields import field_errors
from app.i18n import Message
from app.projects.ledger import Source, lock_project, post_spend, remove_spend
from app.projects.models import Project
from app.time import LARGEST_CLOCK_SKEW, local_day
from app.tracking.conversion import conversion_for
from app.tracking.inputs import ChargeInput, ChargePatch
from app.tracking.models import Charge
from app.tracking.run_cost import charge_days
from app.versions import Precondition

LONGEST_PERIOD = timedelta(days=3653)


def live_charges(project: Project) -> Any:
    """The select of a project's charges, to be narrowed or paged."""
    return select(Charge).where(
        col(Charge.team_id) == project.team_id,
        col(Charge.project_id) == project.id,
        col(Charge.deleted_at).is_(None),
    )


def get_charge(session: Session, project: Project, charge_id: int) -> Charge:
    """The project's charge. Raises NotFound."""
    charge: Charge | None = session.exec(live_charges(project).where(col(Charge.id) == charge_id)).first()
    if charge is None:
        raise NotFound
    return charge


def get_deleted_charge(session: Session, project: Project, charge_id: int) -> Charge:
    """The project's charge, deleted or brought back already. Raises NotFound."""
    statement = select(Charge).where(
        col(Charge.team_id) == project.team_id,
        col(Charge.project_id) == project.id,
        col(Charge.id) == charge_id,
    )
    charge = session.exec(statement).first()
    if charge is None:
        raise NotFound
    return charge


def log_charge(session: Session, actor: Actor, project: Project, wanted: ChargeInput) -> Charge:
    """A new charge. Raises InvalidInput, and Conflict when the budget blocks it."""
    actor.require("editor")
    lock_project(session, project)
    fields = _fields(session, actor, project, wanted, None)
    charge = Charge(team_id=project.team_id, project_id=project.id or 0, created_at=actor.clock(), **fields)
    session.add(charge)
    session.flush()
    _post(session, actor, project, charge)
    record_event(session, actor, "created", "charge", charge.id or 0, category=charge.category)
    return charge


def update_charge(
    session: Session,
    actor: Actor,
    project: Project,
    charge: Charge,
    patch: ChargePatch,
    precondition: Precondition,
) -> Charge:
    """Changes what the patch names; the charge as a whole must satisfy every rule."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(charge)
    fields = _fields(session, actor, project, _merged(charge, patch), charge)
    precondition.check(charge.version)
    changed = [name for name, value in fields.items() if getattr(charge, name) != value]
    for name in changed:
        setattr(charge, name, fields[name])
    if changed:
        charge.version += 1
        _post(session, actor, project, charge)
        record_event(session, actor, "changed", "charge", charge.id or 0, fields=sorted(changed))
    return charge


def delete_charge(
    session: Session, actor: Actor, project: Project, charge: Charge, precondition: Precondition
) -> None:
    """Hides the charge and takes it out of the ledger."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(charge)
    precondition.check(charge.version)
    charge.deleted_at = actor.clock()
    charge.version += 1
    remove_spend(session, project, Source("charge", charge.id or 0))
    record_event(session, actor, "deleted", "charge", charge.id or 0, category=charge.category)
    session.flush()


def restore_charge(session: Session, actor: Actor, project: Project, charge: Charge) -> None:
    """Brings a deleted charge and its amount back. Raises Conflict when the budget blocks it."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(charge)
    if charge.deleted_at is None:
        return
    charge.deleted_at = None
    charge.version += 1
    _post(session, actor, project, charge)
    record_event(session, actor, "restored", "charge", charge.id or 0, category=charge.category)


def _fields(
    session: Session, actor: Actor, project: Project, wanted: ChargeInput, kept: Charge | None
) -> dict[str, Any]:
    _check(actor, wanted)
    day = local_day(wanted.period_start, actor.zone)
    rate = conversion_for(session, project, wanted.amount.currency, wanted.exchange_rate, day)
    fields = {
        "category": wanted.category,
        "service": wanted.service,
        "amount": wanted.amount.amount,
        "list_amount": (wanted.list_amount or wanted.amount).amount,
        "currency": wanted.amount.currency,
        "exchange_rate": rate.rate,
        "exchange_rate_day": rate.day,
        "exchange_rate_source": rate.source,
        "period_start": wanted.period_start,
        "period_end": wanted.period_end,
        "external_id": wanted.external_id,
        "note": wanted.note,
    }
    if kept is not None and wanted.exchange_rate is None and kept.currency == wanted.amount.currency:
        for name in ("exchange_rate", "exchange_rate_day", "exchange_rate_source"):
            fields[name] = getattr(kept, name)
    return fields


def _check(actor: Actor, wanted: ChargeInput) -> None:
    errors = []
    if wanted.period_end < wanted.period_start:
        errors.append(FieldError("period_end", Message("The end lies before the start.")))
    elif wanted.period_end - wanted.period_start > LONGEST_PERIOD:
        errors.append(FieldError("period_end", Message("A charge covers at most ten years.")))
    if wanted.period_start > actor.clock() + LARGEST_CLOCK_SKEW:
        errors.append(FieldError("period_start", Message("This lies ahead of the server's clock.")))
    if wanted.category == "credit" and wanted.amount.amount > 0:
        errors.append(FieldError("amount.amount", Message("A credit is negative.")))
    if wanted.list_amount is not None and wanted.list_amount.currency != wanted.amount.currency:
        errors.append(FieldError("list_amount.currency", Message("Both amounts are in one currency.")))
    if errors:
        raise InvalidInput(*errors)


def _merged(charge: Charge, patch: ChargePatch) -> ChargeInput:
    document: dict[str, Any] = {
        name: getattr(charge, name)
        for name in ChargeInput.model_fields
        if name not in ("amount", "list_amount", "exchange_rate")
    }
    document["amount"] = {"amount": charge.amount, "currency": charge.currency}
    document["list_amount"] = {"amount": charge.list_amount, "currency": charge.currency}
    changes = patch.model_dump(exclude_unset=True)
    if "amount" in changes and "list_amount" not in changes and charge.list_amount == charge.amount:
        # The list amount was the amount itself, so it follows it.
        del document["list_amount"]
    try:
        return ChargeInput.model_validate(document | changes)
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


def _post(session: Session, actor: Actor, project: Project, charge: Charge) -> None:
    # What is owed falls by a credit; the list price does not know it.
    listed = Decimal(0) if charge.category == "credit" else charge.list_amount
    days = charge_days(
        charge.amount,
        listed,
        charge.period_start,
        charge.period_end,
        charge.exchange_rate or Decimal(1),
        actor.zone,
    )
    charge.over_budget = post_spend(
        session, project, Source("charge", charge.id or 0), days, already_gone=False
    )
    session.add(charge)
    session.flush()
