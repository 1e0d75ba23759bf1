"""What a service raises when it cannot do what was asked; the API and the pages each tell it in their own form."""

from dataclasses import dataclass

from app.i18n import Message


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with the input: the dotted name of the field as the API calls it, and why."""

    field: str
    message: Message


class TuneledgerError(Exception):
    """Base of the errors below; ``status`` is the HTTP status that both API and pages answer with."""

    status = 500
    type = "about:blank"

    def __init__(self, message: Message) -> None:
        super().__init__(message.text)
        self.message = message


class InvalidInput(TuneledgerError):
    """Bad input: names every field that is wrong; nothing was stored."""

    status = 422
    type = "invalid-input"

    def __init__(self, *errors: FieldError) -> None:
        super().__init__(Message("The input is not valid."))
        self.errors = errors

    @classmethod
    def at(cls, field: str, message: Message) -> "InvalidInput":
        """A single wrong field."""
        return cls(FieldError(field, message))


class Unauthenticated(TuneledgerError):
    """Nobody is signed in, or the token is wrong."""

    status = 401
    type = "unauthenticated"

    def __init__(self) -> None:
        super().__init__(Message("Sign in or send a valid bearer token."))


class NotFound(TuneledgerError):
    """No such thing, or another team's: the two are told alike."""

    status = 404
    type = "not-found"

    def __init__(self) -> None:
        super().__init__(Message("There is nothing here."))


class Forbidden(TuneledgerError):
    """The member's role may not do this."""

    status = 403
    type = "forbidden"

    def __init__(self, message: Message | None = None) -> None:
        super().__init__(message or Message("Your role does not allow this."))


class Conflict(TuneledgerError):
    """The state of things does not allow it now."""

    status = 409
    type = "conflict"

    def __init__(self, message: Message, type: str = "conflict") -> None:
        super().__init__(message)
        self.type = type


class PreconditionRequired(TuneledgerError):
    """A change without ``If-Match``."""

    status = 428
    type = "precondition-required"

    def __init__(self) -> None:
        super().__init__(Message("Send If-Match with the ETag of the version that you change."))


class PreconditionFailed(TuneledgerError):
    """Somebody else changed it in the meantime."""

    status = 412
    type = "precondition-failed"

    def __init__(self) -> None:
        super().__init__(
            Message("Somebody changed this in the meantime. Load it again and repeat your change.")
        )
