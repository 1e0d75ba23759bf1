"""Tables of teams, members, sessions, tokens and the audit trail."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import JSON, Column, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from app.db import UtcInstant

Role = Literal["owner", "editor", "viewer"]


class Team(SQLModel, table=True):
    """The tenant: everything else belongs to one team."""

    __tablename__ = "team"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    currency: str
    time_zone: str
    language: str
    created_at: datetime = Field(sa_type=UtcInstant)
    version: int = 1


class User(SQLModel, table=True):
    """A person who signs in with a name and a password."""

    __tablename__ = "user"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    password_hash: str
    language: str | None = None
    created_at: datetime = Field(sa_type=UtcInstant)
    version: int = 1


class Membership(SQLModel, table=True):
    """A user's role in a team."""

    __tablename__ = "membership"
    __table_args__ = (UniqueConstraint("team_id", "user_id"),)

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id", index=True)
    user_id: int = Field(foreign_key="user.id", index=True)
    role: str
    created_at: datetime = Field(sa_type=UtcInstant)


class SetupLink(SQLModel, table=True):
    """The one-time link of the first start; only the newest one works."""

    __tablename__ = "setup_link"

    id: int | None = Field(default=None, primary_key=True)
    token_sha256: str = Field(unique=True)
    created_at: datetime = Field(sa_type=UtcInstant)


class BrowserSession(SQLModel, table=True):
    """A signed-in browser: the cookie holds a random id, the table its SHA-256."""

    __tablename__ = "browser_session"

    id: int | None = Field(default=None, primary_key=True)
    token_sha256: str = Field(unique=True)
    user_id: int = Field(foreign_key="user.id", index=True)
    team_id: int = Field(foreign_key="team.id", index=True)
    created_at: datetime = Field(sa_type=UtcInstant)
    expires_at: datetime = Field(sa_type=UtcInstant)


class ApiToken(SQLModel, table=True):
    """A bearer token: one team, one role."""

    __tablename__ = "api_token"

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id", index=True)
    token_sha256: str = Field(unique=True)
    name: str
    role: str
    created_at: datetime = Field(sa_type=UtcInstant)
    expires_at: datetime | None = Field(default=None, sa_type=UtcInstant)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcInstant)


class AuditEvent(SQLModel, table=True):
    """Who changed what and when; never changed or deleted."""

    __tablename__ = "audit_event"
    __table_args__ = (Index("ix_audit_event_subject", "team_id", "subject_type", "subject_id"),)

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    at: datetime = Field(sa_type=UtcInstant)
    actor_name: str
    user_id: int | None = Field(default=None, foreign_key="user.id")
    token_id: int | None = Field(default=None, foreign_key="api_token.id")
    action: str
    subject_type: str
    subject_id: int
    details: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
