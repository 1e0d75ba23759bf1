"""JSON routes of reports."""

from app.api.routes import api_router

router = api_router("reports")
