"""What all commands share: options, languages, errors, logs."""

import json
import logging
import secrets
from pathlib import Path
from typing import Literal

import pytest
import structlog

from app import __version__
from app.db import Database
from app.logs import configure_logs
from app.settings import Settings
from tests.cli.conftest import Command


def test_the_version(bare_command: Command) -> None:
    assert bare_command("--version").answer == __version__


@pytest.mark.parametrize("arguments", [[], ["token"], ["no-such-command"], ["serve", "--no-such-option"]])
def test_bad_use_is_one_line_and_2(bare_command: Command, arguments: list[str]) -> None:
    refused = bare_command(*arguments)
    assert refused.status == 2
    assert refused.complaint.startswith("Error: ")


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_is_an_option(bare_command: Command, name: str) -> None:
    assert f"--{name.replace('_', '-')} " in bare_command("--help").out


def test_an_option_comes_before_its_variable(
    bare_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNELEDGER_DATA_FOLDER", str(tmp_path / "variable"))
    assert bare_command("--data-folder", str(tmp_path / "option"), "migrate").status == 0
    assert (tmp_path / "option" / "tuneledger.db").is_file()
    assert not (tmp_path / "variable").exists()
    assert bare_command("migrate").status == 0
    assert (tmp_path / "variable" / "tuneledger.db").is_file()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("PORT", "eighty", "TUNELEDGER_PORT: This must be a whole number."),
        ("PORT", "65536", "TUNELEDGER_PORT: This must be at most 65535."),
        ("DATABASE_URL", "mysql://x", "TUNELEDGER_DATABASE_URL: database_url must begin with"),
        ("LOG_FORMAT", "xml", "TUNELEDGER_LOG_FORMAT: Choose one of"),
    ],
)
def test_a_wrong_setting_is_named(
    bare_command: Command, monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(f"TUNELEDGER_{name}", value)
    refused = bare_command("migrate")
    assert refused.status == 2
    assert words in refused.complaint


def test_it_speaks_chinese_where_the_environment_does(bare_command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert bare_command("--port", "eighty", "migrate").complaint == "错误: TUNELEDGER_PORT: 此项应为整数。"


def test_migrate_makes_the_tables_and_says_nothing(command: Command, database_of: Database) -> None:
    for _ in range(2):
        outcome = command("migrate")
        assert (outcome.status, outcome.out) == (0, "")
    assert database_of.is_current()


def test_a_database_of_a_later_version_is_left_alone(command: Command, database_of: Database) -> None:
    command("migrate")
    with database_of.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'of_tomorrow'")
    refused = command("migrate")
    assert refused.status == 1
    assert "The database is not of this version" in refused.complaint


def test_a_database_that_does_not_answer(bare_command: Command) -> None:
    refused = bare_command("--database-url", "postgresql://nobody:secret@127.0.0.1:1/nothing", "migrate")
    assert refused.status == 1
    assert "The database cannot be used" in refused.complaint
    assert "secret" not in refused.err


def test_a_folder_that_cannot_be_made(bare_command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = bare_command("--data-folder", str(tmp_path / "file" / "data"), "migrate")
    assert refused.status == 1
    assert "Not a directory" in refused.complaint


def test_check_names_what_is_in_order_and_hides_the_password(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNELEDGER_PROT", "9000")
    outcome = command("check")
    assert "settings: TUNELEDGER_PROT is not a setting and does nothing" in outcome.out
    assert "database: in order" in outcome.out


@pytest.mark.usefixtures("_own_logs")
def test_log_lines_go_to_stderr_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("json")
    structlog.get_logger().info("运行", count=3)
    logging.getLogger("library").warning("low on %s", "ink")
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = [json.loads(line) for line in captured.err.splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [("运行", "info"), ("low on ink", "warning")]
    assert lines[0]["count"] == 3
    assert all(line["timestamp"].endswith("Z") for line in lines)


@pytest.mark.usefixtures("_own_logs")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_logged_fault_carries_its_trace_and_no_variables(
    capsys: pytest.CaptureFixture[str], form: Literal["text", "json"]
) -> None:
    configure_logs(form)
    password = secrets.token_hex(8)
    try:
        raise ValueError("of all things")
    except ValueError as error:
        structlog.get_logger().error("failed", exc_info=error)
    err = capsys.readouterr().err
    assert "failed" in err
    assert "ValueError" in err
    assert "of all things" in err
    assert password not in err


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        (Settings(), "http://127.0.0.1:8000"),
        (Settings(host="0.0.0.0", port=80), "http://127.0.0.1:80"),  # noqa: S104
        (Settings(host="::1"), "http://[::1]:8000"),
        (Settings(base_url="https://ledger.example/"), "https://ledger.example"),
    ],
)
def test_the_address_that_people_open(settings: Settings, url: str) -> None:
    assert settings.public_url == url
