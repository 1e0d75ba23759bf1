"""A change names the version it was made from."""

import pytest

from app.errors import PreconditionFailed, PreconditionRequired
from app.versions import Precondition, etag


@pytest.mark.parametrize("header", ['"3"', '"1", "3"', "*"])
def test_a_matching_tag_passes(header: str) -> None:
    Precondition(header).check(3)


@pytest.mark.parametrize("header", ['"2"', 'W/"3"', "3", ""])
def test_another_a_weak_or_a_bare_tag_fails(header: str) -> None:
    with pytest.raises(PreconditionFailed):
        Precondition(header).check(3)


def test_no_tag_is_told_apart_from_a_wrong_one() -> None:
    with pytest.raises(PreconditionRequired):
        Precondition(None).check(3)


def test_a_forms_hidden_version_is_a_tag() -> None:
    Precondition.from_form("3").check(3)
    assert etag(3) == '"3"'
