"""The versions of a plan: each time it is saved, what it was stays."""

from collections.abc import Sequence
from typing import Any, Literal

from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.errors import NotFound
from app.planning.models import Plan, PlanState, PlanVersion

Reason = Literal["created", "changed", "re-priced"]


def keep_version(session: Session, actor: Actor, plan: Plan, reason: Reason) -> None:
    """Keeps the plan as it is now."""
    state = {name: getattr(plan, name) for name in PlanState.model_fields}
    session.add(
        PlanVersion(
            team_id=plan.team_id,
            plan_id=plan.id or 0,
            number=plan.version,
            reason=reason,
            saved_at=actor.clock(),
            saved_by=actor.name,
            **state,
        )
    )
    session.flush()


def versions_of(plan: Plan) -> Any:
    """The select of a plan's versions, to be ordered or paged."""
    return select(PlanVersion).where(
        col(PlanVersion.team_id) == plan.team_id, col(PlanVersion.plan_id) == plan.id
    )


def list_versions(session: Session, plan: Plan) -> Sequence[PlanVersion]:
    """All of them, the newest first."""
    versions: Sequence[PlanVersion] = session.exec(
        versions_of(plan).order_by(col(PlanVersion.number).desc())
    ).all()
    return versions


def get_version(session: Session, plan: Plan, number: int) -> PlanVersion:
    """One of them. Raises NotFound."""
    version: PlanVersion | None = session.exec(
        versions_of(plan).where(col(PlanVersion.number) == number)
    ).first()
    if version is None:
        raise NotFound
    return version
