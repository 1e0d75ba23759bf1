"""Bearer tokens of a team: made by an owner or the command line, shown once, revoked at any time."""

from collections.abc import Sequence
from datetime import timedelta

from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.accounts.credentials import digest, new_bearer_token
from app.accounts.inputs import TokenInput
from app.accounts.models import ApiToken
from app.errors import NotFound


def list_tokens(session: Session, actor: Actor) -> Sequence[ApiToken]:
    """The team's tokens that are not revoked, the oldest first; expired ones are still among them."""
    statement = select(ApiToken).where(
        col(ApiToken.team_id) == actor.team_id, col(ApiToken.revoked_at).is_(None)
    )
    return session.exec(statement.order_by(col(ApiToken.id))).all()


def get_token(session: Session, actor: Actor, token_id: int) -> ApiToken:
    """The token of a path, locked. Raises NotFound, for another team's or a revoked one alike."""
    statement = select(ApiToken).where(
        col(ApiToken.id) == token_id,
        col(ApiToken.team_id) == actor.team_id,
        col(ApiToken.revoked_at).is_(None),
    )
    token = session.exec(statement.with_for_update()).first()
    if token is None:
        raise NotFound
    return token


def create_token(session: Session, actor: Actor, data: TokenInput) -> str:
    """A new token of the team; what is returned is stored nowhere."""
    actor.require("owner")
    secret, now = new_bearer_token(), actor.clock()
    token = ApiToken(
        team_id=actor.team_id,
        token_sha256=digest(secret),
        name=data.name,
        role=data.role,
        created_at=now,
        expires_at=None if data.expires_days is None else now + timedelta(days=data.expires_days),
    )
    session.add(token)
    session.flush()
    details = {"name": token.name, "role": token.role, "expires_days": data.expires_days}
    record_event(session, actor, "created", "token", token.id or 0, **details)
    return secret


def revoke_token(session: Session, actor: Actor, token: ApiToken) -> None:
    """From now on the token opens nothing."""
    actor.require("owner")
    token.revoked_at = actor.clock()
    session.add(token)
    record_event(session, actor, "revoked", "token", token.id or 0, name=token.name)
