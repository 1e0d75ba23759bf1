"""``prices`` writes what gpuhunt publishes as a price list that the catalogue imports.

The library reads its lists from a folder here, in the form in which it publishes them.
"""

import csv
import io
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from app.catalog.gpuhunt_prices import NOTE, PROVIDERS
from tests.cli.conftest import Command
from tests.fixtures.clients import ApiClient

HEADER = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,"
    "spot,disk_size,gpu_vendor,flags,cpu_arch,provider_data"
)
AWS = """\
g5.xlarge,us-east-1,1.006,4,16.0,1,A10G,24.0,False,,nvidia,,x86,{}
g5.xlarge,us-east-1,0.4021567,4,16.0,1,A10G,24.0,True,,nvidia,,x86,{}
g5.xlarge,us-east-1,0.3999999,4,16.0,1,A10G,24.0,True,,nvidia,,x86,{}
p4d.24xlarge,eu-west-1,21.96,96,1152.0,8,A100,40.0,False,,nvidia,,x86,{}
m5.large,us-east-1,0.096,2,8.0,0,,,False,,,,x86,{}
odd.large,us-east-1,3.5,2,8.0,1,Gaudi2,96.0,False,,intel,,x86,{}
free.large,us-east-1,0.0,2,8.0,1,A10G,24.0,False,,nvidia,,x86,{}
"""
LAMBDA = "gpu_1x_h100_sxm5,us-south-1,3.29,26,225.0,1,H100,80.0,False,,nvidia,,x86,{}\n"


def publish(folder: Path, provider: str, rows: str) -> None:
    place = folder / provider
    (place / "20261201").mkdir(parents=True)
    (place / "version").write_text("20261201")
    with zipfile.ZipFile(place / "20261201" / "catalog.zip", "w") as archive:
        archive.writestr(f"{provider}.csv", f"{HEADER}\n{rows}")


@pytest.fixture
def prices(bare_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    for provider in PROVIDERS:
        publish(tmp_path, provider, {"aws": AWS, "lambdalabs": LAMBDA}.get(provider, ""))
    monkeypatch.setenv("GPUHUNT_CATALOG_URL", tmp_path.as_uri())
    return bare_command


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_list_holds_the_known_gpus_once_at_their_cheapest(prices: Command) -> None:
    outcome = prices("prices")
    assert (outcome.status, outcome.err) == (0, "")
    shown = ("provider", "instance_type", "gpu", "gpu_count", "billing", "price_per_hour")
    assert [tuple(row[name] for name in shown) for row in rows_of(outcome.out)] == [
        ("aws", "g5.xlarge", "a10g", "1", "on_demand", "1.006"),
        ("aws", "g5.xlarge", "a10g", "1", "spot", "0.4"),
        ("aws", "p4d.24xlarge", "a100-pcie-40", "8", "on_demand", "21.96"),
        ("lambda", "gpu_1x_h100_sxm5", "h100-pcie", "1", "on_demand", "3.29"),
    ]
    assert [row["note"] for row in rows_of(outcome.out)] == ["", "", NOTE, NOTE]


@pytest.mark.parametrize(
    ("options", "types"),
    [
        (["--provider", "lambdalabs"], ["gpu_1x_h100_sxm5"]),
        (["--gpu", "a10g"], ["g5.xlarge", "g5.xlarge"]),
        (["--region", "eu-west-1"], ["p4d.24xlarge"]),
        (["--provider", "aws", "--gpu", "h100-pcie"], []),
    ],
)
def test_it_can_be_narrowed(prices: Command, options: list[str], types: list[str]) -> None:
    assert [row["instance_type"] for row in rows_of(prices("prices", *options).out)] == types


def test_what_it_writes_is_imported_as_it_is(prices: Command, editor_api: ApiClient) -> None:
    text = prices("prices").out
    files = {"file": ("prices.csv", text.encode(), "text/csv")}
    made = editor_api.post("/catalog/offers/import", files=files)
    assert made.status_code == 200, made.text
    assert (made.json()["counts"], made.json()["unknown_columns"]) == (
        {"new": 4, "changed": 0, "known": 0, "refused": 0}, [])  # fmt: skip
    assert editor_api.post("/catalog/offers/import", files=files).json()["counts"]["known"] == 4


def test_a_provider_whose_list_is_gone_is_named(prices: Command, tmp_path: Path) -> None:
    (tmp_path / "gcp" / "version").unlink()
    outcome = prices("prices", "--gpu", "a10g")
    assert (outcome.status, len(rows_of(outcome.out))) == (0, 2)
    assert outcome.err.strip() == "No prices of: gcp."


def test_nothing_to_be_had_is_one_line(prices: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUHUNT_CATALOG_URL", (tmp_path / "nowhere").as_uri())
    refused = prices("prices")
    assert refused.status == 1
    assert refused.complaint.startswith("Error: No prices could be fetched: ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--provider", "tencent"], "Error: --provider: Choose one of: aws, azure"),
        (["--gpu", "a11"], "Error: --gpu: There is no such GPU in the catalogue."),
    ],
)
def test_an_unknown_name_is_refused(prices: Command, options: list[str], words: str) -> None:
    refused = prices("prices", *options)
    assert refused.status == 2
    assert refused.complaint.startswith(words)


def test_too_many_prices_for_an_import_are_refused(prices: Command, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "runpod")
    many = "".join(f"box-{number},here,1.0,4,16.0,1,L4,24.0,False,,nvidia,,x86,{{}}\n" for number in range(5_001))
    publish(tmp_path, "runpod", many)
    refused = prices("prices", "--provider", "runpod")
    assert refused.status == 2
    assert "--gpu: These are 5001 prices" in refused.complaint


def test_without_the_extra_it_says_how_to_get_it(prices: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gpuhunt", None)
    refused = prices("prices")
    assert refused.status == 1
    assert "pip install 'tuneledger[gpuhunt]'" in refused.complaint
