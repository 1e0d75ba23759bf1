"""The OpenAPI document tells all of the JSON API and nothing else."""

from typing import Any

import pytest

from app.main import API_PREFIX, PAGES, create_app
from app.settings import Settings
from tests.contracts.api_routes import api_operations, routes_of

METHODS = {"get", "post", "put", "patch", "delete"}
# What a browser needs to show the document itself.
PAGES_BELOW_THE_PREFIX = {"/api/v1/docs"}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    settings = Settings(data_folder=tmp_path_factory.mktemp("openapi"))
    return create_app(settings).openapi()


def _operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path.removeprefix(API_PREFIX)}": operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def test_the_document_lists_exactly_the_json_routes(document: dict[str, Any]) -> None:
    assert sorted(_operations(document)) == sorted(api_operations())


def test_everything_lies_below_the_prefix(document: dict[str, Any]) -> None:
    assert [path for path in document["paths"] if not path.startswith(API_PREFIX + "/")] == []


def test_no_page_lies_below_the_prefix() -> None:
    paths = {route.path for router in PAGES for route in routes_of(router)}
    assert {path for path in paths if path.startswith("/api")} <= PAGES_BELOW_THE_PREFIX


def test_every_route_has_an_id_of_its_own_and_says_what_it_does(document: dict[str, Any]) -> None:
    operations = _operations(document)
    assert len({operation["operationId"] for operation in operations.values()}) == len(operations)
    assert [name for name, operation in operations.items() if not operation.get("description")] == []


def test_every_route_declares_its_errors_as_problem_documents(document: dict[str, Any]) -> None:
    for name, operation in _operations(document).items():
        for status in ("401", "404", "422"):
            assert "application/problem+json" in operation["responses"][status]["content"], (name, status)
