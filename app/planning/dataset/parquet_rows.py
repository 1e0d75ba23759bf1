"""Run as a process of its own by ``parquet.py``: prints the rows of a Parquet file as JSON Lines.

The reader panics and can run out of memory or of stack on a broken or malicious file; a process of its own, with limits
of its own, is all that such a file brings down. Nothing of the product is imported, so that it starts quickly.
"""

import json
import resource
import sys
from collections.abc import Iterator
from typing import Any

MOST_CPU_SECONDS = 120
# Small, because all rows of a batch are in memory together and one dictionary value may stand in every one of them.
ROWS_A_BATCH = 64


def rows(path: str, wanted: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Every row with the columns that are wanted; the names of the others come with the first."""
    from arro3.io import read_parquet  # noqa: PLC0415 - only once the limits are set

    reader = read_parquet(path, batch_size=ROWS_A_BATCH)
    names = reader.schema.names
    used = [name for name in names if name.strip().lower() in wanted]
    others: dict[str, Any] = dict.fromkeys(names)
    for batch in reader:
        columns = [batch.column(name).to_pylist() for name in used]
        for values in zip(*columns, strict=True) if columns else [()]:
            yield {**others, **dict(zip(used, values, strict=True))}
            others = {}


def plain(value: object) -> str | int:
    """Text that the file does not declare as such; a figure in place of whatever is no text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else 0


def main(path: str, memory_bytes: str, *wanted: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (int(memory_bytes), int(memory_bytes)))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_SECONDS, MOST_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for row in rows(path, frozenset(wanted)):
        sys.stdout.write(json.dumps(row, ensure_ascii=False, default=plain) + "\n")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    main(*sys.argv[1:])
