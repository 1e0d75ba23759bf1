"""A digest of what a report was built from: equal inputs give equal digests, so a later change of the past shows."""

import hashlib
import json
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any


def digest_of(inputs: Sequence[Any]) -> str:
    """The SHA-256 of the inputs in a canonical form: decimals without trailing zeros, instants in ISO form."""
    text = json.dumps(inputs, default=_canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no canonical form")
