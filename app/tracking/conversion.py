"""Which exchange rate brings a record into its project's currency; it stays with the record."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sqlmodel import Session

from app.accounts.access import Actor
from app.catalog.rates import convert_rate
from app.errors import InvalidInput
from app.i18n import Message
from app.projects.models import Project
from app.tracking.inputs import ExchangeRateInput

# The source of a rate that came with its record.
GIVEN = "given with the record"
_DAYS_AHEAD = 1


@dataclass(frozen=True, slots=True)
class Conversion:
    """A rate with its day and source; all None where the currency is the project's."""

    rate: Decimal | None = None
    day: date | None = None
    source: str | None = None

    @property
    def columns(self) -> dict[str, Decimal | date | str | None]:
        """As runs and charges store it."""
        return {
            "exchange_rate": self.rate,
            "exchange_rate_day": self.day,
            "exchange_rate_source": self.source,
        }


@dataclass(frozen=True, slots=True)
class KeptConversion:
    """The rate that a record has, and what it was found for."""

    conversion: Conversion
    currency: str
    on_day: date

    def fits(self, currency: str, on_day: date) -> bool:
        """Whether it holds for the record as it will be: a rate found for a day does not move to another."""
        is_for_day = self.on_day == on_day or self.conversion.source == GIVEN
        return self.conversion.rate is not None and self.currency == currency and is_for_day


def conversion_for(
    session: Session,
    actor: Actor,
    project: Project,
    currency: str,
    on_day: date,
    given: ExchangeRateInput | None = None,
    kept: KeptConversion | None = None,
) -> Conversion:
    """The rate given, else the one that the record has, else the team's or the reference rate of the day.

    Raises InvalidInput naming ``exchange_rate`` where there is none, or none is needed.
    """
    if given is not None:
        return _given(actor, project, currency, given)
    if currency == project.currency:
        return Conversion()
    if kept is not None and kept.fits(currency, on_day):
        return kept.conversion
    found = convert_rate(session, project.team_id, currency, project.currency, on_day)
    return Conversion(found.rate, found.day, found.source)


def _given(actor: Actor, project: Project, currency: str, given: ExchangeRateInput) -> Conversion:
    if currency == project.currency:
        raise InvalidInput.at("exchange_rate", Message("The amount is in the project's currency already."))
    if given.rate == 0:
        raise InvalidInput.at("exchange_rate.rate", Message("A rate must be greater than zero."))
    if (given.date - actor.today).days > _DAYS_AHEAD:
        raise InvalidInput.at("exchange_rate.date", Message("This day lies ahead."))
    return Conversion(given.rate, given.date, GIVEN)
