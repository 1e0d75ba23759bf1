"""Idempotency-Key: a POST repeated with the same key and body gets the first answer again (API.md, "Retries").

The answer is stored in the transaction that did the work, so that either both are kept or neither is.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from fastapi import Request, Response
from sqlalchemy import UniqueConstraint
from sqlalchemy.exc import IntegrityError
from sqlmodel import Field, Session, SQLModel, col, select

from app.db import UtcInstant
from app.errors import Conflict, InvalidInput
from app.i18n import Message

LONGEST_KEY = 255
_KEPT_HEADERS = ("location", "etag", "content-type")


class IdempotencyRecord(SQLModel, table=True):
    """The first answer to a key."""

    __tablename__ = "idempotency_record"
    __table_args__ = (UniqueConstraint("principal", "key"),)

    id: int | None = Field(default=None, primary_key=True)
    # Who sent it: a token or a user in a team. Two people's equal keys have nothing to do with each other.
    principal: str
    key: str
    fingerprint: str
    status: int
    headers: str
    body: str
    created_at: datetime = Field(sa_type=UtcInstant)


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """One POST with a key."""

    principal: str
    key: str
    fingerprint: str

    def find_same_answer(self, session: Session) -> Response | None:
        """The first answer to the same request; None when there is none, or the key was used for another request."""
        record = self._find_record(session)
        if record is None or record.fingerprint != self.fingerprint:
            return None
        headers = dict(line.split(": ", 1) for line in record.headers.splitlines())
        return Response(record.body.encode(), record.status, headers)

    def check_unused(self, session: Session) -> None:
        """Raises Conflict when the key was used for another request, AnsweredMeanwhile when for the same one."""
        record = self._find_record(session)
        if record is None:
            return
        if record.fingerprint == self.fingerprint:
            raise AnsweredMeanwhile(self)
        raise Conflict(
            Message("This Idempotency-Key was used for another request."), "idempotency-key-reused"
        )

    def _find_record(self, session: Session) -> IdempotencyRecord | None:
        statement = select(IdempotencyRecord).where(
            col(IdempotencyRecord.principal) == self.principal, col(IdempotencyRecord.key) == self.key
        )
        return session.exec(statement).first()

    def keep_answer(self, session: Session, response: Response, now: datetime) -> None:
        """Adds the answer to the transaction; raises AnsweredMeanwhile when a twin of the request was faster."""
        headers = "\n".join(
            f"{name}: {response.headers[name]}" for name in _KEPT_HEADERS if name in response.headers
        )
        session.add(
            IdempotencyRecord(
                principal=self.principal,
                key=self.key,
                fingerprint=self.fingerprint,
                status=response.status_code,
                headers=headers,
                body=bytes(response.body).decode(),
                created_at=now,
            )
        )
        try:
            session.flush()
        except IntegrityError as error:
            raise AnsweredMeanwhile(self) from error


class AnsweredMeanwhile(Exception):
    """The same key was stored by a twin of this request while it ran; the work is rolled back."""

    def __init__(self, repeated: IdempotentRequest) -> None:
        super().__init__(repeated.key)
        self.repeated = repeated


async def read_idempotent_request(request: Request, principal: str) -> IdempotentRequest | None:
    """The request's key and fingerprint; None without a key. Raises InvalidInput for one too long or empty."""
    key = request.headers.get("idempotency-key")
    if key is None or request.method != "POST":
        return None
    if not 0 < len(key) <= LONGEST_KEY:
        raise InvalidInput.at(
            "Idempotency-Key", Message("A key has 1 to %(longest)s characters.", longest=LONGEST_KEY)
        )
    digest = hashlib.sha256()
    for part in (request.url.path.encode(), request.url.query.encode(), await request.body()):
        digest.update(hashlib.sha256(part).digest())
    return IdempotentRequest(principal, key, digest.hexdigest())
