"""JSON routes of projects."""

from app.api.routes import api_router

router = api_router("projects")
