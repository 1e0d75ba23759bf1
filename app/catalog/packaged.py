"""Reads the packaged catalogue: JSON files beside this module, each with its sources and the day it was compiled."""

import json
from pathlib import Path
from typing import Any

DATA_FOLDER = Path(__file__).parent / "data"


def read_packaged(name: str) -> dict[str, Any]:
    """The parsed content of one file of the packaged catalogue, by its name without the ending."""
    content: dict[str, Any] = json.loads((DATA_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return content
