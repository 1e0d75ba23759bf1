"""Signing in with a name and a password.

An unknown name takes as long and is answered as a wrong password is. The hash is computed outside of any transaction:
it takes a quarter of a second, and SQLite has one writer.
"""

from collections.abc import Callable
from dataclasses import dataclass

import structlog
from sqlmodel import Session

from app.accounts.access import Actor
from app.accounts.attempts import Attempts
from app.accounts.audit import record_event
from app.accounts.inputs import PasswordChange
from app.accounts.models import User
from app.accounts.passwords import Passwords
from app.accounts.sessions import end_session, start_session
from app.accounts.teams import teams_of_user
from app.accounts.users import find_user, get_user, set_password
from app.db import Database
from app.errors import Forbidden, InvalidInput
from app.i18n import Message
from app.time import Clock

log = structlog.get_logger()


class WrongPassword(InvalidInput):
    """The name or the password is wrong; which of them is not told."""

    status = 401


@dataclass(frozen=True, slots=True)
class Door:
    """Everything that signing in needs; one for the application."""

    database: Database
    passwords: Passwords
    attempts: Attempts
    clock: Clock
    session_days: int

    def sign_in(self, name: str, password: str, address: str, old_secret: str | None = None) -> tuple[str, User]:
        """The secret of a new session, and its user; a session that the browser had ends.

        Raises WrongPassword, TooManyAttempts, and Forbidden for somebody whom no team holds any more.
        """
        wrong = _wrong("", Message("The name or the password is wrong."))
        known, new_hash = self._verified(lambda session: find_user(session, name), password, address, wrong)
        with self.database.write() as session:
            user = self._unchanged(session, known, wrong)
            user.password_hash = new_hash or user.password_hash
            teams = teams_of_user(session, user.id or 0)
            if not teams:
                raise Forbidden(Message("You are not a member of a team. An owner can add you to one."))
            if old_secret is not None:
                end_session(session, old_secret)
            return start_session(session, user, teams[0], self.clock(), self.session_days), user

    def change_password(self, actor: Actor, data: PasswordChange, address: str) -> str:
        """Gives a user a new password and ends all sessions of the old one; returns the secret of a new one.

        Raises WrongPassword, TooManyAttempts.
        """
        user_id = actor.user_id or 0
        wrong = _wrong("current_password", Message("This is not your password."))
        known, _ = self._verified(lambda session: get_user(session, user_id), data.current_password, address, wrong)
        password_hash = self.passwords.hash(data.new_password)
        with self.database.write() as session:
            user = self._unchanged(session, known, wrong)
            set_password(session, user, password_hash)
            record_event(session, actor, "changed", "password", user_id)
            return start_session(session, user, actor.team, self.clock(), self.session_days)

    def _verified(
        self, find: Callable[[Session], User | None], password: str, address: str, wrong: WrongPassword
    ) -> tuple[User, str | None]:
        with self.database.read() as session:
            user = find(session)
        # In the queue, so that a burst of guesses cannot pass the count all at once.
        with self.passwords.queue:
            self.attempts.require_left("password", address)
            verdict = self.passwords.verify(password, user.password_hash if user else None)
            if user is None or not verdict.is_right:
                # Without the name: people type their password there by mistake.
                log.warning("wrong name or password", address=address)
                self.attempts.count("password", address)
                raise wrong
        return user, verdict.new_hash

    def _unchanged(self, session: Session, known: User, wrong: WrongPassword) -> User:
        """The user in the writing transaction; one whose password was changed meanwhile has not proven the new one."""
        user = get_user(session, known.id or 0, lock=True)
        if user.password_hash != known.password_hash:
            raise wrong
        return user


def _wrong(field: str, message: Message) -> WrongPassword:
    return WrongPassword(*InvalidInput.at(field, message).errors)
