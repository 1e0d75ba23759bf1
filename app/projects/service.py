"""What a member of a team can do with projects and their budgets."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.errors import Forbidden, InvalidInput
from app.i18n import Message
from app.projects.budget import Budget
from app.projects.figures import budget_in_force, has_spend
from app.projects.inputs import BudgetInput, BudgetPatch, ProjectInput, ProjectPatch
from app.projects.ledger import lock_project
from app.projects.models import BudgetChange, Project
from app.versions import Precondition


def list_projects(session: Session, actor: Actor) -> Sequence[Project]:
    """The team's projects, oldest first."""
    return session.exec(live_projects(actor).order_by(col(Project.id))).all()


def live_projects(actor: Actor) -> SelectOfScalar[Project]:
    """The team's projects that are not deleted."""
    return select(Project).where(col(Project.team_id) == actor.team_id, col(Project.deleted_at).is_(None))


def create_project(session: Session, actor: Actor, wanted: ProjectInput) -> Project:
    """A new project with its first budget."""
    actor.require("editor")
    budget = _budget_of_input(wanted.budget)
    _check_budget(budget)
    _check_name_is_free(session, actor, wanted.name, None)
    project = Project(
        team_id=actor.team_id,
        name=wanted.name,
        goal=wanted.goal,
        currency=wanted.currency,
        target=wanted.target,
        alert_thresholds=_thresholds(wanted.alert_thresholds),
        created_at=actor.clock(),
    )
    session.add(project)
    session.flush()
    _add_budget(session, actor, project, budget, "")
    record_event(session, actor, "created", "project", project.id or 0, name=project.name)
    session.flush()
    return project


def update_project(
    session: Session, actor: Actor, project: Project, patch: ProjectPatch, precondition: Precondition
) -> Project:
    """Changes what the patch names; a change of the budget is the owner's and keeps the earlier ones."""
    actor.require("editor")
    changed = patch.model_fields_set - {"reason"}
    if "budget" in changed and not actor.may("owner"):
        raise Forbidden(Message("Only an owner changes a budget."))
    _check_required(patch, changed)
    lock_project(session, project)
    session.refresh(project)
    budget = _patched_budget(session, project, patch.budget)
    _check_patch(session, actor, project, patch)
    precondition.check(project.version)
    for name in sorted(changed - {"budget"}):
        setattr(project, name, getattr(patch, name))
    project.alert_thresholds = _thresholds(project.alert_thresholds)
    if budget is not None:
        _add_budget(session, actor, project, budget, patch.reason)
    if changed:
        project.version += 1
        record_event(session, actor, "changed", "project", project.id or 0, fields=sorted(changed))
    session.flush()
    return project


def delete_project(session: Session, actor: Actor, project: Project, precondition: Precondition) -> None:
    """Hides the project; its spend stays in past reports and its name is free again."""
    actor.require("editor")
    lock_project(session, project)
    session.refresh(project)
    precondition.check(project.version)
    project.deleted_at = actor.clock()
    project.version += 1
    record_event(session, actor, "deleted", "project", project.id or 0, name=project.name)
    session.flush()


def _budget_of_input(wanted: BudgetInput) -> Budget:
    return Budget(**wanted.model_dump())


def _check_budget(budget: Budget) -> None:
    if budget.ends_on is not None and budget.ends_on < budget.starts_on:
        raise InvalidInput.at("budget.ends_on", Message("The end lies before the start."))


def _check_name_is_free(session: Session, actor: Actor, name: str, own_id: int | None) -> None:
    statement = select(Project.id).where(
        col(Project.team_id) == actor.team_id, col(Project.name) == name, col(Project.deleted_at).is_(None)
    )
    if any(id_ != own_id for id_ in session.exec(statement)):
        raise InvalidInput.at("name", Message("The team has a project of this name already."))


def _check_required(patch: ProjectPatch, changed: set[str]) -> None:
    for name in ("name", "goal", "currency", "alert_thresholds", "budget"):
        if name in changed and getattr(patch, name) is None:
            raise InvalidInput.at(name, Message("This field is required."))


def _check_patch(session: Session, actor: Actor, project: Project, patch: ProjectPatch) -> None:
    if patch.name is not None:
        _check_name_is_free(session, actor, patch.name, project.id)
    is_moved = patch.currency is not None and patch.currency != project.currency
    if is_moved and has_spend(session, project):
        raise InvalidInput.at("currency", Message("The currency cannot change once money is spent."))


def _patched_budget(session: Session, project: Project, patch: BudgetPatch | None) -> Budget | None:
    """The budget that a patch leads to; None when nothing changes."""
    if patch is None:
        return None
    for name in sorted(patch.model_fields_set - {"ends_on"}):
        if getattr(patch, name) is None:
            raise InvalidInput.at(f"budget.{name}", Message("This field is required."))
    current = budget_in_force(session, project)
    changes: dict[str, Any] = {name: getattr(patch, name) for name in patch.model_fields_set}
    budget = replace(current, **changes)
    _check_budget(budget)
    return None if budget == current else budget


def _add_budget(session: Session, actor: Actor, project: Project, budget: Budget, reason: str) -> None:
    session.add(
        BudgetChange(
            team_id=project.team_id,
            project_id=project.id or 0,
            reason=reason,
            changed_by=actor.name,
            effective_at=actor.clock(),
            **asdict(budget),
        )
    )
    record_event(
        session, actor, "set budget", "project", project.id or 0, amount=str(budget.amount), reason=reason
    )


def _thresholds(thresholds: list[int]) -> list[int]:
    return sorted(set(thresholds))
