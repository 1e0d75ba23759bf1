"""Which exchange rate brings a record into its project's currency; it stays with the record."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sqlmodel import Session

from app.catalog.rates import ENTERED_BY_TEAM, convert_rate
from app.errors import InvalidInput
from app.i18n import Message
from app.projects.models import Project
from app.tracking.inputs import ExchangeRateInput


@dataclass(frozen=True, slots=True)
class Conversion:
    """A rate with its day and source; all None where the currency is the project's."""

    rate: Decimal | None = None
    day: date | None = None
    source: str | None = None


def conversion_for(
    session: Session, project: Project, currency: str, given: ExchangeRateInput | None, on_day: date
) -> Conversion:
    """The rate given, else the team's or the reference rate of the day. Raises InvalidInput naming exchange_rate."""
    if currency == project.currency:
        if given is not None:
            raise InvalidInput.at(
                "exchange_rate", Message("The amount is in the project's currency already.")
            )
        return Conversion()
    if given is not None:
        if given.rate <= 0:
            raise InvalidInput.at("exchange_rate.rate", Message("A rate is greater than zero."))
        return Conversion(given.rate, given.date, ENTERED_BY_TEAM)
    found = convert_rate(session, project.team_id, currency, project.currency, on_day)
    return Conversion(found.rate, found.day, found.source)
