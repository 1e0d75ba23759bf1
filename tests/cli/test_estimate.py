"""``estimate`` answers from a file alone."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command

BODY = {"model": "llama-7b", "method": "lora", "gpu": "a10", "gradient_checkpointing": True}


@pytest.fixture
def estimate(bare_command: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command where no database can be reached."""
    monkeypatch.setenv("TUNELEDGER_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    return bare_command


def test_a_body_in_an_answer_out(estimate: Command, tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text(json.dumps(BODY))
    outcome = estimate("estimate", str(file))
    assert (outcome.status, outcome.err) == (0, "")
    answer = json.loads(outcome.out)
    # 4 × 4096² + 3 × 4096 × 11008 weights and two norms in each of 32 layers; embeddings, head and last norm.
    assert answer["model"]["parameters"] == 32 * (4 * 4096**2 + 3 * 4096 * 11008 + 2 * 4096) + 2 * 32000 * 4096 + 4096
    assert answer["memory"]["fits"] is True
    assert sum(answer["memory"]["components"].values()) == answer["memory"]["required_bytes"]


def test_the_body_from_stdin(estimate: Command) -> None:
    assert json.loads(estimate("estimate", "-", stdin=json.dumps(BODY)).out)["model"]["id"] == "llama-7b"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"model": "llama-7b"', "This is not valid JSON"),
        ("[" * 100_000, "This is not valid JSON"),
        ("[]", "This must be an object."),
        ('{"model": "llama-7b"}', "method: This field is required."),
        ('{"model": "llama-7b", "method": "lora", "colour": 1}', "colour: This field is not known."),
        ('{"model": "no-such-model", "method": "lora"}', "model: "),
        ('{"model": "llama-7b", "method": "lora", "gpu": "a10", "gpu_count": 0}', "gpu_count: "),
    ],
)
def test_a_wrong_body_is_told_in_one_line(estimate: Command, body: str, words: str) -> None:
    refused = estimate("estimate", "-", stdin=body)
    assert refused.status == 2
    assert words in refused.complaint


def test_a_file_that_is_not_there(estimate: Command, tmp_path: Path) -> None:
    refused = estimate("estimate", str(tmp_path / "none.json"))
    assert refused.status == 2
    assert "none.json: This file cannot be read." in refused.complaint
