"""What monitoring asks: is the process alive, is it ready, what does it count."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.db import Database
from app.web.static_files import MissingAssetsError, check_assets

router = APIRouter()


@router.get("/healthz", name="healthz")
def healthz() -> JSONResponse:
    """The process answers."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz", name="readyz")
def readyz(request: Request) -> JSONResponse:
    """Database, migrations and assets are there; 503 with what is not."""
    checks = {"database": _database_state(request.app.state.database), "assets": _assets_state()}
    ready = all(state == "ok" for state in checks.values())
    return JSONResponse({"status": "ok" if ready else "not ready", "checks": checks}, 200 if ready else 503)


@router.get("/metrics", name="metrics")
def metrics() -> Response:
    """Prometheus text format."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


def _database_state(database: Database) -> str:
    try:
        with database.read() as session:
            session.execute(text("SELECT 1"))
        return "ok" if database.is_current() else "not migrated"
    except SQLAlchemyError:
        return "not reachable"


def _assets_state() -> str:
    try:
        check_assets()
    except MissingAssetsError:
        return "missing"
    return "ok"
