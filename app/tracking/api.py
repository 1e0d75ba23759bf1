"""JSON routes of tracking."""

from app.api.routes import api_router

router = api_router("tracking")
