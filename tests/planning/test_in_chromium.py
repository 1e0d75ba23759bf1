"""The plan's form in a real browser: the estimate follows what is typed."""

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
