"""``token create``, ``user add`` and ``user reset-password`` on a database that they make themselves."""

import pytest
from sqlmodel import col, select

from app.accounts.authentication import find_token_actor
from app.accounts.models import AuditEvent, BrowserSession, Team, User
from app.accounts.passwords import Passwords
from app.accounts.service import list_members
from app.accounts.sessions import start_session
from app.db import Database
from tests.cli.conftest import Command
from tests.fixtures.clock import MovableClock

passwords = Passwords("argon2-cheap")


def teams(database: Database) -> list[tuple[str, str, str, str]]:
    with database.read() as session:
        rows = session.exec(select(Team).order_by(col(Team.id))).all()
    return [(team.name, team.currency, team.time_zone, team.language) for team in rows]


def user_of(database: Database, name: str) -> User:
    with database.read() as session:
        return session.exec(select(User).where(col(User.name) == name)).one()


def test_a_token_makes_its_team(command: Command, database_of: Database, clock: MovableClock) -> None:
    token = command("token", "create", "--team", "四人小组", "--role", "editor").answer
    assert teams(database_of) == [("四人小组", "CNY", "Asia/Shanghai", "zh-CN")]
    with database_of.read() as session:
        actor = find_token_actor(session, token, clock)
    assert actor is not None
    assert (actor.team.name, actor.role) == ("四人小组", "editor")


def test_the_team_as_the_options_say(command: Command, database_of: Database) -> None:
    options = ["--currency", "USD", "--time-zone", "Europe/Berlin", "--language", "en"]
    assert command("token", "create", "--team", "Lab", "--role", "owner", *options).status == 0
    assert teams(database_of) == [("Lab", "USD", "Europe/Berlin", "en")]


def test_a_team_that_is_there_keeps_its_settings(command: Command, database_of: Database) -> None:
    command("token", "create", "--team", "Lab", "--role", "owner")
    again = command("token", "create", "--team", "Lab", "--role", "viewer", "--currency", "USD")
    assert again.answer.startswith("tl_")
    assert "keeps its setting" in again.err
    assert teams(database_of) == [("Lab", "CNY", "Asia/Shanghai", "zh-CN")]


def test_a_token_can_expire(command: Command, database_of: Database, clock: MovableClock) -> None:
    token = command("token", "create", "--team", "Lab", "--role", "viewer", "--expires-days", "1").answer
    with database_of.read() as session:
        clock.advance(hours=23)
        assert find_token_actor(session, token, clock) is not None
        clock.advance(hours=2)
        assert find_token_actor(session, token, clock) is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--team", "Lab"], "--role"),
        (["--role", "owner"], "--team"),
        (["--team", "Lab", "--role", "king"], "king"),
        (["--team", " ", "--role", "owner"], "name: This must have at least 1 characters."),
        (["--team", "Lab", "--role", "owner", "--expires-days", "0"], "expires_days: This must be at least 1."),
        (["--team", "Lab", "--role", "owner", "--currency", "XXL"], "currency: "),
        (["--team", "Lab", "--role", "owner", "--time-zone", "Mars"], "time_zone: There is no such time zone"),
        (["--team", "Lab", "--role", "owner", "--language", "fr"], "fr"),
    ],
)
def test_bad_use_is_told_in_one_line_and_stores_nothing(
    command: Command, database_of: Database, arguments: list[str], words: str
) -> None:
    refused = command("token", "create", *arguments)
    assert refused.status == 2
    assert words in refused.complaint
    command("migrate")
    assert teams(database_of) == []


def test_a_user_with_a_made_password(command: Command, database_of: Database) -> None:
    command("token", "create", "--team", "Lab", "--role", "owner")
    password = command("user", "add", "Li Wei", "--role", "owner").answer
    assert passwords.verify(password, user_of(database_of, "Li Wei").password_hash).is_right
    with database_of.read() as session:
        team = session.exec(select(Team)).one()
        assert [(one.name, one.role) for one in list_members(session, team.id or 0)] == [("Li Wei", "owner")]


def test_a_user_with_a_password_of_their_own(command: Command, database_of: Database) -> None:
    command("token", "create", "--team", "Lab", "--role", "owner")
    added = command(
        "user", "add", "Li Wei", "--team", "Lab", "--role", "editor", "--password-stdin", stdin="correct horse\n"
    )
    assert (added.status, added.out) == (0, "")
    assert passwords.verify("correct horse", user_of(database_of, "Li Wei").password_hash).is_right


def test_a_user_of_two_teams_keeps_the_password(command: Command, database_of: Database) -> None:
    for team in ("Lab", "Chair"):
        command("token", "create", "--team", team, "--role", "owner")
    first = command("user", "add", "Li Wei", "--team", "Lab", "--role", "owner").answer
    second = command("user", "add", "Li Wei", "--team", "Chair", "--role", "viewer")
    assert (second.status, second.out) == (0, "")
    assert passwords.verify(first, user_of(database_of, "Li Wei").password_hash).is_right
    with database_of.read() as session:
        for stored in session.exec(select(Team)).all():
            assert [one.name for one in list_members(session, stored.id or 0)] == ["Li Wei"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (["Chen", "--team", "Nowhere", "--role", "editor"], "", "There is no team Nowhere."),
        (["Li Wei", "--team", "Lab", "--role", "editor"], "", "member of the team already"),
        (["Li Wei", "--team", "Lab", "--role", "editor", "--password-stdin"], "long enough\n", "has a password"),
        (["Chen", "--team", "Lab", "--role", "editor", "--password-stdin"], "short\n", "password: "),
        (["Chen", "--team", "Lab", "--role", "editor", "--password-stdin"], "", "password: "),
        (["Chen"], "", "--role"),
    ],
)
def test_a_user_who_cannot_be_added(
    command: Command, database_of: Database, arguments: list[str], stdin: str, words: str
) -> None:
    command("token", "create", "--team", "Lab", "--role", "owner")
    command("user", "add", "Li Wei", "--role", "owner")
    before = user_of(database_of, "Li Wei").password_hash
    refused = command("user", "add", *arguments, stdin=stdin)
    assert refused.status == 2
    assert words in refused.complaint
    assert user_of(database_of, "Li Wei").password_hash == before
    with database_of.read() as session:
        assert session.exec(select(User.name)).all() == ["Li Wei"]


def test_with_several_teams_one_must_be_named(command: Command) -> None:
    assert "there are 0" in command("user", "add", "Li Wei", "--role", "owner").complaint
    for team in ("Lab", "Chair"):
        command("token", "create", "--team", team, "--role", "owner")
    assert "there are 2" in command("user", "add", "Li Wei", "--role", "owner").complaint


def test_a_new_password_ends_every_session(
    command: Command, database_of: Database, clock: MovableClock
) -> None:
    command("token", "create", "--team", "Lab", "--role", "owner")
    old = command("user", "add", "Li Wei", "--role", "owner").answer
    with database_of.write() as session:
        team = session.exec(select(Team)).one()
        start_session(session, user_of(database_of, "Li Wei"), team, clock(), 30)
    new = command("user", "reset-password", "Li Wei").answer
    stored = user_of(database_of, "Li Wei").password_hash
    assert passwords.verify(new, stored).is_right
    assert not passwords.verify(old, stored).is_right
    with database_of.read() as session:
        assert session.exec(select(BrowserSession)).all() == []
        events = session.exec(select(AuditEvent.actor_name, AuditEvent.action, AuditEvent.subject_type)).all()
    assert ("command line", "reset", "password") in events


def test_nobody_s_password_cannot_be_reset(command: Command) -> None:
    refused = command("user", "reset-password", "Nobody")
    assert refused.status == 2
    assert refused.complaint == "Error: name: There is no user Nobody."
