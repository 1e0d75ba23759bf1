"""The cookie that holds the secret of a browser's session.

Over https it is ``__Host-tuneledger``, Secure. Loopback over plain http gets that one too, for Chromium and Firefox
take such a host for secure; Safari and scripts do not and hold it back there, so a second one without Secure goes with
it: what never leaves the machine cannot be listened to. Any other host over plain http gets the second one alone.
"""

from ipaddress import ip_address

from fastapi import Request, Response

SECURE_COOKIE = "__Host-tuneledger"
PLAIN_COOKIE = "tuneledger"
_SECONDS_PER_DAY = 86_400


def session_secret(request: Request) -> str | None:
    """The secret that the browser sent."""
    return request.cookies.get(SECURE_COOKIE) or request.cookies.get(PLAIN_COOKIE)


def set_session_cookie(request: Request, response: Response, secret: str, days: int) -> None:
    """Signs the browser in for so many days."""
    for name, secure in _kinds(request):
        response.set_cookie(
            name, secret, days * _SECONDS_PER_DAY, path="/", secure=secure, httponly=True, samesite="lax"
        )


def delete_session_cookie(response: Response) -> None:
    """Signs the browser out."""
    response.delete_cookie(SECURE_COOKIE, path="/", secure=True, httponly=True, samesite="lax")
    response.delete_cookie(PLAIN_COOKIE, path="/", httponly=True, samesite="lax")


def is_https(request: Request) -> bool:
    """Whether people reach this server over https, through a proxy perhaps."""
    base_url: str = request.app.state.settings.base_url
    return request.url.scheme == "https" or base_url.lower().startswith("https://")


def is_loopback(host: str) -> bool:
    """Whether a host's name can only mean the machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _kinds(request: Request) -> list[tuple[str, bool]]:
    if is_https(request):
        return [(SECURE_COOKIE, True)]
    plain = [(PLAIN_COOKIE, False)]
    return [(SECURE_COOKIE, True), *plain] if is_loopback(request.url.hostname or "") else plain
