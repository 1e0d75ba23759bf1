"""The sample project and its report, without a server."""

import csv
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command

LOADED = ["demo", "load", "--today", "2026-12-01"]


def test_the_sample_project_is_loaded_once(command: Command) -> None:
    first = command(*LOADED).answer
    assert first == command(*LOADED).answer == command("demo", "load", "--team", "Demo").answer


def test_it_goes_into_the_only_team_or_a_named_one(command: Command) -> None:
    command("token", "create", "--team", "Lab", "--role", "owner")
    first = command(*LOADED).answer
    assert command(*LOADED, "--team", "Lab").answer == first
    assert command(*LOADED, "--team", "Chair").answer != first
    refused = command(*LOADED)
    assert refused.status == 2
    assert "Say which team; there are 2." in refused.complaint


def test_a_day_that_is_none(command: Command) -> None:
    refused = command("demo", "load", "--today", "yesterday")
    assert refused.status == 2
    assert "today: This is not a date" in refused.complaint


def test_every_format_carries_the_same_total(command: Command, tmp_path: Path) -> None:
    project = command(*LOADED).answer
    # The last of its four weeks of runs: 188.40 to date.
    report = ["report", "--project", project, "--week", "2026-W48", "--format"]
    document = json.loads(command(*report, "json").out)
    assert document["to_date"]["billed"] == {"amount": "188.40", "currency": "CNY"}
    assert document["project"]["name"] == "LLaMA-7B 中文问答"
    file = tmp_path / "report.csv"
    written = command(*report, "csv", "--output", str(file))
    assert (written.status, written.out) == (0, "")
    rows = list(csv.reader(file.read_text(encoding="utf-8-sig").splitlines()))
    assert any("188.40" in row for row in rows)
    assert "188.40" in command(*report, "md").out


def test_the_team_s_report_and_its_language(command: Command) -> None:
    command(*LOADED)
    whole = json.loads(command("report", "--week", "2026-W48", "--format", "json").out)
    assert whole["project"] is None
    assert whole["team"] == "Demo"
    assert command("report", "--team", "Demo", "--week", "2026-W48").out.startswith("# ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--week", "2026-W54"], "week: There is no such week"),
        (["--week", "last"], "week: "),
        (["--project", "999"], "project: There is no project 999."),
        (["--project", "1", "--team", "Chair"], "project: There is no project 1."),
        (["--team", "Nowhere"], "team: There is no team Nowhere."),
        (["--format", "docx"], "docx"),
    ],
)
def test_a_report_that_cannot_be(command: Command, arguments: list[str], words: str) -> None:
    command(*LOADED)
    command("token", "create", "--team", "Chair", "--role", "owner")
    refused = command("report", *arguments)
    assert refused.status == 2
    assert words in refused.complaint


def test_a_file_that_cannot_be_written(command: Command, tmp_path: Path) -> None:
    command(*LOADED)
    refused = command("report", "--output", str(tmp_path / "missing" / "report.md"))
    assert refused.status == 1
    assert "No such file or directory" in refused.complaint
