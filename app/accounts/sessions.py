"""Signed-in browsers: a row for each, found by the SHA-256 of what its cookie holds."""

from datetime import datetime, timedelta

from sqlmodel import Session, col, delete, select

from app.accounts.credentials import digest, new_secret
from app.accounts.models import BrowserSession, Team, User


def start_session(session: Session, user: User, team: Team, now: datetime, days: int) -> str:
    """Signs a browser in and returns the secret for its cookie: always a new one, whatever it sent before."""
    secret = new_secret()
    session.add(
        BrowserSession(
            token_sha256=digest(secret),
            user_id=user.id or 0,
            team_id=team.id or 0,
            created_at=now,
            expires_at=now + timedelta(days=days),
        )
    )
    # The table is cleared of the dead on the way.
    session.exec(delete(BrowserSession).where(col(BrowserSession.expires_at) <= now))
    session.flush()
    return secret


def end_session(session: Session, secret: str) -> None:
    """Signs a browser out; nothing happens when it was not signed in."""
    session.exec(delete(BrowserSession).where(col(BrowserSession.token_sha256) == digest(secret)))


def switch_team(session: Session, secret: str, user_id: int, team: Team) -> None:
    """Lets a signed-in browser work in another of the user's teams."""
    statement = select(BrowserSession).where(
        col(BrowserSession.token_sha256) == digest(secret), col(BrowserSession.user_id) == user_id
    )
    signed_in = session.exec(statement).one()
    signed_in.team_id = team.id or 0
    session.add(signed_in)
