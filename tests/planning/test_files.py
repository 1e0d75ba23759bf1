"""Trainer files and data sets by the API and on the page."""

import json
from typing import Any

import pytest

from app.accounts.models import Team
from tests.fixtures.clients import ApiClient, Clients

# A search and a file store nothing of their own.
pytestmark = pytest.mark.one_database

LLAMA_FACTORY = """\
model_name_or_path: huggyllama/llama-7b
stage: sft
do_train: true
finetuning_type: lora
lora_rank: 16
lora_target: q_proj,v_proj
dataset: qa_zh
cutoff_len: 1024
per_device_train_batch_size: 2
gradient_accumulation_steps: 8
num_train_epochs: 3
bf16: true
my_own_switch: 7
"""
ALPACA = "".join(
    json.dumps({"instruction": "问" * size, "input": "", "output": "answer " * size}, ensure_ascii=False) + "\n"
    for size in (10, 20, 30)
)


@pytest.fixture
def project(api: ApiClient) -> str:
    budget = {"amount": "500", "period": "total", "starts_on": "2026-10-01"}
    answer = api.post("/projects", json={"name": "QA", "currency": "CNY", "target": "300", "budget": budget})
    return f"/projects/{answer.json()['id']}"


def test_a_trainers_file_is_read_as_a_request(api: ApiClient) -> None:
    answer = api.post("/trainer-files/read", files={"file": ("sft.yaml", LLAMA_FACTORY)})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["trainer"], found["model_name"]) == ("llama-factory", "huggyllama/llama-7b")
    assert "my_own_switch" in found["unknown"]
    request = found["request"]
    assert request["model"] == "llama-7b"
    assert (request["method"], request["lora"]["rank"], request["sequence_length"]) == ("lora", 16, 1024)
    assert request["lora"]["target_modules"] == ["q_proj", "v_proj"]
    # Checkpointing is on by default there.
    assert request["gradient_checkpointing"] is True
    assert "gradient_checkpointing" in {one["field"] for one in found["defaults"]}
    complete = request | {"workload": {"samples": 100, "epochs": 3}}
    assert api.post("/estimates", json=complete).status_code == 200


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_a_trainers_file_with_chinese_remarks_is_read(api: ApiClient, encoding: str) -> None:
    content = f"# 中文问答，四个同学\n{LLAMA_FACTORY}".encode(encoding)
    answer = api.post("/trainer-files/read", files={"file": ("sft.yaml", content)})
    assert answer.status_code == 200, answer.text
    assert answer.json()["request"]["lora"]["rank"] == 16


def test_the_lengths_of_a_data_set_are_told(api: ApiClient) -> None:
    answer = api.post("/datasets/lengths", files={"file": ("qa.jsonl", ALPACA)}, data={"model": "llama-7b"})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["format"], found["layout"], found["samples"]) == ("jsonl", "alpaca", 3)
    assert found["is_exact"] is False
    assert found["mean_tokens"] < found["longest_tokens"]
    modern = api.post("/datasets/lengths", files={"file": ("qa.jsonl", ALPACA)}).json()
    # A vocabulary of 32,000 entries splits Chinese into more pieces.
    assert modern["mean_tokens"] < found["mean_tokens"]


@pytest.mark.parametrize(
    ("path", "files", "field"),
    [
        ("/trainer-files/read", {"file": ("x.yaml", "a: [1")}, "file"),
        ("/trainer-files/read", {"file": ("x.yaml", b"\xff\xfe")}, "file"),
        ("/trainer-files/read", {"file": ("x.yaml", "x" * 1_000_001)}, "file"),
        ("/trainer-files/read", {"file": ("x.yaml", LLAMA_FACTORY.replace("16", "-16"))}, "file.lora_rank"),
        ("/trainer-files/read", {"other": ("x.yaml", "a: 1")}, "file"),
        ("/datasets/lengths", {"file": ("x.jsonl", "")}, "file"),
        ("/datasets/lengths", {"file": ("x.parquet", b"PAR1nonsense")}, "file"),
        ("/datasets/lengths", {"file": ("x.jsonl", ALPACA), "tokenizer": ("t.json", "{}")}, "tokenizer"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(api: ApiClient, path: str, files: dict[str, Any], field: str) -> None:
    answer = api.post(path, files=files)
    assert answer.status_code == 422, answer.text
    assert [one["field"] for one in answer.json()["errors"]] == [field]


def test_an_upload_past_the_limit_is_refused_before_it_is_read(api: ApiClient) -> None:
    answer = api.post("/datasets/lengths", content=b"x", headers={"Content-Length": "2000000000"})
    assert (answer.status_code, answer.json()["type"]) == (413, "body-too-large")


def test_an_upload_that_does_not_say_its_size_is_stopped_at_the_limit(api: ApiClient) -> None:
    def endless() -> Any:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n'
        for _ in range(120):
            yield b"x" * 1_000_000

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = api.post("/datasets/lengths", content=endless(), headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (413, "body-too-large")


def test_a_data_set_larger_than_an_ordinary_body_is_read(api: ApiClient) -> None:
    large = ALPACA * 10_000
    assert len(large.encode()) > 2_000_000
    answer = api.post("/datasets/lengths", files={"file": ("qa.jsonl", large)})
    assert answer.json()["samples"] == 30_000


@pytest.mark.parametrize("trainer", ["llama-factory", "ms-swift", "axolotl", "trl"])
def test_a_plan_becomes_a_trainers_file_that_reads_as_the_plan(api: ApiClient, project: str, trainer: str) -> None:
    body = {
        "name": "LoRA", "model": "llama-7b", "method": "lora", "sequence_length": 768, "micro_batch_size": 2,
        "lora": {"rank": 16, "target_modules": ["q_proj", "v_proj"]}, "gradient_checkpointing": True,
        "workload": {"samples": 1000, "epochs": 2}, "gpu": "a10",
    }  # fmt: skip
    plan = api.post(f"{project}/plans", json=body).json()
    made = api.get(f"{project}/plans/{plan['id']}/trainer-files/{trainer}")
    assert made.status_code == 200, made.text
    assert "attachment" in made.headers["content-disposition"]
    read = api.post("/trainer-files/read", files={"file": ("again", made.content)}).json()
    assert read["trainer"] == trainer
    assert (read["request"]["lora"]["rank"], read["request"]["sequence_length"]) == (16, 768)
    assert read["request"]["workload"]["epochs"] == 2


def test_no_file_for_a_trainer_or_a_plan_that_is_not_there(
    api: ApiClient, other_api: ApiClient, project: str
) -> None:
    body = {"name": "LoRA", "model": "llama-7b", "method": "lora"}
    path = f"{project}/plans/{api.post(f'{project}/plans', json=body).json()['id']}/trainer-files"
    assert api.get(f"{path}/keras").status_code == 422
    assert other_api.get(f"{path}/trl").status_code == 404


def test_files_fill_the_plans_form(clients: Clients, team: Team, project: str) -> None:
    pages = clients.pages(team)
    files = {"trainer_file": ("sft.yaml", LLAMA_FACTORY), "dataset_file": ("qa.jsonl", ALPACA)}
    answer = pages.post(f"{project}/plans/from-files", files=files)
    assert answer.status_code == 200
    assert 'value="llama-7b"' in answer.text
    assert 'value="1024"' in answer.text
    assert "my_own_switch" in answer.text
    assert "3 samples" in answer.text


def test_a_file_that_says_nothing_leaves_the_form_as_it_was(clients: Clients, team: Team, project: str) -> None:
    pages = clients.pages(team)
    answer = pages.post(f"{project}/plans/from-files", files={"trainer_file": ("x.yaml", "a: [")})
    assert answer.status_code == 422
    assert "notice-error" in answer.text
    assert pages.post(f"{project}/plans/from-files", data={"model": "gpt2"}).status_code == 422


def test_a_viewer_begins_no_plan(clients: Clients, team: Team, project: str) -> None:
    pages = clients.pages(team, "viewer")
    files = {"trainer_file": ("sft.yaml", LLAMA_FACTORY)}
    assert pages.post(f"{project}/plans/from-files", files=files).status_code == 403
