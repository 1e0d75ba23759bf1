"""What a team is called and works with."""

import pytest
from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.accounts.inputs import TeamInput
from app.accounts.models import AuditEvent, Team
from app.accounts.teams import change_team, create_team, find_team, lock_team
from app.errors import Forbidden, InvalidInput, PreconditionFailed
from app.versions import Precondition
from tests.fixtures.clock import START

NEW = TeamInput(name="Three students", currency="USD", time_zone="Europe/Berlin", language="en")
FIRST_VERSION = Precondition('"1"')


def test_an_owner_changes_the_team(session: Session, owner: Actor) -> None:
    change_team(session, owner, NEW, FIRST_VERSION)
    team = lock_team(session, owner.team_id)
    assert (team.name, team.currency, team.time_zone, team.version) == ("Three students", "USD", "Europe/Berlin", 2)
    event = session.exec(select(AuditEvent).where(col(AuditEvent.subject_type) == "team")).one()
    assert event.details["before"] == {
        "name": "Four students",
        "currency": "CNY",
        "time_zone": "Asia/Shanghai",
    }


def test_nothing_changed_leaves_no_trace(session: Session, owner: Actor) -> None:
    same = TeamInput(name="Four students", currency="CNY", time_zone="Asia/Shanghai", language="en")
    assert change_team(session, owner, same, FIRST_VERSION).version == 1
    assert session.exec(select(AuditEvent)).all() == []


def test_an_editor_does_not(session: Session, editor: Actor) -> None:
    with pytest.raises(Forbidden):
        change_team(session, editor, NEW, FIRST_VERSION)


def test_somebody_else_s_change_is_not_overwritten(session: Session, owner: Actor) -> None:
    change_team(session, owner, NEW, FIRST_VERSION)
    with pytest.raises(PreconditionFailed):
        change_team(session, owner, NEW.model_copy(update={"currency": "EUR"}), FIRST_VERSION)


def test_a_name_is_one_team_s_and_the_transaction_goes_on(
    session: Session, owner: Actor, other_team: Team
) -> None:
    taken = NEW.model_copy(update={"name": other_team.name})
    with pytest.raises(InvalidInput) as refused:
        change_team(session, owner, taken, FIRST_VERSION)
    assert [error.field for error in refused.value.errors] == ["name"]
    with pytest.raises(InvalidInput):
        create_team(session, taken, START)
    assert find_team(session, "Four students") is not None
    assert lock_team(session, owner.team_id).currency == "CNY"


def test_an_unknown_zone_is_refused(session: Session, owner: Actor) -> None:
    nowhere = NEW.model_copy(update={"time_zone": "Asia/Nowhere"})
    with pytest.raises(InvalidInput) as refused:
        change_team(session, owner, nowhere, FIRST_VERSION)
    assert [error.field for error in refused.value.errors] == ["time_zone"]
