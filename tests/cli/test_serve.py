"""``serve`` as a process of its own, with every warning an error."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from app.commands.serve import listen

pytestmark = pytest.mark.one_database

Start = Callable[..., "subprocess.Popen[str]"]
SERVE = [sys.executable, "-W", "error", "-m", "app.cli", "serve", "--port", "0"]


@pytest.fixture
def start(repository: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts servers on the same data folder, and ends them."""
    environment = os.environ | {
        "TUNELEDGER_DATA_FOLDER": str(tmp_path),
        "TUNELEDGER_PASSWORD_HASH": "argon2-cheap",
        "LC_ALL": "C.UTF-8",
    }
    with ExitStack() as stack:

        def begin(*more: str) -> "subprocess.Popen[str]":
            process = subprocess.Popen(
                [*SERVE, *more],
                cwd=repository,
                env=environment,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield begin


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr and process.stderr.read()
    return line.strip()


def stop(process: "subprocess.Popen[str]", how: signal.Signals = signal.SIGTERM) -> tuple[str, str]:
    """What the process still said, after it was asked to end and did so in order."""
    process.send_signal(how)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    return out, err


def test_the_first_start_prints_a_link_and_a_script_can_use_it(start: Start) -> None:
    server = start()
    link = first_line(server)
    address, _, token = link.partition("/setup?token=")
    assert address.startswith("http://127.0.0.1:")
    assert len(token) >= 40
    form = {
        "name": "Li Wei", "password": "correct horse", "team_name": "Lab",
        "currency": "CNY", "time_zone": "Asia/Shanghai", "language": "en",
    }  # fmt: skip
    with httpx.Client(base_url=address) as browser:
        assert browser.get("/").status_code == 503
        assert browser.get("/healthz").status_code == 200
        assert browser.get(link).status_code == 200
        assert browser.post(link, data=form).status_code == 303
        # A plain client with a cookie jar is signed in over http.
        assert browser.get("/team").status_code == 200
        assert "LLaMA-7B 中文问答" in browser.get("/").text
    out, err = stop(server)
    assert out == ""
    assert "Traceback" not in err
    assert token not in err


def test_every_start_prints_a_new_link_until_there_is_a_user(start: Start, repository: Path, tmp_path: Path) -> None:
    first = start()
    old = first_line(first)
    stop(first, signal.SIGINT)
    second = start()
    new = first_line(second)
    assert old.partition("token=")[2] != new.partition("token=")[2]
    address = new.partition("/setup")[0]
    assert httpx.get(f"{address}/setup?token={old.partition('token=')[2]}").status_code == 403
    assert httpx.get(new).status_code == 200
    stop(second)


def test_a_port_that_is_taken_is_one_line(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        server = start("--port", str(port))
        out, err = server.communicate(timeout=20)
    assert (server.returncode, out) == (1, "")
    assert err == f"Error: 127.0.0.1:{port}: Address already in use\n"


def test_to_be_reached_from_elsewhere_it_warns_of_plain_http(start: Start) -> None:
    server = start("--host", "0.0.0.0")  # noqa: S104 - what is warned of
    assert first_line(server).startswith("http://127.0.0.1:")
    _, err = stop(server)
    assert "passwords and sessions travel unencrypted" in err
    assert "meant for tests only" in err


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_an_answer_s_second_piece_does_not_wait_for_the_first(host: str) -> None:
    with listen(host, 0) as listener, socket.create_connection(listener.getsockname()[:2]):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
