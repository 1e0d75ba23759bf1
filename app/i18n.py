"""Translations: English text is the message id, Chinese stands in ``app/locale/zh_CN/*.po``.

A message made far from the reader (a validation error, a preflight warning) is a ``Message``; it becomes text at the
edge, where the reader's language is known. The catalogues are compiled in memory at start, so that there is no build
step and no stale ``.mo`` file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Literal, get_args

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

Language = Literal["zh-CN", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
LOCALE_FOLDER = Path(__file__).parent / "locale"
BABEL_LOCALE: Mapping[Language, str] = {"zh-CN": "zh_CN", "en": "en"}


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """A sentence to be translated later: the English text, with ``%(name)s`` places, and what goes into them."""

    text: str
    params: Mapping[str, object]

    def __init__(self, text: str, /, **params: object) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "params", params)


@cache
def translations(language: Language) -> NullTranslations:
    """The merged catalogue of one language; English needs none."""
    if language == "en":
        return NullTranslations()
    merged: GNUTranslations | None = None
    for path in sorted((LOCALE_FOLDER / BABEL_LOCALE[language]).glob("*.po")):
        compiled = _compile(path)
        if merged is None:
            merged = compiled
        else:
            compiled.add_fallback(merged)
            merged = compiled
    return merged or NullTranslations()


def _compile(path: Path) -> GNUTranslations:
    buffer = BytesIO()
    with path.open("rb") as file:
        write_mo(buffer, read_po(file, locale="zh_CN"))
    buffer.seek(0)
    return GNUTranslations(buffer)


def translate(message: Message | str, language: Language) -> str:
    """The text a reader of ``language`` sees."""
    if isinstance(message, str):
        return translations(language).gettext(message)
    text = translations(language).gettext(message.text)
    params = {
        name: translate(value, language) if isinstance(value, Message) else value
        for name, value in message.params.items()
    }
    return text % params if params else text.replace("%%", "%")


def best_language(accept_language: str | None) -> Language | None:
    """The supported language that an ``Accept-Language`` header prefers; None when it names none."""
    ranked: list[tuple[float, int, Language]] = []
    for position, part in enumerate((accept_language or "").split(",")):
        tag, _, quality = part.strip().partition(";q=")
        language = _supported(tag)
        if language is not None:
            ranked.append((-_quality(quality), position, language))
    return min(ranked)[2] if ranked else None


def _supported(tag: str) -> Language | None:
    primary = tag.split("-")[0].lower()
    return {"zh": "zh-CN", "en": "en"}.get(primary)  # type: ignore[return-value]


def _quality(text: str) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0
