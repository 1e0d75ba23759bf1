"""A price list in CSV: what is read, what is refused, and that a second time changes nothing."""

from typing import Any

import pytest

from app.catalog.price_list import LARGEST_BYTES, MOST_ROWS, PriceListError, read_price_list
from tests.fixtures.clients import ApiClient

HEADER = "provider,instance_type,gpu,gpu_count,region,billing,price_per_hour,currency,as_of,source,note"
A10 = "alibaba,ecs.gn7i-c8g1.2xlarge,a10,1,cn-hangzhou,spot,3.20,CNY,2026-11-30,console,"
SLICE = "tencent,GN7.LARGE20,t4,0.25,ap-guangzhou,on_demand,2.17,CNY,,,四分之一卡"


def sheet(*rows: str) -> bytes:
    return "\r\n".join([HEADER, *rows, ""]).encode()


def post(api: ApiClient, content: bytes, **form: str) -> Any:
    return api.post("/catalog/offers/import", files={"file": ("prices.csv", content)}, data=form)


def verdicts(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [row["verdict"] for row in answer.json()["rows"]]


def own_offers(api: ApiClient) -> list[dict[str, Any]]:
    return [offer for offer in api.get("/catalog/offers", params={"limit": 500}).json()["items"] if offer["own"]]


# --- Reading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_every_usual_encoding_is_read(encoding: str) -> None:
    (line,) = read_price_list(sheet(SLICE).decode().encode(encoding)).lines
    assert (line.number, line.cells["provider"], line.cells["note"]) == (2, "tencent", "四分之一卡")


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_semicolons_and_tabs_part_columns_too(delimiter: str) -> None:
    text = "provider,instance_type,gpu,price_per_hour,currency\nhere,box,a10,3.20,CNY\n".replace(",", delimiter)
    (line,) = read_price_list(b"\xef\xbb\xbf" + text.encode()).lines
    assert (line.cells["provider"], line.cells["price_per_hour"], line.has_more_cells) == ("here", "3.20", False)


def test_columns_stand_in_any_order_and_unknown_ones_are_listed() -> None:
    content = b"Currency,colour,GPU,price_per_hour,provider, instance_type ,size\nCNY,red,a10,3.20,here,box,L\n"
    read = read_price_list(content)
    assert read.unknown_columns == ["colour", "size"]
    assert dict(read.lines[0].cells) == {
        "currency": "CNY", "gpu": "a10", "price_per_hour": "3.20", "provider": "here", "instance_type": "box",
    }  # fmt: skip


def test_the_apostrophe_of_our_own_exports_is_taken_off() -> None:
    row = "here,\"'=A1\",a10,1,'ab,spot,3.20,CNY,,'  -x,'+1"
    cells = read_price_list(sheet(row)).lines[0].cells
    assert [cells[name] for name in ("instance_type", "region", "source", "note")] == ["=A1", "'ab", "-x", "+1"]


def test_a_day_that_a_spreadsheet_wrote_is_read() -> None:
    cells = read_price_list(sheet(A10.replace("2026-11-30", "2026/11/3"))).lines[0].cells
    assert cells["as_of"] == "2026-11-03"


def test_lines_are_counted_as_an_editor_does() -> None:
    rows = [A10 + '"two', 'lines"', "", SLICE]
    assert [line.number for line in read_price_list(sheet(*rows)).lines] == [2, 5]


@pytest.mark.parametrize(
    ("content", "reason", "line", "name"),
    [
        (b"", "columns_missing", 1, "provider, instance_type, gpu, price_per_hour, currency"),
        (b"provider,gpu,price_per_hour,currency\n", "columns_missing", 1, "instance_type"),
        ((HEADER + ",GPU\n").encode(), "column_twice", 1, "gpu"),
        (sheet(A10, 'here,"box'), "not_csv", 3, ""),
        (sheet(A10, 'here,"box"x,a10'), "not_csv", 3, ""),
        (b"\xff\xff\xff", "not_text", None, ""),
        (b"x" * (LARGEST_BYTES + 1), "too_large", None, ""),
        (sheet(*[A10] * (MOST_ROWS + 1)), "too_many_rows", MOST_ROWS + 2, ""),
    ],
)
def test_what_is_no_price_list_is_refused_with_its_line(
    content: bytes, reason: str, line: int | None, name: str
) -> None:
    with pytest.raises(PriceListError) as caught:
        read_price_list(content)
    assert (caught.value.reason, caught.value.line, caught.value.name) == (reason, line, name)


# --- Importing ------------------------------------------------------------------------------------------------------


def test_rows_become_offers_of_the_team(editor_api: ApiClient) -> None:
    answer = post(editor_api, sheet(A10, SLICE)).json()
    assert answer["counts"] == {"new": 2, "changed": 0, "known": 0, "refused": 0}
    a10, quarter = own_offers(editor_api)
    assert [row["offer_id"] for row in answer["rows"]] == [a10["id"], quarter["id"]]
    assert a10["price_per_hour"] == {"amount": "3.20", "currency": "CNY"}
    assert (a10["billing"], a10["as_of"], a10["source"]) == ("spot", "2026-11-30", "console")
    assert (quarter["gpu_count"], quarter["as_of"], quarter["note"]) == (0.25, None, "四分之一卡")


def test_a_second_time_changes_nothing(editor_api: ApiClient) -> None:
    post(editor_api, sheet(A10, SLICE))
    before = own_offers(editor_api)
    assert verdicts(post(editor_api, sheet(A10, SLICE))) == ["known", "known"]
    assert own_offers(editor_api) == before
    prices = editor_api.get(f"/catalog/offers/{before[0]['id']}/prices").json()["items"]
    assert len(prices) == 1


def test_a_new_price_changes_the_offer_and_keeps_the_old_one(editor_api: ApiClient) -> None:
    post(editor_api, sheet(A10))
    answer = post(editor_api, sheet(A10.replace("3.20", "2.95"))).json()
    (offer,) = own_offers(editor_api)
    assert answer["rows"] == [
        {"line": 2, "verdict": "changed", "reason": "Changed: price_per_hour.", "offer_id": offer["id"]}
    ]
    assert offer["price_per_hour"]["amount"] == "2.95"
    prices = editor_api.get(f"/catalog/offers/{offer['id']}/prices").json()["items"]
    assert [price["price_per_hour"]["amount"] for price in prices] == ["3.20", "2.95"]


def test_another_key_is_another_offer(editor_api: ApiClient) -> None:
    post(editor_api, sheet(A10))
    others = [A10.replace("spot", "on_demand"), A10.replace("a10,1,", "a10,2,"), A10.replace("hangzhou", "beijing")]
    assert verdicts(post(editor_api, sheet(*others, A10.replace("a10", "A10")))) == ["new", "new", "new", "known"]


def test_a_column_that_is_left_out_changes_nothing(editor_api: ApiClient) -> None:
    post(editor_api, sheet(A10))
    short = b"provider,instance_type,gpu,region,billing,price_per_hour,currency\n"
    row = b"alibaba,ecs.gn7i-c8g1.2xlarge,a10,cn-hangzhou,spot,3.10,cny\n"
    assert verdicts(post(editor_api, short + row)) == ["changed"]
    (offer,) = own_offers(editor_api)
    assert (offer["price_per_hour"]["amount"], offer["source"], offer["as_of"]) == ("3.10", "console", "2026-11-30")


def test_refused_rows_say_why_and_the_rest_is_applied(editor_api: ApiClient) -> None:
    rows = [
        A10.replace("a10", "a11"),
        A10.replace("3.20", "-3"),
        A10.replace("3.20", ""),
        A10.replace("CNY", "RMB"),
        A10.replace("a10,1,", "a10,1.5,"),
        A10.replace("spot", "weekly"),
        A10 + "x,y,z",
        A10,
        A10.replace("3.20", "9.99"),
    ]
    answer = post(editor_api, sheet(*rows)).json()
    assert answer["counts"] == {"new": 1, "changed": 0, "known": 0, "refused": 8}
    reasons = [row["reason"] for row in answer["rows"]]
    assert reasons == [
        "gpu: The catalogue has no GPU named a11.",
        "price_per_hour: This amount cannot be negative.",
        "price_per_hour: This field is required.",
        "currency: Use an ISO 4217 code such as CNY or USD.",
        "gpu_count: Write a whole number, or a share of one card below 1.",
        "billing: Choose one of: on_demand, spot, monthly.",
        "This row has more cells than the first line.",
        None,
        "Line 9 holds the same offer.",
    ]
    assert [offer["price_per_hour"]["amount"] for offer in own_offers(editor_api)] == ["3.20"]


def test_a_dry_run_stores_nothing(editor_api: ApiClient) -> None:
    answer = post(editor_api, sheet(A10), dry_run="true").json()
    assert answer["rows"] == [{"line": 2, "verdict": "new", "reason": None, "offer_id": None}]
    assert own_offers(editor_api) == []


def test_packaged_offers_and_other_teams_offers_are_left_alone(editor_api: ApiClient, other_api: ApiClient) -> None:
    query = {"gpu": "a10", "provider": "alibaba", "region": "cn-wulanchabu"}
    packaged = editor_api.get("/catalog/offers", params=query).json()["items"]
    same = [
        f"alibaba,{offer['instance_type']},a10,1,cn-wulanchabu,on_demand,1.00,CNY,,," for offer in packaged
    ]
    assert verdicts(post(editor_api, sheet(*same))) == ["new"] * len(same)
    assert other_api.get("/catalog/offers", params=query).json()["items"] == packaged
    assert verdicts(post(other_api, sheet(*same))) == ["new"] * len(same)


def test_a_deleted_offer_is_not_brought_back(editor_api: ApiClient) -> None:
    post(editor_api, sheet(A10))
    (offer,) = own_offers(editor_api)
    editor_api.delete(f"/catalog/offers/{offer['id']}", headers={"If-Match": '"1"'})
    assert verdicts(post(editor_api, sheet(A10))) == ["new"]


def test_a_malformed_file_names_file_and_line(editor_api: ApiClient) -> None:
    answer = post(editor_api, sheet(A10, 'here,"box'))
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"field": "file", "message": "Line 3: This cannot be read as CSV."}]
    assert own_offers(editor_api) == []
    missing = editor_api.post("/catalog/offers/import", data={"dry_run": "true"})
    assert [error["field"] for error in missing.json()["errors"]] == ["file"]
    assert post(editor_api, sheet(A10), dry_run="perhaps").json()["errors"][0]["field"] == "dry_run"


def test_a_large_file_is_imported_whole(editor_api: ApiClient) -> None:
    rows = [A10.replace("hangzhou", f"r{number}") for number in range(1000)]
    assert post(editor_api, sheet(*rows)).json()["counts"]["new"] == 1000
    assert post(editor_api, sheet(*rows)).json()["counts"]["known"] == 1000


def test_a_repeated_post_is_answered_as_before(editor_api: ApiClient) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="p.csv"\r\n\r\n'
    body = head + sheet(A10) + b"\r\n--b--\r\n"
    headers = {"Idempotency-Key": "k", "Content-Type": "multipart/form-data; boundary=b"}
    first = editor_api.post("/catalog/offers/import", content=body, headers=headers)
    again = editor_api.post("/catalog/offers/import", content=body, headers=headers)
    assert verdicts(first) == ["new"]
    assert again.json() == first.json()


def test_a_viewer_imports_nothing(viewer_api: ApiClient) -> None:
    assert post(viewer_api, sheet(A10)).status_code == 403
