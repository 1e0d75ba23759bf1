"""Our own css and js and the installed htmx, with addresses that change when the files do."""

import hashlib
from functools import cache
from pathlib import Path

from fastapi import FastAPI, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from app.settings import PROJECT_ROOT

_YEAR = 31_536_000


def packaged_folder(name: str) -> Path:
    """``templates`` or ``static``: inside an installed wheel, else at the top of the checkout."""
    packaged = Path(__file__).parent.parent / f"_{name}"
    return packaged if packaged.is_dir() else PROJECT_ROOT / name


class MissingAssetsError(RuntimeError):
    """The third-party files were not installed."""


class CachedStaticFiles(StaticFiles):
    """A file asked for with its digest may be kept for ever."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Starlette's answer with a cache header."""
        response = await super().get_response(path, scope)
        kept = b"v=" in scope.get("query_string", b"")
        response.headers["Cache-Control"] = f"public, max-age={_YEAR}, immutable" if kept else "no-cache"
        return response


def mount_static(app: FastAPI) -> None:
    """Serves ``static/``."""
    app.mount("/static", CachedStaticFiles(directory=packaged_folder("static")), name="static")


def check_assets() -> None:
    """Raises MissingAssetsError naming the command that brings what is missing."""
    if not (packaged_folder("static") / "vendor" / "htmx.min.js").is_file():
        raise MissingAssetsError("static/vendor/htmx.min.js is missing: run `make setup`")


@cache
def digest_of(path: Path, modified_ns: int) -> str:  # noqa: ARG001 - part of the cache's key
    """The first digits of the file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def static_path(path: str) -> str:
    """``/static/css/app.css?v=…``."""
    file = packaged_folder("static") / path
    version = digest_of(file, file.stat().st_mtime_ns) if file.is_file() else ""
    return f"/static/{path}?v={version}"
