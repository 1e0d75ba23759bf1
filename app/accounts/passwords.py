"""Passwords: stored as Argon2id hashes, computed one at a time."""

from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import Literal
from unicodedata import normalize

from pwdlib import PasswordHash
from pwdlib.exceptions import UnknownHashError
from pwdlib.hashers.argon2 import Argon2Hasher

from app.accounts.credentials import new_secret

SHORTEST = 8
LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a password was right; with a new hash to store where the old one was made in a weaker way."""

    is_right: bool
    new_hash: str | None = None


class Passwords:
    """Hashes and verifies. A hash takes a core for a quarter of a second and 64 MiB, so they queue up."""

    def __init__(self, kind: Literal["argon2", "argon2-cheap"]) -> None:
        hasher = Argon2Hasher() if kind == "argon2" else Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1)
        self._hasher = PasswordHash((hasher,))
        # Held by a sign-in from the look at its attempts left to the count of this one.
        self.queue = RLock()

    @cached_property
    def _decoy(self) -> str:
        return self._hasher.hash(new_secret())

    def hash(self, password: str) -> str:
        """What is stored of a password."""
        with self.queue:
            return self._hasher.hash(_normal(password))

    def verify(self, password: str, stored: str | None) -> Verdict:
        """Compares with a stored hash; without one it takes as long and is wrong."""
        with self.queue:
            decoy = self._decoy
            try:
                is_right, new_hash = self._hasher.verify_and_update(_normal(password), stored or decoy)
            except UnknownHashError:
                return Verdict(is_right=False)
            return Verdict(is_right and bool(stored), new_hash)


def _normal(password: str) -> bytes:
    # Keyboards differ in how they compose a letter, and a pasted password often brings spaces with it.
    return normalize("NFKC", password).strip().encode("utf-8", "surrogatepass")
