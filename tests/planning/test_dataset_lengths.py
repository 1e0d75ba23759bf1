"""Lengths of an uploaded data set: every format and layout by hand, and bad files of every kind."""

import csv
import io
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from arro3.core import Array, DataType, Table
from arro3.io import infer_json_schema, read_json, write_parquet
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.errors import InvalidInput
from app.i18n import translate
from app.planning.dataset import DatasetLengths, measure_dataset
from app.planning.dataset.approximation import MODERN, SMALL, approximate_tokens, rates_of
from app.planning.dataset.limits import Limits
from app.planning.dataset.statistics import quantiles

CHAT = [
    {"role": "system", "content": "Be brief"},
    {"role": "user", "content": [{"type": "text", "text": "How long"}, {"type": "text", "text": " is it"}]},
    {"role": "assistant", "content": "Four words it is"},
]
# By layout: a sample, how many words it has and how many turns.
SAMPLES: dict[str, tuple[dict[str, Any], int, int]] = {
    "alpaca": ({"instruction": "Add these numbers", "input": "one two", "output": "three"}, 6, 2),
    "sharegpt": (
        {
            "conversations": [{"from": "human", "value": "Good day"}, {"from": "gpt", "value": "And to you"}],
            "system": "Be kind",
        },
        7,
        3,
    ),
    "messages": ({"messages": CHAT}, 10, 3),
    "text": ({"text": "Only a few plain words"}, 5, 0),
    "prompt-completion": ({"question": "Who is there", "answer": "Nobody"}, 4, 2),
}


def as_jsonl(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_json(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps(rows, indent=2, ensure_ascii=False).encode()


def as_json_object(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps({"version": 1.5, "data": rows, "more": []}).encode()


def as_csv(rows: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(value if isinstance(value, str) else json.dumps(value) for value in row.values())
    return text.getvalue().encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    # A struct has one type: the parts of a content become its text.
    plain = json.loads(json.dumps(rows), object_hook=_joined)
    lines = as_jsonl(plain)
    file = io.BytesIO()
    write_parquet(read_json(io.BytesIO(lines), infer_json_schema(io.BytesIO(lines))), file)
    return file.getvalue()


def _joined(item: dict[str, Any]) -> dict[str, Any]:
    content = item.get("content")
    if isinstance(content, list):
        item["content"] = "".join(part["text"] for part in content)
    return item


FORMATS: dict[str, tuple[str, Callable[[list[dict[str, Any]]], bytes]]] = {
    "JSON Lines": ("jsonl", as_jsonl),
    "JSON array": ("json", as_json),
    "JSON object": ("json", as_json_object),
    "CSV": ("csv", as_csv),
    "Parquet": ("parquet", as_parquet),
}


@pytest.fixture(scope="module")
def words() -> bytes:
    """A tokenizer that makes a token of every word, set to cut and to fill up, which must not matter."""
    from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: PLC0415 - an extra

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=50)
    return tokenizer.to_str().encode()


def measure(
    data: bytes, name: str = "sample", tokenizer: bytes | None = None, **options: Any
) -> DatasetLengths:
    return measure_dataset(io.BytesIO(data), name, tokenizer, **options)


def refusal(data: bytes, name: str = "sample", tokenizer: bytes | None = None, **options: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        measure(data, name, tokenizer, **options)
    (error,) = caught.value.errors
    return f"{error.field}: {translate(error.message, 'en')}"


def told(result: DatasetLengths) -> list[tuple[int, str]]:
    return [(place, translate(reason, "en")) for place, reason in result.skipped]


# --- Formats and layouts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", SAMPLES)
@pytest.mark.parametrize("kind", FORMATS)
def test_every_layout_in_every_format_is_counted_exactly(kind: str, layout: str, words: bytes) -> None:
    name, write = FORMATS[kind]
    sample, count, turns = SAMPLES[layout]
    result = measure(write([sample] * 3), "sample", words)
    assert (result.format, result.layout, result.samples) == (name, layout, 3)
    assert result.mean_tokens == result.longest_tokens == count + 5 * turns
    assert (result.is_exact, result.is_truncated, result.skipped_count) == (True, False, 0)
    assert measure(write([sample]), "sample", words, template=False).longest_tokens == count


def test_the_columns_used_and_ignored_are_told(words: bytes) -> None:
    row = {"id": 7, "Question": "Who", "answer": "Me", "source": None}
    for write in (as_jsonl, as_csv, as_parquet):
        result = measure(write([row]), "sample", words)
        assert result.columns == {"prompt": "Question", "completion": "answer"}
        assert set(result.columns_ignored) <= {"id", "source"}
        assert "id" in result.columns_ignored


def test_earlier_turns_and_the_system_prompt_count(words: bytes) -> None:
    row = {
        "instruction": "And now", "input": "", "output": "Yes", "system": "Be kind",
        "history": [["one two", "three"], ["four", "five"]],
    }  # fmt: skip
    for write in (as_jsonl, as_csv, as_parquet):
        assert measure(write([row]), "x", words).longest_tokens == 10 + 5 * 7


def test_optional_columns_may_come_later(words: bytes) -> None:
    first: dict[str, Any] = {"instruction": "a", "output": "b"}
    rows = [first, first | {"input": "c", "id": 1}]
    result = measure(as_jsonl(rows), "x", words)
    assert result.longest_tokens == 3 + 10
    assert result.columns == {"instruction": "instruction", "output": "output", "input": "input"}
    assert result.columns_ignored == ("id",)


def test_calls_of_tools_count_as_their_json(words: bytes) -> None:
    turn = {"role": "assistant", "content": None, "tool_calls": [{"name": "look up", "arguments": "{}"}]}
    # [{"name": "look up", "arguments": "{}"}] is five words.
    assert measure(as_jsonl([{"messages": [turn]}]), "x", words).longest_tokens == 5 + 5


def test_quantiles_by_hand(words: bytes) -> None:
    rows = [{"text": "word " * length} for length in range(1, 101)]
    result = measure(as_jsonl(rows), "sample.jsonl", words)
    assert result.quantiles == {50: 50, 90: 90, 95: 95, 99: 99}
    assert (result.mean_tokens, result.longest_tokens) == (50.5, 100)
    assert quantiles([7]) == {50: 7, 90: 7, 95: 7, 99: 7}
    assert quantiles([4, 1, 3, 2]) == {50: 2, 90: 4, 95: 4, 99: 4}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_tables_in_their_encodings(encoding: str, delimiter: str, words: bytes) -> None:
    row = {"instruction": "请写 一首诗", "output": '床前,\n"明月" 光'}
    data = as_csv([row, row], delimiter).decode().encode(encoding)
    result = measure(data, "样本.csv", words)
    assert (result.samples, result.longest_tokens) == (2, 5 + 10)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "gb18030"])
@pytest.mark.parametrize("write", [as_jsonl, as_json])
def test_json_in_other_encodings(write: Callable[[Any], bytes], encoding: str, words: bytes) -> None:
    data = write([{"text": "你好 世界"}]).decode().encode(encoding)
    assert measure(data, "x", words).longest_tokens == 2


def test_the_content_tells_the_format_before_the_name_does(words: bytes) -> None:
    rows = [SAMPLES["text"][0]] * 2
    assert measure(as_parquet(rows), "x.csv", words).format == "parquet"
    assert measure(as_json(rows), "x.jsonl", words).format == "json"
    assert measure(as_jsonl(rows), "x.json", words).format == "jsonl"
    assert measure(b"text\na b\n", "x.csv", words).format == "csv"


def test_parquet_types_of_text(words: bytes) -> None:
    for kind in (DataType.large_string(), DataType.string_view()):
        file = io.BytesIO()
        write_parquet(Table.from_pydict({"text": Array(["a b", None, "c"], kind)}), file)
        result = measure(file.getvalue(), "x", words)
        assert (result.samples, result.longest_tokens) == (2, 2)
        assert told(result) == [(2, "“text” is missing.")]


# --- Rows that cannot be used ---------------------------------------------------------------------------------------


def test_rows_that_cannot_be_used_are_told_with_their_place(words: bytes) -> None:
    lines = [
        '{"instruction": "a", "output": "b"}',
        '{"instruction": 5, "output": "b"}',
        '{"instruction": "a"}',
        "",
        '{"instruction": "a" "output"}',
        "[1, 2]",
        '{"instruction": " ", "output": ""}',
        '{"instruction": "a", "output": "b", "history": "x"}',
        '{"instruction": "a", "output": "b", "history": [["x", 1]]}',
        '{"instruction": "a", "output": "b", "input": ["c"]}',
        "[" * 100_000,
    ]
    result = measure("\n".join(lines).encode(), "x.jsonl", words)
    assert (result.samples, result.skipped_count) == (1, 9)
    assert told(result) == [
        (2, "“instruction” is not text."),
        (3, "“output” is missing."),
        (5, "Not valid JSON at column 21: Expecting ',' delimiter"),
        (6, "It is no object with named fields."),
        (7, "It holds no text."),
        (8, "“history” is no list."),
        (9, "“history” is no list of pairs of texts."),
        (10, "“input” is not text."),
        (11, "Not valid JSON at column 1: It is nested too deeply."),
    ]


def test_turns_without_text_are_told(words: bytes) -> None:
    rows: list[dict[str, Any]] = [
        {"messages": CHAT},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
        {"messages": ["x"]},
        {"messages": 5},
        {"messages": None},
        {"messages": []},
    ]
    assert told(measure(as_jsonl(rows), "x", words)) == [
        (2, "Turn 1 of “messages” has no text."),
        (3, "Turn 1 of “messages” has no text."),
        (4, "“messages” is no list."),
        (5, "“messages” is missing."),
        (6, "It holds no text."),
    ]


def test_only_the_first_twenty_are_told() -> None:
    result = measure(b'{"text": "a"}\n' + b"{}\n" * 30)
    assert (len(result.skipped), result.skipped_count) == (20, 30)


def test_rows_of_a_table_with_the_wrong_number_of_cells(words: bytes) -> None:
    result = measure(b"prompt,completion\na,b\na\na,b,c\n\n", "x.csv", words)
    assert told(result) == [
        (3, "“completion” is missing."),
        (4, "The row has more cells than the header has columns."),
    ]


def test_a_line_in_another_encoding_is_told(words: bytes) -> None:
    line = b'{"text": "' + b"a" * 1_000 + b'"}\n'
    result = measure(line * 1_100 + '{"text": "中"}\n'.encode("gb18030"), "x", words)
    assert told(result) == [(1_101, "The line is not valid utf-8.")]


def test_parquet_columns_that_are_no_text(words: bytes) -> None:
    columns: dict[str, Any] = {
        "text": Array([b"a b", b"c"], DataType.binary()),
        "n": Array([1, 2], DataType.int64()),
    }
    file = io.BytesIO()
    write_parquet(Table.from_pydict(columns), file)
    assert measure(file.getvalue(), "x", words).longest_tokens == 2
    file = io.BytesIO()
    days = Array([1, 2], DataType.int32()).cast(DataType.date32())
    write_parquet(Table.from_pydict({"text": days}), file)
    assert refusal(file.getvalue(), "x", words).endswith("The first, at 1: “text” is not text.")


def test_a_lone_surrogate_is_counted_one_way_or_the_other(words: bytes) -> None:
    data = b'{"text": "a \\ud800 b"}'
    assert measure(data, "x", words).longest_tokens == 3
    assert measure(data).samples == 1


# --- Files that cannot be used --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "x.jsonl", "The file is empty."),
        (b" \n\n", "x.csv", "The file is empty."),
        (b"\x00\x01\x02", "x", "The file is neither text nor Parquet."),
        (b"\x1f\x8b\x08\x00", "x.jsonl.gz", "The file is compressed (gzip). Unpack it first."),
        ("text".encode("utf-16"), "x.csv", "The file is UTF-16. Save it as UTF-8."),
        (b"\xff" * 9, "x.csv", "The text is neither UTF-8 nor GB18030."),
        (b"hello", "x", "The format is not known. Send JSON Lines, JSON, CSV or Parquet."),
        (b"[]", "x", "The file holds no sample."),
        (b"text\n", "x.csv", "The file holds no sample."),
        (
            b'{"a": 1, "b": {}}',
            "x.json",
            "No sample of the file can be used. The first, at 1: None of its columns is known.",
        ),
        (b'{\n"a": 1, "b": {}}', "x.json", "The JSON object holds no array of samples."),
        (b'{\n"a" 1}', "x.json", "Not valid JSON at line 2, column 5: “:” is expected."),
        (b'[{"text": "a"},\n {"text": "b" "c"}]', "x", "Not valid JSON at line 2, column 15: Expecting ',' delimiter"),
        (b'[{"text": "a"}\n', "x", "Not valid JSON at line 2, column 1: “]” is expected."),
        (b'[{"text": "a"}, ', "x", "Not valid JSON at line 1, column 17: Expecting value"),
        (b"[" * 100_000, "x", "Not valid JSON at line 1, column 2: It is nested too deeply."),
        (b'[{"text": "' + b"a" * 2**20 + b'\xff"}]', "x", "The file is not valid utf-8."),
        (
            b"text\n" + (b"a" * 99 + b"\n") * 12_000 + b"\xff\n",
            "x.csv",
            "The table cannot be read at line 12002: The line is not valid utf-8.",
        ),
        (b"text,id\na\rb,c\n", "x.csv", None),
        (b"PAR1", "x", "The Parquet file cannot be read after row 0."),
        (b"PAR1" + b"x" * 60 + b"PAR1", "x", "The Parquet file cannot be read after row 0."),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_with_the_place(data: bytes, name: str, reason: str | None) -> None:
    if reason is None:
        assert refusal(data, name).startswith("file: The table cannot be read at line 2: ")
    else:
        assert refusal(data, name) == f"file: {reason}"


def test_a_damaged_parquet_file_says_how_far_it_could_be_read(words: bytes) -> None:
    data = bytearray(as_parquet([{"text": f"sample {number}"} for number in range(5_000)]))
    data[40:2_000] = b"\x00" * 1_960
    assert refusal(bytes(data), "x", words).startswith("file: The Parquet file cannot be read after row ")


def test_a_bomb_brings_down_its_own_process_only() -> None:
    # 64 rows of 2 MiB, which are in memory together, and a process that may have 100 MiB beside what it starts with.
    table = Table.from_pydict({"text": Array(["a" * 2**21] * 64, DataType.string())})
    file = io.BytesIO()
    write_parquet(table, file, compression="zstd(3)")
    assert len(file.getvalue()) < 2**20
    assert measure(file.getvalue()).samples == 64
    expected = "file: The Parquet file cannot be read after row 0."
    assert refusal(file.getvalue(), limits=Limits(memory_bytes=2**28)) == expected


# --- Limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS)
def test_rows_beyond_the_limit_are_left_unread(kind: str, words: bytes) -> None:
    data = FORMATS[kind][1]([{"text": "a b"}] * 50)
    for most, is_truncated in ((20, True), (50, False)):
        result = measure(data, "x", words, limits=Limits(rows=most))
        assert (result.samples, result.is_truncated) == (most, is_truncated)


@pytest.mark.parametrize("kind", ["JSON Lines", "JSON array", "CSV"])
def test_bytes_beyond_the_limit_are_left_unread(kind: str, words: bytes) -> None:
    data = FORMATS[kind][1]([{"text": "a b"}] * 50)
    for cut in range(1, 40):
        result = measure(data, "x.csv", words, limits=Limits(file_bytes=len(data) - cut))
        assert result.is_truncated
        assert 40 <= result.samples <= 50
    assert not measure(data, "x.csv", words, limits=Limits(file_bytes=len(data))).is_truncated


def test_a_tokenizer_is_given_so_many_characters(words: bytes) -> None:
    data = as_jsonl([{"text": "a b c d e "}] * 50)
    result = measure(data, "x", words, limits=Limits(exact_characters=95))
    assert (result.samples, result.is_truncated) == (10, True)
    assert measure(data, limits=Limits(exact_characters=95)).samples == 50


def test_parquet_is_read_whole_or_not_at_all(words: bytes) -> None:
    data = as_parquet([{"text": "a b"}] * 50)
    expected = f"file: The Parquet file is larger than {len(data) - 1} bytes."
    assert refusal(data, "x", words, limits=Limits(file_bytes=len(data) - 1)) == expected


def test_what_a_parquet_file_unpacks_to_is_limited_too(words: bytes) -> None:
    data = as_parquet([{"text": "a b" * 100}] * 5_000)
    result = measure(data, "x", words, limits=Limits(file_bytes=100_000))
    assert len(data) < 100_000
    assert result.is_truncated
    assert 200 < result.samples < 400


def test_a_row_of_a_table_that_the_limit_cuts_in_two_is_left_out(words: bytes) -> None:
    data = b'text\na\n"b\nc\nd"\n'
    for most in (9, 11, 12):
        result = measure(data, "x.csv", words, limits=Limits(file_bytes=most))
        assert (result.samples, result.is_truncated) == (1, True)
    assert measure(data, "x.csv", words).longest_tokens == 3


@pytest.mark.parametrize(("start", "name"), [(b'{"text": "a"}', "x.jsonl"), (b"text\na", "x.csv")])
def test_empty_lines_are_not_read_for_ever(start: bytes, name: str, words: bytes) -> None:
    data = start + b"\n" * 100
    assert measure(data, name, words, limits=Limits(lines=50)).is_truncated
    assert not measure(data, name, words, limits=Limits(lines=200)).is_truncated


def test_a_line_that_is_too_long_is_passed_over(words: bytes) -> None:
    data = as_jsonl([{"text": "a"}, {"text": "b" * 500}, {"text": "c d"}])
    result = measure(data, "x", words, limits=Limits(line_bytes=100))
    assert told(result) == [(2, "The line is longer than 100 bytes.")]
    assert (result.samples, result.longest_tokens) == (2, 2)


def test_a_row_or_a_member_that_is_too_long_is_refused() -> None:
    table = b'text\na\n"' + b"b\n" * 100
    assert refusal(table, "x.csv", limits=Limits(line_bytes=100)) == (
        "file: The table cannot be read at line 52: A row is longer than 100 bytes."
    )
    member = b'[{"text": "a"}, {"text": "' + b"b" * 3 * 2**20
    assert refusal(member, limits=Limits(line_bytes=2**20)).startswith(
        "file: Not valid JSON at line 1, column 26: "
    )


def test_long_samples_are_read_across_the_pieces_of_a_file(words: bytes) -> None:
    rows = [{"text": "word " * count} for count in (500_000, 1, 300_000)]
    for write in (as_jsonl, as_json, as_csv, as_parquet):
        assert measure(write(rows), "x", words).quantiles == {
            50: 300_000,
            90: 500_000,
            95: 500_000,
            99: 500_000,
        }


# --- The tokenizer --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokenizer", [b"", b"{}", b"\xff", b"[" * 10_000, b'{"model": {"type": "BPE"}}'])
def test_a_malformed_tokenizer_is_refused(tokenizer: bytes) -> None:
    assert refusal(b'{"text": "a"}', "x", tokenizer).startswith("tokenizer: The tokenizer cannot be used: ")


def test_a_tokenizer_that_fails_on_a_text_is_refused() -> None:
    from tokenizers import Tokenizer, models  # noqa: PLC0415 - an extra

    tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="[UNK]")).to_str().encode()
    assert refusal(b'{"text": "b"}', "x", tokenizer).startswith("tokenizer: The tokenizer cannot be used: ")


def test_a_tokenizer_that_is_too_large_is_refused() -> None:
    assert (
        refusal(b'{"text": "a"}', "x", b" " * (2**26 + 1))
        == "tokenizer: The tokenizer is larger than 67108864 bytes."
    )


def test_without_the_package_an_exact_count_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert "needs the package “tokenizers”" in refusal(b'{"text": "a"}', "x", b"{}")
    assert not measure(b'{"text": "a"}').is_exact


# --- The approximation ----------------------------------------------------------------------------------------------

ENGLISH = (
    "Photosynthesis is the process by which green plants, algae and some bacteria turn sunlight into chemical energy. "
    "During this process, plants absorb carbon dioxide from the air and water from the soil."
)
CHINESE = (
    "光合作用是绿色植物、藻类和某些细菌利用阳光把二氧化碳和水转化为有机物并释放氧气的过程。在这个过程中，叶绿素吸收光能，"
    "驱动一系列化学反应，最终生成葡萄糖。葡萄糖不仅为植物自身的生长提供能量，也是整个食物链的基础。"
)
CODE = (
    'def area(width: float, height: float) -> float:\n    """Square metres."""\n    return width * height\n'
)
RUSSIAN = "Фотосинтез — это процесс, при котором растения преобразуют солнечный свет в химическую энергию."


# Tokens that the tokenizer.json files of Qwen3, GPT-4o and Llama 3 make of the text, and that of Llama 2.
@pytest.mark.parametrize(
    ("text", "modern", "small", "tolerance"),
    [
        (ENGLISH, (37, 37, 37), 44, 0.1),
        (CHINESE, (62, 86, 91), 140, 0.2),
        (CODE, (24, 24, 24), 28, 0.2),
        (RUSSIAN, (30, 24, 30), 39, 0.1),
    ],
)
def test_the_approximation_is_near_what_real_tokenizers_count(
    text: str, modern: tuple[int, ...], small: int, tolerance: float
) -> None:
    mean = sum(modern) / len(modern)
    assert approximate_tokens(text, MODERN) == pytest.approx(mean, rel=tolerance)
    assert approximate_tokens(text, SMALL) == pytest.approx(small, rel=tolerance)


def test_the_approximation_by_hand() -> None:
    assert approximate_tokens("") == 0
    assert approximate_tokens("a") == 1
    # Two words of four letters: 2 × 0.79 + 8 × 0.052 = 1.996.
    assert approximate_tokens("look here") == 2
    # Ten ideographs at 0.65 with a full stop at 0.9: 7.4; of a small vocabulary 10 × 1.25 + 1 = 13.5.
    assert approximate_tokens("一二三四五六七八九十。") == 7
    assert approximate_tokens("一二三四五六七八九十。", SMALL) == 14
    # Ten digits at 1.1.
    assert approximate_tokens("1234567890") == 11
    # Words on both sides of what is not ASCII are two: 2 × 0.79 + 2 × 0.052 + 0.65 = 2.334.
    assert approximate_tokens("a中b") == 2


def test_the_vocabulary_chooses_the_rates() -> None:
    assert (rates_of(None), rates_of(151_936), rates_of(32_000)) == (MODERN, MODERN, SMALL)
    data = json.dumps({"text": CHINESE}).encode()
    assert measure(data, vocabulary=32_000).longest_tokens == approximate_tokens(CHINESE, SMALL)
    assert measure(data).longest_tokens == approximate_tokens(CHINESE, MODERN)


@given(st.text(), st.text(), st.sampled_from([MODERN, SMALL]))
@example("a", " ", MODERN)
@example("\n", " ", SMALL)
@example("\ud83d", "\ude00", MODERN)
def test_a_longer_text_never_has_fewer_tokens(text: str, more: str, rates: Any) -> None:
    assert approximate_tokens(text, rates) <= approximate_tokens(text + more, rates)


def test_a_hundred_thousand_samples_are_approximated_in_seconds() -> None:
    line = json.dumps({"instruction": ENGLISH[:110], "output": CHINESE[:60]}, ensure_ascii=False) + "\n"
    data = (line * 100_000).encode()
    start = time.process_time()
    assert measure(data).samples == 100_000
    # About two seconds on a quiet machine; a figure per character would take a minute.
    assert time.process_time() - start < 10


# --- Whatever is sent -----------------------------------------------------------------------------------------------

FRAGMENTS = st.sampled_from(
    [b"[", b"]", b"{", b"}", b'"text"', b":", b",", b'"a"', b"1e999", b"9" * 5_000, b"null", b"\n", b"\r", b"\t", b'"',
     b"\\ud800", b'{"text":"a"}', b'{"messages":[{"content":"b"}]}', b"text,output", b"\xef\xbb\xbf", b"\xe4\xb8",
     b"\xff", b"\x00", b"NaN", b'{"conversations":"[{\\"value\\":1}]"}', b'{"instruction":{},"output":[[]]}']
)  # fmt: skip
NAMES = st.sampled_from(["x.jsonl", "x.json", "x.csv", "x.tsv", "x", "", "x.parquet", "../x.JSONL\x00"])


def check_answers(data: bytes, name: str, limits: Limits | None = None) -> None:
    try:
        result = measure(data, name, limits=limits)
    except InvalidInput as error:
        refused = error
    else:
        assert result.samples >= 1
        assert 0 < result.mean_tokens <= result.longest_tokens
        assert all(translate(reason, "zh-CN") for _, reason in result.skipped)
        return
    assert [problem.field for problem in refused.errors] == ["file"]
    assert translate(refused.errors[0].message, "en")


@settings(deadline=None, max_examples=500)
@given(st.lists(FRAGMENTS | st.binary(max_size=5), max_size=12).map(b"".join), NAMES)
def test_any_bytes_are_measured_or_refused(data: bytes, name: str) -> None:
    check_answers(data, name)


COLUMNS = st.sampled_from(
    [
        "text", "Text ", "messages", "conversations", "instruction", "input", "output", "history", "system",
        "content", "value", "tool_calls", "type", "prompt", "completion", "", "id",
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(COLUMNS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.dictionaries(COLUMNS, VALUES, max_size=5) | VALUES, max_size=5))
def test_any_json_is_measured_or_refused(rows: list[Any]) -> None:
    check_answers(json.dumps(rows).encode(), "x.json")
    check_answers("\n".join(map(json.dumps, rows)).encode(), "x.jsonl")


@pytest.mark.parametrize("depth", range(900, 1_000, 7))
def test_depths_at_the_edge_of_what_can_be_read(depth: int) -> None:
    calls = "[" * depth + "1" + "]" * depth
    check_answers(b'{"messages": [{"content": null, "tool_calls": %s}]}' % calls.encode(), "x")
    check_answers(b'{"messages": [{"content": {}, "tool_calls": [1]}]}', "x")


@settings(deadline=None, max_examples=200)
@given(
    st.lists(FRAGMENTS, max_size=20).map(b"".join),
    NAMES,
    st.integers(0, 60),
    st.integers(0, 30),
    st.integers(0, 3),
)
def test_any_bytes_within_any_limits(data: bytes, name: str, most: int, line: int, rows: int) -> None:
    check_answers(data, name, Limits(file_bytes=most, line_bytes=line, rows=rows))


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.binary(min_size=1, max_size=4)), max_size=6),
    st.integers(0, 200),
)
def test_any_damage_to_a_parquet_file(damage: list[tuple[int, bytes]], cut: int) -> None:
    data = bytearray(as_parquet([SAMPLES["messages"][0]] * 10))
    for position, change in damage:
        start = position % len(data)
        data[start : start + len(change)] = change
    check_answers(bytes(data[: len(data) - cut]) if cut else bytes(data), "x.parquet")
