"""A price list brought in on the page: preview first, then the same file."""

import re

from starlette.testclient import TestClient

from tests.catalog.test_pages import text_of
from tests.catalog.test_price_list import A10, SLICE, own_offers, sheet
from tests.fixtures.clients import ApiClient

PATH = "/catalog/offers/import"


def preview(pages: TestClient, content: bytes) -> str:
    answer = pages.post(PATH, files={"file": ("prices.csv", content)}, data={"dry_run": "true"})
    assert answer.status_code == 200, answer.text
    return answer.text


def carried(page: str) -> dict[str, str]:
    found = re.search(r'name="content" value="([^"]+)"', page)
    assert found is not None
    return {"content": found[1], "dry_run": "false"}


def test_the_preview_stores_nothing_and_leads_to_the_import(pages: TestClient, viewer_api: ApiClient) -> None:
    page = preview(pages, sheet(A10, SLICE, A10.replace("a10", "a11")))
    text = text_of(page)
    assert "New 2 Changed 0 Known 0 Refused 1" in text
    assert "gpu: The catalogue has no GPU named a11." in text
    assert own_offers(viewer_api) == []
    answer = pages.post(PATH, data=carried(page))
    assert (answer.status_code, answer.headers["location"]) == (303, "/catalog")
    assert [offer["note"] for offer in own_offers(viewer_api)] == ["", "四分之一卡"]
    assert "2 new, 0 changed, 0 known, 1 refused." in text_of(pages.get("/catalog").text)


def test_the_preview_shows_what_a_price_was_and_will_be(pages: TestClient) -> None:
    pages.post(PATH, data=carried(preview(pages, sheet(A10))))
    assert "CNY 3.20 → CNY 2.95" in text_of(preview(pages, sheet(A10.replace("3.20", "2.95"))))
    known = preview(pages, sheet(A10))
    assert "There is nothing to import." in known
    assert 'name="content"' not in known


def test_unknown_columns_are_listed(pages: TestClient) -> None:
    content = sheet(A10).replace(b"note", b"colour")
    assert "Columns that are not used: colour." in text_of(preview(pages, content))


def test_a_long_preview_is_cut(pages: TestClient) -> None:
    rows = [A10.replace("hangzhou", f"r{number}") for number in range(203)]
    text = text_of(preview(pages, sheet(*rows)))
    assert "New 203" in text
    assert "3 further rows are not shown." in text


def test_a_wrong_file_is_said_at_its_field(pages: TestClient) -> None:
    wrong = pages.post(PATH, files={"file": ("prices.csv", b"a,b\n")}, data={"dry_run": "true"})
    assert wrong.status_code == 422
    assert "Line 1: These columns are missing: provider" in wrong.text
    for sent in ({}, {"content": "?", "dry_run": "false"}):
        nothing = pages.post(PATH, data=sent)
        assert nothing.status_code == 422
        assert "Choose a file." in nothing.text


def test_text_that_looks_like_markup_stays_text(pages: TestClient) -> None:
    page = preview(pages, sheet(A10.replace("ecs.gn7i-c8g1.2xlarge", "<script>alert(1)</script>")))
    assert "<script>alert" not in page


def test_a_viewer_sees_no_form_and_imports_nothing(viewer_pages: TestClient) -> None:
    assert "Import a price list" not in viewer_pages.get("/catalog").text
    assert viewer_pages.post(PATH, files={"file": ("prices.csv", sheet(A10))}).status_code == 403
