"""Planning in a real browser: the estimate follows what is typed, and a plan comes from files and a search."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.fixtures.clients import ApiClient

pytestmark = [pytest.mark.browser, pytest.mark.one_database]


@pytest.fixture
def form(page: Page, api: ApiClient) -> Page:
    """The empty form of a new plan."""
    budget = {"amount": "500", "period": "total", "starts_on": "2026-10-01"}
    answer = api.post("/projects", json={"name": "中文问答", "currency": "CNY", "budget": budget})
    page.goto(f"/projects/{answer.json()['id']}/plans/new")
    return page


def test_the_estimate_follows_the_form_before_the_plan_has_a_name(form: Page) -> None:
    result = form.locator("#plan-result")
    form.get_by_label("Model", exact=True).fill("sdxl")
    form.get_by_label("LoRA targets").fill("to_q, to_v")
    form.get_by_label("Image size").fill("1024")
    form.get_by_label("or GPU").select_option("rtx-4090")
    form.get_by_label("Samples").fill("1000")
    # Several changes in a row: the last one is what is shown.
    expect(result).to_contain_text("Largest micro-batch that fits")
    expect(result).to_contain_text("Steps")
    result.get_by_text("Moments and formulas").click()
    expect(result).to_contain_text("2,567,463,684")
    expect(result).to_contain_text("merging the adapters")


def test_what_several_cards_share_is_chosen_on_the_form(form: Page) -> None:
    form.get_by_label("Method").select_option("full")
    form.get_by_label("or GPU").select_option("a100-sxm-80")
    form.get_by_label("GPUs").fill("4")
    result = form.locator("#plan-result")
    expect(result).to_contain_text("GiB too much")
    form.get_by_label("Parallelism").select_option("fsdp")
    expect(result).to_contain_text("GiB free")


def test_applying_a_change_writes_it_into_the_form(form: Page) -> None:
    form.get_by_label("or GPU").select_option("a10")
    form.get_by_label("Own price per hour").fill("3.20")
    form.get_by_label("Billing").select_option("spot")
    form.get_by_label("Training tokens").fill("50000000")
    form.get_by_label("Interruptions an hour").fill("0.5")
    form.get_by_label("Checkpoint every").fill("240")
    result = form.locator("#plan-result")
    line = result.get_by_role("listitem").filter(has_text="a checkpoint every")
    line.first.get_by_role("button", name="Apply").click()
    expect(form.get_by_label("Checkpoint every")).not_to_have_value("240")


TRAINER = """\
model_name_or_path: Qwen/Qwen2.5-7B
stage: sft
finetuning_type: lora
lora_target: all
dataset: qa_zh
cutoff_len: 512
num_train_epochs: 3
bf16: true
"""


def test_from_a_data_file_and_300_yuan_to_an_approved_plan(form: Page, tmp_path: Path) -> None:
    """The journey of a team that has a file and a budget."""
    rows = [{"instruction": "什么是微调？" * 5, "output": "在已有模型上继续训练。" * 10}] * 2000
    data = tmp_path / "qa.jsonl"
    data.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    (tmp_path / "sft.yaml").write_text(TRAINER, "utf-8")
    form.get_by_text("Begin with your files").click()
    form.get_by_label("Trainer's file").set_input_files(tmp_path / "sft.yaml")
    form.get_by_label("Sample of the data set").set_input_files(data)
    form.get_by_role("button", name="Read the files").click()
    expect(form.get_by_text("2000 samples")).to_be_visible()
    form.get_by_label("Budget to stay within").fill("300")
    form.get_by_role("button", name="Find an instance").click()
    expect(form.get_by_text("Cheapest with room to spare:")).to_be_visible()
    expect(form.get_by_role("img", name="Cost against time")).to_be_visible()
    form.get_by_label("Provider", exact=True).select_option("autodl")
    expect(form).to_have_url(re.compile("providers=autodl"))
    expect(form.locator("#search-result tbody tr").first).to_contain_text("AutoDL")
    form.get_by_role("link", name="Plan this").first.click()
    expect(form.locator("#plan-result")).to_contain_text("GiB free")
    form.get_by_label("Name of the plan").fill("LoRA on AutoDL")
    form.get_by_role("button", name="Save the plan").click()
    form.get_by_role("button", name="Approve").click()
    expect(form.get_by_text("approved", exact=True)).to_be_visible()
