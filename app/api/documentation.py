"""The API's documentation as a page: every route of the OpenAPI document, without scripts or other hosts."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response

from app.web.render import render

router = APIRouter()

DOCS_PATH = "/api/v1/docs"


@dataclass(frozen=True, slots=True)
class RouteEntry:
    """One route as the page lists it."""

    method: str
    path: str
    summary: str
    description: str
    parameters: list[str]
    body: str | None
    answer: str | None


@router.get(DOCS_PATH, name="api_docs")
def api_docs(request: Request) -> Response:
    """The page; it needs no token."""
    document = request.app.openapi()
    groups: dict[str, list[RouteEntry]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            groups.setdefault(operation["tags"][0], []).append(_entry(method, path, operation))
    schemas = {
        name: schema.get("properties", {}) for name, schema in document["components"]["schemas"].items()
    }
    return render(request, "api/docs.html", groups=groups, schemas=schemas, type_words=_type_words)


def _entry(method: str, path: str, operation: dict[str, Any]) -> RouteEntry:
    body = operation.get("requestBody", {}).get("content", {})
    answers = operation["responses"].items()
    good: dict[str, Any] = next((answer for status, answer in answers if status.startswith("2")), {})
    return RouteEntry(
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        description=operation.get("description", ""),
        parameters=[part["name"] for part in operation.get("parameters", []) if part["in"] != "path"],
        body=_schema_name(body),
        answer=_schema_name(good.get("content", {})),
    )


def _schema_name(content: dict[str, Any]) -> str | None:
    schema: dict[str, Any] = next((part.get("schema", {}) for part in content.values()), {})
    reference = schema.get("$ref")
    return None if reference is None else str(reference).rpartition("/")[2]


def _type_words(schema: dict[str, Any]) -> str:
    """A property's type in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(_type_words(part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        return f"[{_type_words(schema.get('items', {}))}]"
    return str(schema.get("format") or schema.get("type") or schema.get("const") or "any")
