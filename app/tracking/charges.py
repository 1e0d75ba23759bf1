"""What a member of a team can do with charges."""

from collections.abc import Mapping
from typing import Any

from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.errors import Conflict, InvalidInput, NotFound
from app.projects.ledger import Source, lock_project, post_spend
from app.projects.models import Project
from app.time import local_day
from app.tracking.charge_cost import charge_days
from app.tracking.charge_fields import charge_fields, kept_rate_of, merged_charge, terms_of
from app.tracking.conversion import conversion_for
from app.tracking.inputs import ChargeInput, ChargePatch
from app.tracking.models import Charge
from app.tracking.posting import record_spend
from app.tracking.vouchers import check_voucher, keep_voucher_use, voucher_id_of
from app.versions import Precondition

# What of a charge the ledger knows: a change of anything else leaves it alone.
_IN_LEDGER = frozenset(
    {"category", "amount", "list_amount", "exchange_rate", "period_start", "period_end", "deleted_at"}
)


def live_charges(project: Project) -> Any:
    """The select of a project's charges, to be narrowed or paged."""
    return _all_charges(project).where(col(Charge.deleted_at).is_(None))


def _all_charges(project: Project) -> Any:
    return select(Charge).where(col(Charge.team_id) == project.team_id, col(Charge.project_id) == project.id)


def get_charge(session: Session, project: Project, charge_id: int) -> Charge:
    """The project's charge. Raises NotFound."""
    return _found(session.exec(live_charges(project).where(col(Charge.id) == charge_id)).first())


def get_deleted_charge(session: Session, project: Project, charge_id: int) -> Charge:
    """The project's charge, deleted or brought back already. Raises NotFound."""
    return _found(session.exec(_all_charges(project).where(col(Charge.id) == charge_id)).first())


def log_charge(session: Session, actor: Actor, project: Project, wanted: ChargeInput) -> Charge:
    """A new charge. Raises InvalidInput, and Conflict when the budget blocks it."""
    actor.require("editor")
    lock_project(session, project)
    fields = charge_fields(session, actor, project, wanted)
    check_voucher(session, actor, wanted)
    charge = Charge(team_id=project.team_id, project_id=project.id or 0, created_at=actor.clock(), **fields)
    session.add(charge)
    session.flush()
    keep_voucher_use(session, charge, wanted.voucher_id)
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
    """Changes what the patch names; the charge as a whole must satisfy every rule.

    Raises InvalidInput, what the precondition raises, and Conflict when the budget blocks it.
    """
    actor.require("editor")
    _lock(session, project, charge)
    kept_rate = None if "exchange_rate" in patch.model_fields_set else kept_rate_of(charge, actor)
    wanted = merged_charge(charge, voucher_id_of(session, charge), patch)
    fields = charge_fields(session, actor, project, wanted, kept_rate)
    check_voucher(session, actor, wanted, charge)
    precondition.check(charge.version)
    _change(session, actor, project, charge, fields, wanted.voucher_id, "changed")
    return charge


def delete_charge(
    session: Session, actor: Actor, project: Project, charge: Charge, precondition: Precondition
) -> None:
    """Hides the charge and takes it out of the ledger; what it had taken of a voucher is there again.

    Raises what the precondition raises, and Conflict when the budget blocks what a credit's end would add to spend.
    """
    actor.require("editor")
    _lock(session, project, charge)
    precondition.check(charge.version)
    charge.deleted_at = actor.clock()
    charge.version += 1
    keep_voucher_use(session, charge, voucher_id_of(session, charge))
    post_spend(session, project, Source("charge", charge.id or 0), [], already_gone=False)
    record_event(session, actor, "deleted", "charge", charge.id or 0, category=charge.category)
    session.flush()


def restore_charge(session: Session, actor: Actor, project: Project, charge: Charge) -> None:
    """Brings a deleted charge and its amount back. Raises Conflict when the budget blocks it or its voucher has no
    longer so much left.
    """
    actor.require("editor")
    lock_project(session, project)
    session.refresh(charge)
    voucher_id = _check_restored_voucher(session, actor, charge)
    day = local_day(charge.period_start, actor.zone)
    rate = conversion_for(session, actor, project, charge.currency, day, kept=kept_rate_of(charge, actor))
    _change(session, actor, project, charge, {"deleted_at": None, **rate.columns}, voucher_id, "restored")


def _check_restored_voucher(session: Session, actor: Actor, charge: Charge) -> int | None:
    """The voucher that the charge named, which must pay once more."""
    voucher_id = voucher_id_of(session, charge)
    if voucher_id is None:
        return None
    try:
        check_voucher(session, actor, merged_charge(charge, voucher_id, ChargePatch()), charge)
    except InvalidInput as error:
        # There is no form at whose fields this could stand.
        raise Conflict(error.errors[0].message) from error
    return voucher_id


def _lock(session: Session, project: Project, charge: Charge) -> None:
    """Holds the project and takes the charge as it stands now. Raises NotFound when it was deleted meanwhile."""
    lock_project(session, project)
    session.refresh(charge)
    if charge.deleted_at is not None:
        raise NotFound


def _change(
    session: Session,
    actor: Actor,
    project: Project,
    charge: Charge,
    fields: Mapping[str, Any],
    voucher_id: int | None,
    action: str,
) -> None:
    """Sets what differs, posts anew what the ledger knows of it, and leaves an event; nothing when nothing differs."""
    changed = [name for name, value in fields.items() if getattr(charge, name) != value]
    for name in changed:
        setattr(charge, name, fields[name])
    if voucher_id != voucher_id_of(session, charge):
        changed.append("voucher_id")
    if not changed:
        return
    charge.version += 1
    keep_voucher_use(session, charge, voucher_id)
    session.flush()
    if _IN_LEDGER.intersection(changed):
        _post(session, actor, project, charge)
    record_event(session, actor, action, "charge", charge.id or 0, fields=sorted(changed))


def _post(session: Session, actor: Actor, project: Project, charge: Charge) -> None:
    days = charge_days(terms_of(charge), charge.period_start, charge.period_end, actor.zone)
    source = Source("charge", charge.id or 0)
    charge.over_budget = record_spend(session, project, source, days, was_over=charge.over_budget)
    session.flush()


def _found(charge: Charge | None) -> Charge:
    if charge is None:
        raise NotFound
    return charge
