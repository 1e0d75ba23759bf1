"""Tokens counted with a model's own tokenizer, uploaded as Hugging Face's tokenizer.json."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from app.errors import InvalidInput
from app.i18n import Message
from app.planning.dataset.limits import MEBIBYTE

MOST_TOKENIZER_BYTES = 64 * MEBIBYTE

T = TypeVar("T")


def exact_counter(tokenizer_json: bytes) -> Callable[[Sequence[str]], list[int]]:
    """Counts the tokens of many texts, without those that the tokenizer puts around a text."""
    tokenizer = _load(tokenizer_json)

    def count(texts: Sequence[str]) -> list[int]:
        # A lone surrogate, which JSON can spell, is no character; a tokenizer would not take it.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encodings = _guarded(lambda: tokenizer.encode_batch_fast(clean, add_special_tokens=False))
        return [len(encoding) for encoding in encodings]

    return count


def _load(tokenizer_json: bytes) -> Any:
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra that not every installation has
    except ImportError:
        raise _wrong(
            Message("Counting exactly needs the package “tokenizers”, which is not installed here.")
        ) from None
    if len(tokenizer_json) > MOST_TOKENIZER_BYTES:
        raise _wrong(Message("The tokenizer is larger than %(bytes)d bytes.", bytes=MOST_TOKENIZER_BYTES))
    tokenizer = _guarded(lambda: Tokenizer.from_str(tokenizer_json.decode("utf-8")))
    # Both would make every length that of the setting.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _guarded(use: Callable[[], T]) -> T:
    try:
        return use()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever Rust says, its panics too, which are no Exception
        raise _wrong(Message("The tokenizer cannot be used: %(why)s", why=str(error)[:200])) from None


def _wrong(message: Message) -> InvalidInput:
    return InvalidInput.at("tokenizer", message)
