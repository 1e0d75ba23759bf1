"""What a member of a team can do with runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import select as select_columns
from sqlmodel import Session, col, func, or_, select

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.errors import InvalidInput, NotFound
from app.i18n import Message
from app.projects.ledger import Source, lock_project, remove_spend
from app.projects.models import Project
from app.time import local_day
from app.tracking.conversion import conversion_for
from app.tracking.evidence import keep_evidence
from app.tracking.inputs import RunInput, RunPatch
from app.tracking.models import Run
from app.tracking.overlap import InstanceUse, overlapping_run_ids
from app.tracking.posting import record_spend
from app.tracking.run_cost import run_days
from app.tracking.run_fields import kept_rate_of, run_fields, run_pricing, run_time
from app.tracking.run_patch import merged_run, with_external_id
from app.versions import Precondition

# What of a run the ledger knows: a change of anything else leaves it alone.
_IN_LEDGER = frozenset(
    {
        "plan_id",
        "started_at",
        "ended_at",
        "instance_count",
        "gpus_per_instance",
        "price_per_hour",
        "price_terms",
        "currency",
        "exchange_rate",
        "deleted_at",
    }
)


def live_runs(project: Project) -> Any:
    """The select of a project's runs, to be narrowed or paged."""
    return _all_runs(project).where(col(Run.deleted_at).is_(None))


def _all_runs(project: Project) -> Any:
    return select(Run).where(col(Run.team_id) == project.team_id, col(Run.project_id) == project.id)


def get_run(session: Session, project: Project, run_id: int) -> Run:
    """The project's run. Raises NotFound."""
    return _found(session.exec(live_runs(project).where(col(Run.id) == run_id)).first())


def get_deleted_run(session: Session, project: Project, run_id: int) -> Run:
    """The project's run, deleted or brought back already. Raises NotFound."""
    return _found(session.exec(_all_runs(project).where(col(Run.id) == run_id)).first())


def log_run(session: Session, actor: Actor, project: Project, wanted: RunInput) -> Run:
    """A new run. Raises InvalidInput, and Conflict when the budget blocks it."""
    actor.require("editor")
    lock_project(session, project)
    fields = run_fields(session, actor, project, wanted)
    _claim_external_id(session, project, wanted.external_id, None)
    run = Run(team_id=project.team_id, project_id=project.id or 0, created_at=actor.clock(), **fields)
    session.add(run)
    session.flush()
    _post(session, actor, project, run)
    keep_evidence(session, run)
    record_event(session, actor, "created", "run", run.id or 0, name=run.name)
    return run


def put_run(
    session: Session, actor: Actor, project: Project, external_id: str, wanted: RunInput
) -> tuple[Run, bool]:
    """The run of an external id, made or replaced; a deleted one is revived. Says whether it was made.

    Raises InvalidInput, and Conflict when the budget blocks it.
    """
    actor.require("editor")
    wanted = with_external_id(wanted, external_id)
    lock_project(session, project)
    run = _find_by_external_id(session, project, wanted.external_id)
    if run is None:
        return log_run(session, actor, project, wanted), True
    fields = run_fields(session, actor, project, wanted, run, kept_rate_of(run, actor))
    action = "replaced" if run.deleted_at is None else "restored"
    _change(session, actor, project, run, fields | {"deleted_at": None}, action)
    return run, False


def update_run(
    session: Session, actor: Actor, project: Project, run: Run, patch: RunPatch, precondition: Precondition
) -> Run:
    """Changes what the patch names; the run as a whole must satisfy every rule.

    Raises InvalidInput, what the precondition raises, and Conflict when the budget blocks it.
    """
    actor.require("editor")
    _lock(session, project, run)
    wanted = merged_run(run, patch)
    kept_rate = None if "exchange_rate" in patch.model_fields_set else kept_rate_of(run, actor)
    is_whole = wanted.offer_id == run.offer_id
    fields = run_fields(session, actor, project, wanted, run, kept_rate, is_whole=is_whole)
    _claim_external_id(session, project, wanted.external_id, run.id)
    precondition.check(run.version)
    _change(session, actor, project, run, fields, "changed")
    return run


def delete_run(
    session: Session, actor: Actor, project: Project, run: Run, precondition: Precondition
) -> None:
    """Hides the run and takes its spend out of the ledger."""
    actor.require("editor")
    _lock(session, project, run)
    precondition.check(run.version)
    run.deleted_at = actor.clock()
    run.version += 1
    remove_spend(session, project, Source("run", run.id or 0))
    keep_evidence(session, run)
    record_event(session, actor, "deleted", "run", run.id or 0, name=run.name)
    session.flush()


def restore_run(session: Session, actor: Actor, project: Project, run: Run) -> None:
    """Brings a deleted run and its spend back. Raises Conflict when the budget blocks it."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(run)
    day = local_day(run.started_at, actor.zone)
    rate = conversion_for(session, actor, project, run.currency, day, kept=kept_rate_of(run, actor))
    _change(session, actor, project, run, {"deleted_at": None, **rate.columns}, "restored")


def overlapping_ids(session: Session, runs: Sequence[Run]) -> set[int]:
    """Those of one team's runs that another of its live runs on the same instance overlaps; in one query."""
    named = [run for run in runs if run.instance]
    if not named:
        return set()
    statement = select_columns(col(Run.id), col(Run.instance), col(Run.started_at), col(Run.ended_at)).where(
        col(Run.team_id) == named[0].team_id,
        col(Run.instance).in_({run.instance for run in named}),
        col(Run.deleted_at).is_(None),
        *_within(named),
    )
    uses = [InstanceUse(id_ or 0, *rest) for id_, *rest in session.execute(statement)]
    return overlapping_run_ids(uses) & {run.id or 0 for run in runs}


def _within(runs: Sequence[Run]) -> list[Any]:
    """What can overlap one of the runs: it ends after the first of them starts, and starts before the last ends."""
    conditions = [or_(col(Run.ended_at).is_(None), col(Run.ended_at) > min(run.started_at for run in runs))]
    ends = [run.ended_at for run in runs if run.ended_at is not None]
    if len(ends) == len(runs):
        conditions.append(col(Run.started_at) < max(ends))
    return conditions


def _lock(session: Session, project: Project, run: Run) -> None:
    """Holds the project and takes the run as it stands now. Raises NotFound when it was deleted meanwhile."""
    lock_project(session, project)
    session.refresh(run)
    if run.deleted_at is not None:
        raise NotFound


def _change(
    session: Session, actor: Actor, project: Project, run: Run, fields: Mapping[str, Any], action: str
) -> None:
    """Sets what differs, posts anew what the ledger knows of it, and leaves an event; nothing when nothing differs."""
    changed = [name for name, value in fields.items() if getattr(run, name) != value]
    if not changed:
        return
    # The end of a run that was let start is money that is gone already.
    was_running = run.state == "running" and run.deleted_at is None
    for name in changed:
        setattr(run, name, fields[name])
    run.version += 1
    session.flush()
    if _IN_LEDGER.intersection(changed):
        _post(session, actor, project, run, already_gone=was_running)
    keep_evidence(session, run)
    record_event(session, actor, action, "run", run.id or 0, name=run.name, fields=sorted(changed))


def _post(session: Session, actor: Actor, project: Project, run: Run, *, already_gone: bool = False) -> None:
    rate = run.exchange_rate if run.exchange_rate is not None else Decimal(1)
    days = run_days(run_time(run), run_pricing(run), rate, actor.zone)
    source = Source("run", run.id or 0, run.plan_id)
    run.over_budget = record_spend(
        session, project, source, days, was_over=run.over_budget, already_gone=already_gone
    )
    session.flush()


def _found(run: Run | None) -> Run:
    if run is None:
        raise NotFound
    return run


def _find_by_external_id(session: Session, project: Project, external_id: str | None) -> Run | None:
    run: Run | None = session.exec(_all_runs(project).where(col(Run.external_id) == external_id)).first()
    return run


def _claim_external_id(
    session: Session, project: Project, external_id: str | None, own_id: int | None
) -> None:
    """A deleted run gives its external id up. Raises InvalidInput when a live one has it."""
    found = None if external_id is None else _find_by_external_id(session, project, external_id)
    if found is None or found.id == own_id:
        return
    if found.deleted_at is None:
        raise InvalidInput.at("external_id", Message("The project has a run with this id already."))
    found.external_id = None
    session.flush()


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
