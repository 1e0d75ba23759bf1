"""The language of the command line: that of the environment it runs in."""

import os

from app.errors import InvalidInput, TuneledgerError
from app.i18n import Language, Message, translate


def environment_language() -> Language:
    """What the locale variables ask for; the first one that is set decides, as POSIX has it."""
    wanted = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return "zh-CN" if wanted.lower().startswith("zh") else "en"


def said(message: Message) -> str:
    """The message in that language."""
    return translate(message, environment_language())


def sentence_of(error: TuneledgerError) -> str:
    """An error in one line; bad input names its fields."""
    if isinstance(error, InvalidInput):
        return "; ".join(f"{wrong.field}: {said(wrong.message)}" for wrong in error.errors)
    return said(error.message)
