"""What a person can set, call or run is written down."""

import re
from collections.abc import Iterator

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from app.cli import cli
from app.settings import Settings
from tests.contracts.api_routes import api_operations
from tests.contracts.sources import ROOT

OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_setting_is_documented_with_its_default(name: str) -> None:
    row = re.search(rf"^\| `TUNELEDGER_{name.upper()}` \| (.*?) \|", OPERATIONS, re.MULTILINE)
    assert row, f"TUNELEDGER_{name.upper()} has no row in docs/operations.md"
    default = Settings.model_fields[name].default
    assert row[1] == ("–" if default == "" else f"`{default}`")


def test_no_setting_is_documented_that_does_not_exist() -> None:
    documented = set(re.findall(r"^\| `TUNELEDGER_(\w+)`", OPERATIONS, re.MULTILINE))
    assert documented == {name.upper() for name in Settings.model_fields}


def _commands() -> Iterator[str]:
    yield from _below(get_command(cli), "tuneledger")


def _below(command: object, name: str) -> Iterator[str]:
    if not isinstance(command, TyperGroup):
        yield name
        return
    for part, child in command.commands.items():
        yield from _below(child, f"{name} {part}")


def test_every_command_is_documented_and_no_other() -> None:
    documented = re.findall(r"^\| `(tuneledger [a-z -]+)` \|", OPERATIONS, re.MULTILINE)
    assert sorted(documented) == sorted(_commands())


@pytest.mark.parametrize("operation", api_operations())
def test_a_route_of_the_api_is_documented(operation: str) -> None:
    assert f"`{operation}`" in API, f"`{operation}` is missing in docs/api.md"


def test_no_route_is_documented_that_does_not_exist() -> None:
    documented = set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /\S*)`", API))
    assert documented == set(api_operations())
