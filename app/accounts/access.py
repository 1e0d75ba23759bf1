"""Who is asking and what the role allows: the parameter types of every route.

An owner does everything; an editor all but members, tokens and budgets; a viewer reads, estimates and searches.
"""

from dataclasses import dataclass
from datetime import date
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import Depends, Path, Request

from app.accounts.models import Role, Team
from app.errors import Forbidden, Unauthenticated
from app.fields import LARGEST_ID
from app.i18n import Language
from app.time import Clock, local_day

_RANK: dict[str, int] = {"viewer": 0, "editor": 1, "owner": 2}

# A malformed id in a path is 404, like one that does not exist.
PathId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


@dataclass(frozen=True, slots=True)
class Actor:
    """A member of a team, or a token of it, for one request; services ask it for the team, the role and the time."""

    team: Team
    role: Role
    name: str
    clock: Clock
    user_id: int | None = None
    token_id: int | None = None

    @property
    def team_id(self) -> int:
        """The team that everything the actor sees belongs to."""
        if self.team.id is None:
            raise ValueError("the team is not stored yet")
        return self.team.id

    @property
    def user_name(self) -> str:
        """The name that pages show."""
        return self.name

    @property
    def zone(self) -> ZoneInfo:
        """The team's time zone."""
        return ZoneInfo(self.team.time_zone)

    @property
    def language(self) -> Language:
        """The team's language."""
        return "zh-CN" if self.team.language == "zh-CN" else "en"

    @property
    def today(self) -> date:
        """Today in the team's time zone."""
        return local_day(self.clock(), self.zone)

    @property
    def principal(self) -> str:
        """Who this is, in one word."""
        return f"token:{self.token_id}" if self.user_id is None else f"user:{self.user_id}:{self.team_id}"

    @property
    def can_edit(self) -> bool:
        """Whether the role may change projects, plans, runs, charges and offers."""
        return self.may("editor")

    @property
    def is_owner(self) -> bool:
        """Whether the role may change members, tokens and budgets."""
        return self.may("owner")

    def may(self, role: Role) -> bool:
        """Whether the actor's role is at least this one."""
        return _RANK[self.role] >= _RANK[role]

    def require(self, role: Role) -> None:
        """Raises Forbidden when the role is a lesser one."""
        if not self.may(role):
            raise Forbidden


def _viewer(request: Request) -> Actor:
    actor: Actor | None = getattr(request.state, "actor", None)
    if actor is None:
        raise Unauthenticated
    return actor


Viewer = Annotated[Actor, Depends(_viewer)]


def _editor(actor: Viewer) -> Actor:
    actor.require("editor")
    return actor


def _owner(actor: Viewer) -> Actor:
    actor.require("owner")
    return actor


# Where the path names a resource, its own dependency looks that up before the role is judged (404 before 403).
Editor = Annotated[Actor, Depends(_editor)]
Owner = Annotated[Actor, Depends(_owner)]
