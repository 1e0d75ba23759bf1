"""Random tokens and their digests: the database never holds what would let somebody in."""

import hashlib
import secrets

BEARER_PREFIX = "tl_"


def new_secret() -> str:
    """A random secret of 256 bits, URL-safe."""
    return secrets.token_urlsafe(32)


def new_bearer_token() -> str:
    """A bearer token; the prefix lets secret scanners recognise it."""
    return BEARER_PREFIX + new_secret()


def digest(secret: str) -> str:
    """What is stored of a secret. A plain SHA-256 is enough for 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_password() -> str:
    """A password to be told to somebody and changed by them: 96 bits in 16 characters."""
    return secrets.token_urlsafe(12)
