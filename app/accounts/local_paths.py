"""Paths of this site that a request names as the place to go to next."""

import re
from urllib.parse import urlsplit

# One slash at its start: browsers take "//host" and "/\host" for another site, and drop tabs and line ends.
_LOCAL = re.compile(r"/(?![/\\])[!-\[\]-~]*", re.ASCII)


def is_local(path: str) -> bool:
    """Whether a browser sent there stays on this site."""
    return _LOCAL.fullmatch(path) is not None


def local_path(wanted: str | None) -> str:
    """The path, or the start page for one that leads elsewhere."""
    return wanted if wanted is not None and is_local(wanted) else "/"


def path_of_referer(referer: str | None, host: str | None) -> str:
    """Path and query of the page that a form stood on; the start page for another site's or none."""
    try:
        parts = urlsplit(referer or "")
    except ValueError:
        return "/"
    if parts.netloc != host:
        return "/"
    return local_path(f"{parts.path}?{parts.query}" if parts.query else parts.path)
