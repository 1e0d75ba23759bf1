"""Common advice on renting GPUs, checked: what holds, what does not, and on what evidence; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any, Literal

from app.catalog.packaged import read_packaged

Verdict = Literal["holds", "plausible", "depends", "misleading", "contradicted", "unverifiable"]


@dataclass(frozen=True, slots=True)
class Advice:
    """A claim as it is told, and what was found; texts by locale (``en``, ``zh_CN``)."""

    id: str
    verdict: Verdict
    claim: Mapping[str, str]
    evidence: Mapping[str, str]
    sources: tuple[str, ...]
    as_of: date


@cache
def list_advice() -> tuple[Advice, ...]:
    """All of it, in the order of the data."""
    content = read_packaged("advice")
    as_of = date.fromisoformat(content["compiled_on"])
    return tuple(_advice(row, as_of) for row in content["advice"])


def _advice(row: Mapping[str, Any], as_of: date) -> Advice:
    return Advice(row["id"], row["verdict"], row["claim"], row["evidence"], tuple(row["sources"]), as_of)
