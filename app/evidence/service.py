"""What tracking writes of a team's spot instances, and what planning reads of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlmodel import Session, col, func, select

from app.evidence.models import SpotUse
from app.evidence.spot_rate import SpotHistory
from app.time import hours_of

# By provider and instance type.
SpotHistories: TypeAlias = Mapping[tuple[str, str], SpotHistory]


@dataclass(frozen=True, slots=True)
class SpotRun:
    """A run on spot instances, as far as interruptions go."""

    run_id: int
    provider: str
    instance_type: str
    instance_us: int
    interruptions: int


def record_spot_run(session: Session, team_id: int, run: SpotRun) -> None:
    """In place of what was known of the same run."""
    forget_spot_run(session, team_id, run.run_id)
    session.add(
        SpotUse(
            team_id=team_id,
            run_id=run.run_id,
            provider=run.provider,
            instance_type=run.instance_type,
            instance_us=run.instance_us,
            interruptions=run.interruptions,
        )
    )
    session.flush()


def forget_spot_run(session: Session, team_id: int, run_id: int) -> None:
    """Of a run that was deleted, or is no spot run after all."""
    found = session.exec(
        select(SpotUse).where(col(SpotUse.team_id) == team_id, col(SpotUse.run_id) == run_id)
    ).first()
    if found is not None:
        session.delete(found)
        session.flush()


def spot_histories(session: Session, team_id: int) -> SpotHistories:
    """The team's spot hours and interruptions, by provider and instance type."""
    rows = session.exec(
        select(
            SpotUse.provider,
            SpotUse.instance_type,
            func.sum(SpotUse.instance_us),
            func.sum(SpotUse.interruptions),
        )
        .where(col(SpotUse.team_id) == team_id)
        .group_by(col(SpotUse.provider), col(SpotUse.instance_type))
    ).all()
    return {
        (provider, instance_type): SpotHistory(hours_of(int(total_us)), int(interruptions))
        for provider, instance_type, total_us, interruptions in rows
    }
