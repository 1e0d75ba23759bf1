"""Bearer tokens belong to one team."""

import pytest
from sqlmodel import Session, select

from app.accounts.access import Actor
from app.accounts.authentication import find_token_actor
from app.accounts.inputs import TokenInput
from app.accounts.models import ApiToken
from app.accounts.tokens import create_token, get_token, list_tokens, revoke_token
from app.errors import Forbidden, NotFound
from tests.fixtures.clock import MovableClock

NIGHTLY = TokenInput(name="nightly", role="editor", expires_days=None)


def test_a_token_speaks_for_its_team_in_its_role(session: Session, owner: Actor, clock: MovableClock) -> None:
    secret = create_token(session, owner, NIGHTLY)
    actor = find_token_actor(session, secret, clock)
    assert actor is not None
    assert (actor.team_id, actor.role, actor.name, actor.user_id) == (owner.team_id, "editor", "nightly", None)


def test_the_database_does_not_hold_it(session: Session, owner: Actor) -> None:
    secret = create_token(session, owner, NIGHTLY)
    assert secret.startswith("tl_")
    assert secret not in str(session.exec(select(ApiToken)).one().model_dump())


def test_a_revoked_token_opens_nothing(session: Session, owner: Actor, clock: MovableClock) -> None:
    secret = create_token(session, owner, NIGHTLY)
    (token,) = list_tokens(session, owner)
    revoke_token(session, owner, get_token(session, owner, token.id or 0))
    assert find_token_actor(session, secret, clock) is None
    assert list(list_tokens(session, owner)) == []
    with pytest.raises(NotFound):
        get_token(session, owner, token.id or 0)


def test_it_expires(session: Session, owner: Actor, clock: MovableClock) -> None:
    secret = create_token(session, owner, NIGHTLY.model_copy(update={"expires_days": 7}))
    clock.advance(days=7, seconds=-1)
    assert find_token_actor(session, secret, clock) is not None
    clock.advance(seconds=1)
    assert find_token_actor(session, secret, clock) is None


def test_another_team_sees_none_of_it(session: Session, owner: Actor, stranger: Actor) -> None:
    create_token(session, owner, NIGHTLY)
    (token,) = list_tokens(session, owner)
    assert list(list_tokens(session, stranger)) == []
    with pytest.raises(NotFound):
        get_token(session, stranger, token.id or 0)


def test_only_an_owner_makes_and_revokes_them(session: Session, owner: Actor, editor: Actor) -> None:
    with pytest.raises(Forbidden):
        create_token(session, editor, NIGHTLY)
    create_token(session, owner, NIGHTLY)
    (token,) = list_tokens(session, owner)
    with pytest.raises(Forbidden):
        revoke_token(session, editor, token)
