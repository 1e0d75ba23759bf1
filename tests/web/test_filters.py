"""How figures stand on pages."""

from typing import Any

import pytest

from app.web.filters import FILTERS


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (-0.0, "0.0"), (0.003, "0.0"), (0.05, "0.05"), (0.0833, "0.08"), (0.5, "0.5"), (0.96, "0.96"),
        (1.04, "1.0"), (12.345, "12.3"), (1234.5, "1,234.5"), (-0.25, "\u22120.25"),
    ],
)  # fmt: skip
def test_hours_say_minutes_where_they_are_few(value: float, text: str) -> None:
    hours: Any = FILTERS["hours"]
    assert hours({"language": "en"}, value) == text
