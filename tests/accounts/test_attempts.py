"""Wrong attempts are counted for each address."""

import pytest
from starlette.requests import HTTPConnection

from app.accounts.attempts import Attempts, TooManyAttempts, address_of


def test_so_many_wrong_attempts_and_no_more() -> None:
    attempts = Attempts(per_minute=2)
    for _ in range(2):
        attempts.require_left("password", "10.0.0.7")
        attempts.count("password", "10.0.0.7")
    with pytest.raises(TooManyAttempts) as refused:
        attempts.require_left("password", "10.0.0.7")
    assert 1 <= refused.value.retry_after_seconds <= 60
    assert refused.value.headers == {"Retry-After": str(refused.value.retry_after_seconds)}


def test_another_address_and_another_kind_have_their_own_count() -> None:
    attempts = Attempts(per_minute=1)
    attempts.count("password", "10.0.0.7")
    attempts.require_left("password", "10.0.0.8")
    attempts.require_left("token", "10.0.0.7")
    with pytest.raises(TooManyAttempts):
        attempts.count("password", "10.0.0.7")


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("10.0.0.7", 1234), "10.0.0.7"),
        # One customer has a whole network of these.
        (("2001:db8:1:2:aaaa::1", 1234), "2001:db8:1:2::/64"),
        (("2001:db8:1:2:bbbb::2", 1234), "2001:db8:1:2::/64"),
        (("::ffff:10.0.0.7", 1234), "10.0.0.7"),
        (("testclient", 1234), "testclient"),
        (None, ""),
    ],
)
def test_the_address_of_a_request(client: tuple[str, int] | None, address: str) -> None:
    assert address_of(HTTPConnection({"type": "http", "client": client})) == address
