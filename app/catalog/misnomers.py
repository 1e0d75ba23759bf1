"""Instance families that are often described as having another GPU than they have; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from types import MappingProxyType

from app.catalog.packaged import read_packaged


@dataclass(frozen=True, slots=True)
class Misnomer:
    """What is said of a family, by locale (``en``, ``zh_CN``), and who says which GPU (``gpu``) it truly has."""

    gpu: str
    note: Mapping[str, str]
    source: str
    as_of: date


def find_misnomer(provider: str, instance_type: str) -> Misnomer | None:
    """The family is what stands before the first dot: ``GN7`` of ``GN7.2XLARGE32``."""
    return _by_family().get((provider, instance_type.partition(".")[0]))


@cache
def _by_family() -> Mapping[tuple[str, str], Misnomer]:
    content = read_packaged("misnomers")
    as_of = date.fromisoformat(content["compiled_on"])
    return MappingProxyType(
        {
            (row["provider"], row["family"]): Misnomer(row["gpu"], row["note"], row["source"], as_of)
            for row in content["families"]
        }
    )
