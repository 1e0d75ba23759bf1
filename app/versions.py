"""Concurrent edits: every single resource has a version; a change says which version it was made from."""

from dataclasses import dataclass

from app.errors import PreconditionFailed, PreconditionRequired


def etag(version: int) -> str:
    """The strong entity tag of a version (RFC 9110, 8.8.3)."""
    return f'"{version}"'


@dataclass(frozen=True, slots=True)
class Precondition:
    """The caller's ``If-Match``; pages send the version that the form was filled from."""

    if_match: str | None

    @classmethod
    def from_form(cls, version: str) -> "Precondition":
        """From the hidden ``version`` field of a page's form."""
        return cls(f'"{version}"')

    def check(self, version: int) -> None:
        """Raises PreconditionRequired without If-Match and PreconditionFailed when it names another version."""
        if self.if_match is None:
            raise PreconditionRequired
        tags = [tag.strip() for tag in self.if_match.split(",")]
        if "*" not in tags and etag(version) not in tags:
            raise PreconditionFailed
