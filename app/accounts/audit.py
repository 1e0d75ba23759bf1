"""The audit trail: every change leaves an event."""

from typing import Any

from sqlmodel import Session

from app.accounts.access import Actor
from app.accounts.models import AuditEvent


def record_event(
    session: Session, actor: Actor, action: str, subject_type: str, subject_id: int, **details: Any
) -> None:
    """Adds an event to the transaction; ``action`` is a verb in the past such as ``created``."""
    session.add(
        AuditEvent(
            team_id=actor.team_id,
            at=actor.clock(),
            actor_name=actor.name,
            user_id=actor.user_id,
            token_id=actor.token_id,
            action=action,
            subject_type=subject_type,
            subject_id=subject_id,
            details=details,
        )
    )
