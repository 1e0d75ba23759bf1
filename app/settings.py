"""Every setting, read from ``TUNELEDGER_*`` variables; the command line's options override them."""

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PROJECT_ROOT = Path(__file__).parent.parent


class Settings(BaseSettings):
    """See docs/operations.md, which a test keeps complete."""

    model_config = SettingsConfigDict(env_prefix="TUNELEDGER_", extra="ignore", frozen=True)

    database_url: str = Field(
        default="", description="SQLAlchemy URL; empty: a SQLite file in the data folder."
    )
    data_folder: Path = Field(default=Path("data"), description="Where the SQLite file lives.")
    host: str = Field(default="127.0.0.1", description="The address that is listened on.")
    port: int = Field(default=8000, ge=0, le=65535, description="The port that is listened on.")
    base_url: str = Field(
        default="", description="The address people open, where it is not http://HOST:PORT."
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="How log lines are written to stderr."
    )
    session_days: int = Field(default=30, ge=1, description="How long a browser stays signed in.")
    lost_contact_minutes: int = Field(
        default=30, ge=1, description="Silence after which a run has lost contact."
    )
    max_body_bytes: int = Field(default=1_000_000, ge=1_000, description="The largest request body.")
    max_upload_bytes: int = Field(
        default=100_000_000, ge=1_000, description="The largest upload of a data set or a price list."
    )
    password_hash: Literal["argon2", "argon2-cheap"] = Field(
        default="argon2", description="argon2-cheap is for tests only."
    )
    sign_in_attempts_per_minute: int = Field(
        default=10, ge=1, description="Wrong passwords or tokens an address may try in a minute."
    )

    @field_validator("database_url")
    @classmethod
    def _driver(cls, url: str) -> str:
        # Both spellings are what people paste from their provider; psycopg 3 is the driver installed.
        for prefix in ("postgres://", "postgresql://"):
            if url.startswith(prefix):
                return "postgresql+psycopg://" + url.removeprefix(prefix)
        if url and not url.startswith(("sqlite:///", "postgresql+psycopg://")):
            raise ValueError("database_url must begin with sqlite:/// or postgresql+psycopg://")
        return url

    @property
    def resolved_database_url(self) -> str:
        """The URL, or the SQLite file in the data folder."""
        return self.database_url or f"sqlite:///{(self.data_folder / 'tuneledger.db').resolve()}"

    @property
    def public_url(self) -> str:
        """The address people open, without a slash at its end."""
        return self.base_url.rstrip("/") or f"http://{self._openable_host}:{self.port}"

    @property
    def _openable_host(self) -> str:
        # A browser cannot open "every address of this machine".
        if self.host in ("0.0.0.0", "::", ""):  # noqa: S104
            return "127.0.0.1"
        return f"[{self.host}]" if ":" in self.host else self.host
