"""The lengths of a data set's samples: rows become texts, texts become tokens, tokens become a few figures."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO, TypeAlias

from app.i18n import Message
from app.planning.dataset.approximation import approximate_tokens, rates_of
from app.planning.dataset.exact import exact_counter
from app.planning.dataset.formats import Source, open_source
from app.planning.dataset.layouts import KNOWN_COLUMNS
from app.planning.dataset.limits import Limits
from app.planning.dataset.reading import Reading
from app.planning.dataset.statistics import quantiles

# ChatML writes "<|im_start|>", the role and a line's end before a message, "<|im_end|>" and a line's end after it.
# Taken for every template of chats; a default system prompt, which some templates add, is not counted.
TEMPLATE_TOKENS_PER_TURN = 5
# Texts that are counted together: enough to keep a tokenizer's threads busy, little enough to hold.
MOST_TEXTS_AT_ONCE = 1_000
MOST_CHARACTERS_AT_ONCE = 2_000_000

Counter: TypeAlias = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True)
class DatasetLengths:
    """What an upload says of its samples.

    ``columns`` names the column of every role that was used; ``is_exact``: counted with the model's tokenizer (the
    template's tokens are an assumption all the same); ``is_truncated``: the file goes on beyond what was read.
    """

    format: str
    layout: str
    samples: int
    mean_tokens: float
    longest_tokens: int
    quantiles: dict[int, int]
    is_exact: bool
    skipped: tuple[tuple[int, Message], ...]
    skipped_count: int
    columns: dict[str, str]
    columns_ignored: tuple[str, ...]
    is_truncated: bool


def measure_dataset(
    file: BinaryIO,
    filename: str,
    tokenizer_json: bytes | None = None,
    *,
    template: bool = True,
    vocabulary: int | None = None,
    limits: Limits | None = None,
) -> DatasetLengths:
    """Reads a sample of a data set and says how long its samples are.

    With a ``tokenizer_json`` the tokens are counted; otherwise they are approximated for a tokenizer with
    ``vocabulary`` entries (None: a modern one, above 100,000). With ``template``, every turn of a chat costs its
    markers as well.
    """
    limits = limits or Limits()
    count = exact_counter(tokenizer_json) if tokenizer_json is not None else _approximate_counter(vocabulary)
    source = open_source(file, filename, KNOWN_COLUMNS, limits)
    reading = Reading()
    with closing(source.rows):
        samples = _samples(source, reading, limits, is_exact=tokenizer_json is not None)
        lengths = array("q", _lengths(samples, reading, count, template))
        is_truncated = next(source.rows, None) is not None or source.is_cut()
    if reading.layout is None or not lengths:
        raise reading.nothing_usable()
    return DatasetLengths(
        format=source.format,
        layout=reading.layout.name,
        samples=len(lengths),
        mean_tokens=sum(lengths) / len(lengths),
        longest_tokens=max(lengths),
        quantiles=quantiles(lengths),
        is_exact=tokenizer_json is not None,
        skipped=tuple(reading.skipped),
        skipped_count=reading.skipped_count,
        columns=dict(reading.layout.columns),
        columns_ignored=reading.ignored(),
        is_truncated=is_truncated,
    )


def _approximate_counter(vocabulary: int | None) -> Counter:
    rates = rates_of(vocabulary)
    return lambda texts: [approximate_tokens(text, rates) for text in texts]


def _samples(source: Source, reading: Reading, limits: Limits, *, is_exact: bool) -> Iterator[list[str]]:
    """The turns of every row that can be used, as far as the limits go."""
    characters = 0
    for row in islice(source.rows, limits.rows):
        turns = reading.turns(row)
        if turns is not None:
            yield turns
            characters += sum(map(len, turns))
        if is_exact and characters >= limits.exact_characters:
            return


def _lengths(samples: Iterator[list[str]], reading: Reading, count: Counter, template: bool) -> Iterator[int]:
    for portion in _portions(samples):
        tokens = iter(count([turn for turns in portion for turn in turns]))
        is_chat = template and reading.layout is not None and reading.layout.name != "text"
        for turns in portion:
            overhead = TEMPLATE_TOKENS_PER_TURN * len(turns) if is_chat else 0
            yield sum(islice(tokens, len(turns))) + overhead


def _portions(samples: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    portion: list[list[str]] = []
    texts = characters = 0
    for turns in samples:
        portion.append(turns)
        texts += len(turns)
        characters += sum(map(len, turns))
        if texts >= MOST_TEXTS_AT_ONCE or characters >= MOST_CHARACTERS_AT_ONCE:
            yield portion
            portion, texts, characters = [], 0, 0
    if portion:
        yield portion
