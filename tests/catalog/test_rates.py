"""Which rate an amount is converted at."""

from datetime import date
from decimal import Decimal

import pytest
from sqlmodel import Session, col, select

from app.accounts.access import Actor
from app.accounts.models import AuditEvent
from app.catalog.inputs import RateInput
from app.catalog.rates import convert_rate, list_rates, save_rate
from app.errors import Forbidden, InvalidInput


def rate_input(day: str, rate: str, pair: str = "USD/CNY", source: str = "") -> RateInput:
    first, _, second = pair.partition("/")
    return RateInput.model_validate({"from": first, "to": second, "date": day, "rate": rate, "source": source})


def converted(session: Session, actor: Actor, day: date, pair: str = "USD/CNY") -> tuple[Decimal, date, str]:
    first, _, second = pair.partition("/")
    found = convert_rate(session, actor.team_id, first, second, day)
    return found.rate, found.day, found.source


def test_the_latest_rate_on_or_before_the_day(session: Session, editor: Actor) -> None:
    for day, rate in (("2026-11-01", "7.10"), ("2026-11-10", "7.20"), ("2026-11-20", "7.30")):
        save_rate(session, editor, rate_input(day, rate, source="the bank"))
    assert converted(session, editor, date(2026, 11, 10)) == (Decimal("7.20"), date(2026, 11, 10), "the bank")
    assert converted(session, editor, date(2026, 11, 19))[0] == Decimal("7.20")


def test_a_team_s_rate_does_not_grow_too_old(session: Session, editor: Actor) -> None:
    save_rate(session, editor, rate_input("2025-01-01", "7.10"))
    assert converted(session, editor, date(2026, 11, 30)) == (
        Decimal("7.10"),
        date(2025, 1, 1),
        "entered by the team",
    )


def test_the_other_direction_is_the_inverse(session: Session, editor: Actor) -> None:
    save_rate(session, editor, rate_input("2026-11-01", "8"))
    assert converted(session, editor, date(2026, 11, 2), "CNY/USD")[0] == Decimal("0.125")


def test_of_one_day_the_direction_that_was_entered_counts(session: Session, editor: Actor) -> None:
    save_rate(session, editor, rate_input("2026-11-01", "0.2", "CNY/USD"))
    save_rate(session, editor, rate_input("2026-11-01", "7.10"))
    assert converted(session, editor, date(2026, 11, 2))[0] == Decimal("7.10")
    assert converted(session, editor, date(2026, 11, 2), "CNY/USD")[0] == Decimal("0.2")


def test_without_a_team_s_rate_the_reference_rate_is_taken(session: Session, editor: Actor) -> None:
    save_rate(session, editor, rate_input("2024-01-03", "9.99"))
    rate, day, source = converted(session, editor, date(2024, 1, 2), "EUR/USD")
    assert (rate, day) == (Decimal("1.0956"), date(2024, 1, 2))
    assert source.startswith("ECB reference rate")


def test_another_team_s_rate_is_not_ours(session: Session, editor: Actor, stranger: Actor) -> None:
    save_rate(session, stranger, rate_input("2024-01-01", "9.99", "EUR/USD"))
    assert converted(session, editor, date(2024, 1, 2), "EUR/USD")[0] == Decimal("1.0956")
    assert list_rates(session, editor.team_id) == []


def test_without_any_rate_the_field_is_named(session: Session, editor: Actor) -> None:
    with pytest.raises(InvalidInput) as refused:
        convert_rate(session, editor.team_id, "USD", "VND", date(2026, 11, 2))
    assert [error.field for error in refused.value.errors] == ["exchange_rate"]


def test_one_currency_needs_no_rate(session: Session, editor: Actor) -> None:
    assert converted(session, editor, date(2026, 11, 2), "VND/VND")[0] == 1


def test_a_second_rate_of_a_day_replaces_the_first_and_leaves_a_trace(session: Session, editor: Actor) -> None:
    first, is_new = save_rate(session, editor, rate_input("2026-11-01", "7.10"))
    assert is_new
    again, is_new = save_rate(session, editor, rate_input("2026-11-01", "7.12"))
    assert not is_new
    assert again is first
    assert [rate.rate for rate in list_rates(session, editor.team_id)] == [Decimal("7.12")]
    events = session.exec(select(AuditEvent).where(col(AuditEvent.subject_type) == "rate")).all()
    assert [(event.action, event.details["before"], event.details["rate"]) for event in events] == [
        ("created", None, "7.10"),
        ("changed", "7.10", "7.12"),
    ]


def test_a_rate_of_a_small_unit_keeps_its_digits(session: Session, editor: Actor) -> None:
    save_rate(session, editor, rate_input("2026-11-01", "0.000273456789", "VND/CNY"))
    assert converted(session, editor, date(2026, 11, 1), "VND/CNY")[0] == Decimal("0.000273456789")


def test_a_viewer_enters_no_rates(session: Session, viewer: Actor) -> None:
    with pytest.raises(Forbidden):
        save_rate(session, viewer, rate_input("2026-11-01", "7.10"))
