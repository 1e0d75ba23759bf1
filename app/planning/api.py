"""JSON routes of planning."""

from app.api.routes import api_router

router = api_router("planning")
