"""The time zones a team can have."""

import pytest

from app.accounts.zones import DEFAULT_ZONE, is_zone, zone_names, zones_by_region


@pytest.mark.parametrize("name", [DEFAULT_ZONE, "UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "Asia/Urumqi"])
def test_places_are_zones(name: str) -> None:
    assert is_zone(name)
    assert name in zones_by_region()[name.partition("/")[0]]


@pytest.mark.parametrize(
    "name", ["", "CST", "Etc/GMT+8", "asia/shanghai", "Asia/Nowhere", "posix/Asia/Shanghai", "../etc/passwd"]
)
def test_what_is_no_place_is_no_zone(name: str) -> None:
    assert not is_zone(name)


def test_every_zone_is_listed_once() -> None:
    listed = [name for names in zones_by_region().values() for name in names]
    assert sorted(listed) == sorted(zone_names())
    assert len(listed) == len(set(listed)) > 300
