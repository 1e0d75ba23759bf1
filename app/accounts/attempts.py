"""How often an address may try a wrong password or token; who knows the right one is never slowed down."""

from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.requests import HTTPConnection

from app.errors import TuneledgerError
from app.i18n import Message
from app.time import utc_now


class TooManyAttempts(TuneledgerError):
    """The address has tried too often; ``retry_after_seconds`` says when it may again."""

    status = 429
    type = "too-many-attempts"

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            Message("Too many wrong attempts. Try again in %(seconds)s seconds.", seconds=retry_after_seconds)
        )
        self.retry_after_seconds = retry_after_seconds

    @property
    def headers(self) -> dict[str, str]:
        """What goes with the answer."""
        return {"Retry-After": str(self.retry_after_seconds)}


class Attempts:
    """Wrong attempts of the last minute by address, kept in this process."""

    def __init__(self, per_minute: int) -> None:
        self._limit = RateLimitItemPerMinute(per_minute)
        self._window = MovingWindowRateLimiter(MemoryStorage())

    def require_left(self, kind: str, address: str) -> None:
        """Raises TooManyAttempts when the address has no attempt left."""
        if not self._window.test(self._limit, kind, address):
            raise self._too_many(kind, address)

    def count(self, kind: str, address: str) -> None:
        """Counts a wrong attempt. Raises TooManyAttempts when there was none left."""
        if not self._window.hit(self._limit, kind, address):
            raise self._too_many(kind, address)

    def _too_many(self, kind: str, address: str) -> TooManyAttempts:
        reset_time, _ = self._window.get_window_stats(self._limit, kind, address)
        # The limiter reads the machine's clock, so the application's cannot tell how long it still counts.
        return TooManyAttempts(max(1, ceil(reset_time - utc_now().timestamp())))


def address_of(request: HTTPConnection) -> str:
    """Where a request comes from; of an IPv6 address the network, which is one customer's."""
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((address, 64), strict=False))
    return host
