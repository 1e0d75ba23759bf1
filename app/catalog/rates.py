"""A team's dated exchange rates, and the one rule by which an amount finds its rate."""

from datetime import date
from decimal import Decimal

from sqlmodel import Session, col, or_, select
from sqlmodel.sql.expression import SelectOfScalar

from app.accounts.access import Actor
from app.accounts.audit import record_event
from app.accounts.models import Team
from app.api.pagination import Page, PageRequest, page_of_query
from app.catalog.inputs import RateInput
from app.catalog.models import Rate
from app.catalog.reference_rates import ConversionRate, find_reference_rate, rounded_rate
from app.errors import InvalidInput
from app.i18n import Message

# Stands on a record whose rate came from the team without a source.
ENTERED_BY_TEAM = "entered by the team"
# The bundled rates are as old as the installation.
_OLDEST_COMPARING_DAYS = 1000


def _rates_of(team_id: int) -> SelectOfScalar[Rate]:
    return select(Rate).where(col(Rate.team_id) == team_id)


def list_rates_page(session: Session, team_id: int, page: PageRequest) -> Page[Rate]:
    """A page of the team's rates, by id."""
    return page_of_query(session, _rates_of(team_id), col(Rate.id), page)


def list_rates(session: Session, team_id: int) -> list[Rate]:
    """The team's rates, the latest day first."""
    order = (col(Rate.day).desc(), col(Rate.id).desc())
    return list(session.exec(_rates_of(team_id).order_by(*order)).all())


def save_rate(session: Session, actor: Actor, data: RateInput) -> tuple[Rate, bool]:
    """Stores a rate, in place of one of the same currencies and day; says whether it is new.

    Records that were converted keep the rate they were converted at. Raises InvalidInput.
    """
    actor.require("editor")
    _check(data, actor)
    # One rate a day and pair, also when two members save it at once.
    session.exec(select(Team).where(col(Team.id) == actor.team_id).with_for_update()).one()
    rate = _find_same(session, actor.team_id, data)
    is_new = rate is None
    before = None if rate is None else f"{rate.rate:f}"
    if rate is None:
        rate = Rate(
            team_id=actor.team_id,
            from_currency=data.from_currency,
            to_currency=data.to_currency,
            day=data.day,
            rate=data.rate,
            created_at=actor.clock(),
        )
        session.add(rate)
    rate.rate = data.rate
    rate.source = data.source
    session.flush()
    details = {"pair": f"{data.from_currency}/{data.to_currency}", "day": f"{data.day}", "rate": f"{data.rate:f}"}
    record_event(session, actor, "created" if is_new else "changed", "rate", rate.id or 0, before=before, **details)
    return rate, is_new


def convert_rate(
    session: Session, team_id: int, from_currency: str, to_currency: str, on_day: date
) -> ConversionRate:
    """The rate for an amount of ``on_day`` that names none: the team's latest on or before that day, else the bundled
    reference rate, at most 7 days older.

    A team's rate counts in both directions; of two of one day, the one that was entered in this direction. Raises
    InvalidInput naming ``exchange_rate`` where there is no rate.
    """
    if from_currency == to_currency:
        return ConversionRate(Decimal(1), on_day, "")
    found = _find_team_rate(session, team_id, from_currency, to_currency, on_day)
    found = found or find_reference_rate(from_currency, to_currency, on_day)
    if found is None:
        raise InvalidInput.at(
            "exchange_rate",
            Message(
                "There is no rate from %(from_currency)s to %(to_currency)s for %(day)s. Enter one.",
                from_currency=from_currency,
                to_currency=to_currency,
                day=on_day,
            ),
        )
    return found


def find_comparing_rate(
    session: Session, team_id: int, from_currency: str, to_currency: str, on_day: date
) -> ConversionRate | None:
    """For comparing prices, not for records: as ``convert_rate``, but an older reference rate is better than none."""
    try:
        return convert_rate(session, team_id, from_currency, to_currency, on_day)
    except InvalidInput:
        return find_reference_rate(from_currency, to_currency, on_day, _OLDEST_COMPARING_DAYS)


def _find_team_rate(
    session: Session, team_id: int, from_currency: str, to_currency: str, on_day: date
) -> ConversionRate | None:
    pair = (col(Rate.from_currency) == from_currency) & (col(Rate.to_currency) == to_currency)
    inverse = (col(Rate.from_currency) == to_currency) & (col(Rate.to_currency) == from_currency)
    statement = _rates_of(team_id).where(or_(pair, inverse), col(Rate.day) <= on_day)
    rates = session.exec(statement.order_by(col(Rate.day).desc()).limit(2)).all()
    if not rates:
        return None
    latest = max(rates, key=lambda rate: (rate.day, rate.from_currency == from_currency))
    is_inverse = latest.from_currency != from_currency
    rate = rounded_rate(1 / latest.rate) if is_inverse else latest.rate
    return ConversionRate(rate, latest.day, latest.source or ENTERED_BY_TEAM)


def _find_same(session: Session, team_id: int, data: RateInput) -> Rate | None:
    statement = _rates_of(team_id).where(
        col(Rate.from_currency) == data.from_currency,
        col(Rate.to_currency) == data.to_currency,
        col(Rate.day) == data.day,
    )
    return session.exec(statement).first()


def _check(data: RateInput, actor: Actor) -> None:
    if data.from_currency == data.to_currency:
        raise InvalidInput.at("to", Message("Choose two different currencies."))
    if data.rate == 0:
        raise InvalidInput.at("rate", Message("A rate must be greater than zero."))
    if (data.day - actor.today).days > 1:
        raise InvalidInput.at("date", Message("This day lies ahead."))
