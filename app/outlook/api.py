"""JSON routes of outlook."""

from app.api.routes import api_router

router = api_router("outlook")
