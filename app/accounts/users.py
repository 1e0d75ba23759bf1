"""Users: people who sign in. They stand above the teams; a membership makes them part of one."""

from datetime import datetime

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, delete, select

from app.accounts.models import BrowserSession, Membership, SetupLink, User
from app.errors import InvalidInput, NotFound
from app.i18n import Message


def find_user(session: Session, name: str) -> User | None:
    """The user of a name."""
    return session.exec(select(User).where(col(User.name) == name)).first()


def get_user(session: Session, user_id: int, *, lock: bool = False) -> User:
    """Raises NotFound. Locked, the password stays what it is until the transaction ends."""
    user = session.get(User, user_id, with_for_update=lock)
    if user is None:
        raise NotFound
    return user


def any_user_exists(session: Session) -> bool:
    """Whether set-up was done, by its page or by the command line."""
    return session.exec(select(col(User.id)).limit(1)).first() is not None


def create_user(session: Session, name: str, password_hash: str, now: datetime) -> User:
    """A new user; set-up links stop working. Raises InvalidInput for a name that is taken."""
    user = User(name=name, password_hash=password_hash, created_at=now)
    try:
        # A savepoint, so that the transaction outlives a name that was taken meanwhile.
        with session.begin_nested():
            session.add(user)
    except IntegrityError as error:
        raise name_taken() from error
    session.exec(delete(SetupLink))
    return user


def name_taken() -> InvalidInput:
    """The error of a user's name that somebody else has."""
    return InvalidInput.at("name", Message("Somebody else has this name. Choose another."))


def set_password(session: Session, user: User, password_hash: str) -> None:
    """A new password: everybody who is signed in as this user is signed out."""
    user.password_hash = password_hash
    user.version += 1
    session.add(user)
    # First the row, which a sign-in holds locked while it goes on; then the sessions, that one's included.
    session.flush()
    session.exec(delete(BrowserSession).where(col(BrowserSession.user_id) == user.id))


def is_member_anywhere(session: Session, user_id: int) -> bool:
    """Whether the user still belongs to a team."""
    statement = select(col(Membership.id)).where(col(Membership.user_id) == user_id).limit(1)
    return session.exec(statement).first() is not None
