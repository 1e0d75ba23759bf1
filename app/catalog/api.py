"""JSON routes of catalog."""

from app.api.routes import api_router

router = api_router("catalog")
