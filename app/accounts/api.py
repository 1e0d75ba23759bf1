"""JSON routes of accounts."""

from app.api.routes import api_router

router = api_router("accounts")
