"""No request can make us send a browser to another site."""

import pytest

from app.accounts.local_paths import is_local, local_path, path_of_referer


@pytest.mark.parametrize("path", ["/", "/projects/3", "/reports/weekly?week=2026-W49&project=3", "/catalog?a=%20"])
def test_paths_of_this_site(path: str) -> None:
    assert is_local(path)
    assert local_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "", "//evil.example", "/\\evil.example", "\\/evil.example", "https://evil.example", "javascript:alert(1)",
        "/\t/evil.example", "/a\\b", "/a\r\nSet-Cookie: x=y", "projects", "/项目", " /projects", "/ /evil.example",
    ],
)  # fmt: skip
def test_anything_else_leads_to_the_start(path: str) -> None:
    assert not is_local(path)
    assert local_path(path) == "/"


def test_without_a_wish_the_start() -> None:
    assert local_path(None) == "/"


@pytest.mark.parametrize(
    ("referer", "path"),
    [
        ("http://127.0.0.1:8000/projects/3?tab=runs", "/projects/3?tab=runs"),
        ("http://127.0.0.1:8000", "/"),
        ("http://127.0.0.1:9000/projects/3", "/"),
        ("https://evil.example/projects", "/"),
        ("http://127.0.0.1:8000//evil.example", "/"),
        ("http://[", "/"),
        ("", "/"),
        (None, "/"),
    ],
)
def test_the_page_that_a_form_stood_on(referer: str | None, path: str) -> None:
    assert path_of_referer(referer, "127.0.0.1:8000") == path
