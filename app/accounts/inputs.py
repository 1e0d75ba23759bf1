"""What the forms of accounts and the command line hold."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, ValidationError

from app.accounts.models import Role
from app.accounts.passwords import LONGEST, SHORTEST
from app.accounts.zones import DEFAULT_ZONE, is_zone
from app.errors import InvalidInput
from app.fields import CurrencyField, Input, Name, field_errors
from app.i18n import Language, Message

LONGEST_EXPIRY_DAYS = 3650


def _composed(name: str) -> str:
    return normalize("NFC", name)


# One name however the keyboard composed it.
PersonName = Annotated[Name, AfterValidator(_composed)]
Password = Annotated[str, StringConstraints(strip_whitespace=True, min_length=SHORTEST, max_length=LONGEST)]
# One that is only compared with what is stored.
GivenPassword = Annotated[str, StringConstraints(max_length=LONGEST)]
ExpiryDays = Annotated[int, Field(ge=1, le=LONGEST_EXPIRY_DAYS)]


class TeamInput(Input):
    """A team and what it starts with; services check the zone."""

    name: PersonName
    currency: CurrencyField = "CNY"
    time_zone: Name = DEFAULT_ZONE
    language: Language = "zh-CN"


class SetupInput(Input):
    """The first user and the first team."""

    name: PersonName
    password: Password
    team_name: PersonName
    currency: CurrencyField
    time_zone: Name
    language: Language

    @property
    def team(self) -> TeamInput:
        """The team's part."""
        return TeamInput(
            name=self.team_name, currency=self.currency, time_zone=self.time_zone, language=self.language
        )


class MemberInput(Input):
    """A new member with a password to begin with."""

    name: PersonName
    password: Password
    role: Role


class ResetInput(Input):
    """A user and the password that they get."""

    name: PersonName
    password: Password


class RoleInput(Input):
    """What a member may do from now on."""

    role: Role


class TokenInput(Input):
    """A new bearer token."""

    name: Name
    role: Role
    expires_days: ExpiryDays | None = None


class SignInInput(Input):
    """Who wants to sign in."""

    name: PersonName
    password: GivenPassword


class PasswordChange(Input):
    """A user's own new password, and the old one as proof."""

    current_password: GivenPassword
    new_password: Password


M = TypeVar("M", bound=BaseModel)


def read_input(model: type[M], values: Mapping[str, Any]) -> M:
    """The model of values that no form sent. Raises InvalidInput."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InvalidInput(*field_errors(error.errors())) from error


def check_zone(name: str) -> None:
    """Raises InvalidInput for a time zone that does not exist."""
    if not is_zone(name):
        raise InvalidInput.at("time_zone", Message("There is no such time zone; write it like Asia/Shanghai."))
