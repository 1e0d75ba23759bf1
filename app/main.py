"""create_app(): the only place where the parts are put together."""

import re

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from app import __version__
from app.accounts import api as accounts_api
from app.accounts import pages as accounts_pages
from app.accounts.attempts import Attempts
from app.accounts.authentication import Authentication
from app.accounts.passwords import Passwords
from app.accounts.sign_in import Door
from app.api import documentation
from app.api.idempotency import AnsweredMeanwhile
from app.api.routes import answer_meanwhile
from app.catalog import advice_pages, names
from app.catalog import api as catalog_api
from app.catalog import pages as catalog_pages
from app.catalog.hosted import api as hosted_api
from app.catalog.hosted import pages as hosted_pages
from app.catalog.vouchers import api as voucher_api
from app.catalog.vouchers import pages as voucher_pages
from app.db import Database, open_database
from app.errors import TuneledgerError
from app.outlook import api as outlook_api
from app.outlook import pages as outlook_pages
from app.planning import api as planning_api
from app.planning import comparison_pages, file_api, file_pages, search_pages
from app.planning import pages as planning_pages
from app.projects import api as projects_api
from app.projects import pages as projects_pages
from app.reports import api as reports_api
from app.reports import pages as reports_pages
from app.sample import load_sample
from app.settings import Settings
from app.time import Clock, utc_now
from app.tracking import api as tracking_api
from app.tracking import pages as tracking_pages
from app.web import health
from app.web.body_limit import BodyLimit
from app.web.csrf import CrossSiteGuard
from app.web.error_pages import answer_error, answer_http_error, answer_invalid_request, answer_unexpected
from app.web.render import add_filters
from app.web.security_headers import SecurityHeaders
from app.web.static_files import mount_static

API_PREFIX = "/api/v1"
# Paths that take files.
UPLOADS = re.compile(r"(/plans/from-files|/datasets/lengths|/trainer-files/read|/offers/import)$")

PAGES: list[APIRouter] = [
    health.router,
    documentation.router,
    accounts_pages.router,
    catalog_pages.router,
    hosted_pages.router,
    voucher_pages.router,
    advice_pages.router,
    projects_pages.router,
    # Before the plans: their paths would read as a plan's.
    search_pages.router,
    comparison_pages.router,
    file_pages.router,
    planning_pages.router,
    tracking_pages.router,
    outlook_pages.router,
    reports_pages.router,
]
API: list[APIRouter] = [
    catalog_api.router,
    hosted_api.router,
    voucher_api.router,
    projects_api.router,
    planning_api.router,
    file_api.router,
    tracking_api.router,
    outlook_api.router,
    reports_api.router,
    accounts_api.router,
]


def create_app(settings: Settings, *, clock: Clock = utc_now, database: Database | None = None) -> FastAPI:
    """The application; the database is migrated by the command line, not here."""
    app = build_app(settings)
    equip(app, settings, clock, database or open_database(settings))
    return app


def build_app(settings: Settings) -> FastAPI:
    """Routes and middleware, which nothing but the limits of a body depends on."""
    add_filters(names.FILTERS)
    app = FastAPI(
        title="Tuneledger",
        version=__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(CrossSiteGuard),
            Middleware(Authentication),
            Middleware(
                BodyLimit,
                largest_bytes=settings.max_body_bytes,
                largest_upload_bytes=settings.max_upload_bytes,
                uploads=UPLOADS,
            ),
        ],
    )
    app.add_exception_handler(TuneledgerError, answer_error)
    app.add_exception_handler(RequestValidationError, answer_invalid_request)
    app.add_exception_handler(HTTPException, answer_http_error)
    app.add_exception_handler(AnsweredMeanwhile, answer_meanwhile)
    app.add_exception_handler(Exception, answer_unexpected)
    mount_static(app)
    for router in PAGES:
        app.include_router(router, include_in_schema=False)
    for router in API:
        app.include_router(router, prefix=API_PREFIX)
    return app


def equip(app: FastAPI, settings: Settings, clock: Clock, database: Database) -> None:
    """What its requests work with."""
    app.state.settings = settings
    app.state.clock = clock
    app.state.load_sample = load_sample
    app.state.database = database
    # Until the first request finds a user.
    app.state.is_set_up = False
    app.state.door = Door(
        database,
        Passwords(settings.password_hash),
        Attempts(settings.sign_in_attempts_per_minute),
        clock,
        settings.session_days,
    )
