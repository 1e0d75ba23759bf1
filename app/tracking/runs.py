"""What a member of a team can do with runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from sqlmodel import Session, col, func, or_, select

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.catalog.pricing import Pricing
from app.errors import InvalidInput, NotFound
from app.fields import field_errors
from app.i18n import Message
from app.projects.budget import DaySpend
from app.projects.ledger import Source, lock_project, post_spend, remove_spend
from app.projects.models import Project
from app.tracking.inputs import RunInput, RunPatch
from app.tracking.models import Run
from app.tracking.run_cost import RunHours, run_days
from app.tracking.run_fields import run_fields
from app.versions import Precondition


def get_run(session: Session, project: Project, run_id: int) -> Run:
    """The project's run. Raises NotFound."""
    run: Run | None = session.exec(live_runs(project).where(col(Run.id) == run_id)).first()
    if run is None:
        raise NotFound
    return run


def get_deleted_run(session: Session, project: Project, run_id: int) -> Run:
    """The project's run, deleted or brought back already. Raises NotFound."""
    statement = select(Run).where(
        col(Run.team_id) == project.team_id, col(Run.project_id) == project.id, col(Run.id) == run_id
    )
    run = session.exec(statement).first()
    if run is None:
        raise NotFound
    return run


def live_runs(project: Project) -> Any:
    """The select of a project's runs, to be narrowed or paged."""
    return select(Run).where(
        col(Run.team_id) == project.team_id, col(Run.project_id) == project.id, col(Run.deleted_at).is_(None)
    )


def log_run(session: Session, actor: Actor, project: Project, wanted: RunInput) -> Run:
    """A new run. Raises InvalidInput, and Conflict when the budget blocks it."""
    actor.require("editor")
    lock_project(session, project)
    _check_external_id_is_free(session, project, wanted.external_id, None)
    fields = run_fields(session, actor, project, wanted)
    run = Run(team_id=project.team_id, project_id=project.id or 0, created_at=actor.clock(), **fields)
    session.add(run)
    session.flush()
    _post(session, actor, project, run, already_gone=False)
    record_event(session, actor, "created", "run", run.id or 0, name=run.name)
    return run


def put_run(
    session: Session, actor: Actor, project: Project, external_id: str, wanted: RunInput
) -> tuple[Run, bool]:
    """The run of an external id, made or replaced; a deleted one is revived. Says whether it was made."""
    actor.require("editor")
    if wanted.external_id not in (None, external_id):
        raise InvalidInput.at("external_id", Message("This differs from the one in the address."))
    wanted = wanted.model_copy(update={"external_id": external_id})
    lock_project(session, project)
    run = _find_by_external_id(session, project, external_id)
    if run is None:
        return log_run(session, actor, project, wanted), True
    fields = run_fields(session, actor, project, wanted, run)
    was_running = run.state == "running" and run.deleted_at is None
    if _apply(run, fields | {"deleted_at": None}):
        run.version += 1
        _post(session, actor, project, run, already_gone=was_running)
        record_event(session, actor, "replaced", "run", run.id or 0, name=run.name)
    return run, False


def update_run(
    session: Session, actor: Actor, project: Project, run: Run, patch: RunPatch, precondition: Precondition
) -> Run:
    """Changes what the patch names; the run as a whole must satisfy every rule."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(run)
    wanted = _merged(run, patch)
    _check_external_id_is_free(session, project, wanted.external_id, run.id)
    fields = run_fields(session, actor, project, wanted, run)
    precondition.check(run.version)
    # The end of a run that was let start is money that is gone already.
    was_running = run.state == "running"
    if _apply(run, fields):
        run.version += 1
        _post(session, actor, project, run, already_gone=was_running)
        record_event(session, actor, "changed", "run", run.id or 0, fields=sorted(patch.model_fields_set))
    return run


def delete_run(
    session: Session, actor: Actor, project: Project, run: Run, precondition: Precondition
) -> None:
    """Hides the run and takes its spend out of the ledger."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(run)
    precondition.check(run.version)
    run.deleted_at = actor.clock()
    run.version += 1
    remove_spend(session, project, Source("run", run.id or 0))
    record_event(session, actor, "deleted", "run", run.id or 0, name=run.name)
    session.flush()


def restore_run(session: Session, actor: Actor, project: Project, run: Run) -> None:
    """Brings a deleted run and its spend back. Raises Conflict when the budget blocks it."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(run)
    if run.deleted_at is None:
        return
    run.deleted_at = None
    run.version += 1
    _post(session, actor, project, run, already_gone=False)
    record_event(session, actor, "restored", "run", run.id or 0, name=run.name)


def overlapping_ids(session: Session, runs: Sequence[Run]) -> set[int]:
    """Those of the runs that another live run of the team on the same instance overlaps in time."""
    instances = {run.instance for run in runs if run.instance}
    if not instances:
        return set()
    begin = min(run.started_at for run in runs)
    statement = select(Run).where(
        col(Run.team_id) == runs[0].team_id,
        col(Run.instance).in_(instances),
        col(Run.deleted_at).is_(None),
        or_(col(Run.ended_at).is_(None), col(Run.ended_at) > begin),
    )
    by_instance: dict[str, list[Run]] = {}
    for other in session.exec(statement):
        by_instance.setdefault(other.instance, []).append(other)
    return {
        run.id or 0
        for run in runs
        if any(_overlap(run, other) for other in by_instance.get(run.instance, []))
    }


def _overlap(left: Run, right: Run) -> bool:
    if left.id == right.id:
        return False
    starts_before_end = right.ended_at is None or left.started_at < right.ended_at
    ends_after_start = left.ended_at is None or right.started_at < left.ended_at
    return starts_before_end and ends_after_start


def run_document(run: Run) -> dict[str, Any]:
    """The run as the input that would make it."""
    document: dict[str, Any] = {
        name: getattr(run, name)
        for name in RunInput.model_fields
        if name not in ("price_per_hour", "exchange_rate", "hours", "gpus_per_instance")
    }
    document["gpus_per_instance"] = float(run.gpus_per_instance)
    document["price_per_hour"] = {"amount": run.price_per_hour, "currency": run.currency}
    if run.state == "lost_contact":
        document["state"] = "interrupted"
    return document


def _merged(run: Run, patch: RunPatch) -> RunInput:
    changes = patch.model_dump(exclude_unset=True)
    document = run_document(run) | changes
    if "hours" in changes and changes["hours"] is not None and "ended_at" not in changes:
        del document["ended_at"]
    if changes.get("offer_id") is not None and "price_per_hour" not in changes:
        # Another offer brings its own price, GPU and billing.
        for name in ("price_per_hour", "gpu", "gpus_per_instance", "billing"):
            if name not in changes:
                del document[name]
    is_ended_now = run.state == "running" and (changes.get("ended_at") or changes.get("hours") is not None)
    if is_ended_now and "state" not in changes:
        del document["state"]
    try:
        return RunInput.model_validate(document)
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


def _apply(run: Run, fields: Mapping[str, Any]) -> bool:
    """Sets what differs; says whether anything did."""
    changed = False
    for name, value in fields.items():
        if getattr(run, name) != value:
            setattr(run, name, value)
            changed = True
    return changed


def _post(session: Session, actor: Actor, project: Project, run: Run, *, already_gone: bool) -> None:
    days = _days(actor, run)
    source = Source("run", run.id or 0, run.plan_id)
    run.over_budget = post_spend(session, project, source, days, already_gone=already_gone)
    session.add(run)
    session.flush()


def _days(actor: Actor, run: Run) -> list[DaySpend]:
    if run.ended_at is None:
        return []
    hours = RunHours(run.started_at, run.ended_at, run.instance_count, run.gpus_per_instance)
    return run_days(hours, Pricing(run.price_per_hour), run.exchange_rate or Decimal(1), actor.zone)


def _find_by_external_id(session: Session, project: Project, external_id: str) -> Run | None:
    statement = select(Run).where(
        col(Run.team_id) == project.team_id,
        col(Run.project_id) == project.id,
        col(Run.external_id) == external_id,
    )
    return session.exec(statement).first()


def _check_external_id_is_free(
    session: Session, project: Project, external_id: str | None, own_id: int | None
) -> None:
    if external_id is None:
        return
    found = _find_by_external_id(session, project, external_id)
    if found is not None and found.id != own_id:
        raise InvalidInput.at("external_id", Message("The project has a run with this id already."))


def list_interrupted_runs(session: Session, project: Project) -> Sequence[Run]:
    """The runs that the provider ended, oldest first."""
    statement = live_runs(project).where(col(Run.state) == "interrupted").order_by(col(Run.started_at))
    runs: Sequence[Run] = session.exec(statement).all()
    return runs


@dataclass(frozen=True, slots=True)
class LatestRun:
    """The newest run of a project, and how many are running."""

    run: Run | None
    running: int


def latest_runs(session: Session, projects: Sequence[Project]) -> dict[int, LatestRun]:
    """The newest run of each project and the number of running ones, in two queries."""
    if not projects:
        return {}
    ids = [project.id or 0 for project in projects]
    alive = (
        col(Run.team_id) == projects[0].team_id,
        col(Run.project_id).in_(ids),
        col(Run.deleted_at).is_(None),
    )
    newest = (
        select(Run.project_id, func.max(Run.started_at).label("started_at"))
        .where(*alive)
        .group_by(col(Run.project_id))
        .subquery()
    )
    joined = select(Run).join(
        newest, (newest.c.project_id == col(Run.project_id)) & (newest.c.started_at == col(Run.started_at))
    )
    runs = {run.project_id: run for run in session.exec(joined.where(*alive).order_by(col(Run.id)))}
    counted = select(Run.project_id, func.count()).where(*alive, col(Run.state) == "running")
    running = dict(session.exec(counted.group_by(col(Run.project_id))).all())
    return {id_: LatestRun(runs.get(id_), running.get(id_, 0)) for id_ in ids}
