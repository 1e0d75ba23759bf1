"""The routes of the JSON API, as the routers have them."""

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.routing import APIRoute

from app.main import API


def api_operations() -> list[str]:
    """``GET /projects/{project_id}``, without the prefix, in the order of paths."""
    routes = [route for router in API for route in routes_of(router)]
    found = {f"{method} {route.path_format}" for route in routes for method in route.methods or ()}
    return sorted(found, key=lambda operation: operation.split()[::-1])


def routes_of(router: APIRouter) -> Iterator[APIRoute]:
    """Those of routers inside it too."""
    for route in router.routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from routes_of(inner)
        elif isinstance(route, APIRoute):
            yield route
