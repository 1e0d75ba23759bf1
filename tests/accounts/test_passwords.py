"""Passwords are hashed so that they can be verified and not read."""

import pytest

from app.accounts.credentials import new_password
from app.accounts.passwords import SHORTEST, Passwords

cheap = Passwords("argon2-cheap")


def test_the_right_password_is_right_and_any_other_wrong() -> None:
    stored = cheap.hash("correct horse")
    assert cheap.verify("correct horse", stored).is_right
    assert not cheap.verify("correct hors", stored).is_right


def test_a_hash_is_argon2id_and_salted() -> None:
    first, second = cheap.hash("correct horse"), cheap.hash("correct horse")
    assert first.startswith("$argon2id$")
    assert first != second


@pytest.mark.parametrize("stored", [None, "", "plain text", "$2b$12$abc"])
def test_without_a_usable_hash_every_password_is_wrong(stored: str | None) -> None:
    assert not cheap.verify("correct horse", stored).is_right


def test_one_password_typed_on_two_keyboards() -> None:
    # é as one character, and as e with an accent; full-width digits of a Chinese input method.
    assert cheap.verify("caf\u0065\u0301 １２３４", cheap.hash("caf\u00e9 1234")).is_right


def test_spaces_around_a_pasted_password_do_not_count() -> None:
    assert cheap.verify(" correct horse\n", cheap.hash("correct horse")).is_right


def test_a_hash_of_the_weak_kind_is_made_anew_with_the_strong_one() -> None:
    strong = Passwords("argon2")
    verdict = strong.verify("correct horse", cheap.hash("correct horse"))
    assert verdict.is_right
    assert verdict.new_hash is not None
    assert "m=65536,t=3,p=4" in verdict.new_hash
    assert strong.verify("correct horse", verdict.new_hash).new_hash is None


def test_a_made_password_is_long_enough() -> None:
    assert len(new_password()) == 16 >= SHORTEST
    assert new_password() != new_password()
