"""Which team a command is about."""

from sqlmodel import Session

from app.accounts.audit import record_event
from app.accounts.inputs import TeamInput
from app.accounts.models import Team
from app.accounts.teams import create_team, find_team, list_teams
from app.commands.surroundings import Surroundings
from app.errors import InvalidInput
from app.i18n import Message


def get_named_or_only_team(session: Session, name: str | None) -> Team:
    """The team of that name; without a name the only one there is. Raises InvalidInput."""
    teams = list_teams(session)
    if name is not None:
        team = next((team for team in teams if team.name == name), None)
        if team is None:
            raise InvalidInput.at("team", Message("There is no team %(name)s.", name=name))
        return team
    if len(teams) != 1:
        raise InvalidInput.at("team", Message("Say which team; there are %(count)s.", count=len(teams)))
    return teams[0]


def get_or_create_team(session: Session, around: Surroundings, data: TeamInput) -> Team:
    """The team of that name, which is made when it is missing. Raises InvalidInput."""
    team = find_team(session, data.name)
    if team is not None:
        return team
    try:
        team = create_team(session, data, around.clock())
    except InvalidInput:
        # Another process may have made it meanwhile.
        team = find_team(session, data.name)
        if team is None:
            raise
        return team
    record_event(session, around.actor(team), "created", "team", team.id or 0, **data.model_dump())
    return team
