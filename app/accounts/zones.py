"""The IANA time zones that a team can choose from."""

from collections.abc import Mapping
from functools import cache
from itertools import groupby
from types import MappingProxyType
from zoneinfo import available_timezones

DEFAULT_ZONE = "Asia/Shanghai"

# The rest are abbreviations and offsets without a place, whose rules nobody can look up.
_REGIONS = frozenset(
    "Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific".split()
)


@cache
def zone_names() -> tuple[str, ...]:
    """All zones named after a place, and UTC."""
    places = (name for name in available_timezones() if name.partition("/")[0] in _REGIONS)
    return ("UTC", *sorted(places))


def is_zone(name: str) -> bool:
    """Whether a team can have this zone."""
    return name in zone_names()


@cache
def zones_by_region() -> Mapping[str, tuple[str, ...]]:
    """The zones as a list to choose from shows them: by continent or ocean."""
    grouped = groupby(zone_names(), key=lambda name: name.partition("/")[0])
    return MappingProxyType({region: tuple(names) for region, names in grouped})
