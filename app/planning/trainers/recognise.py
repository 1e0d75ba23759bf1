"""Whose file it is, and what it says."""

from collections.abc import Sequence

from app.errors import InvalidInput
from app.i18n import Message
from app.planning.trainers.axolotl import AXOLOTL
from app.planning.trainers.documents import Document, read_document
from app.planning.trainers.llama_factory import LLAMA_FACTORY
from app.planning.trainers.ms_swift import MS_SWIFT
from app.planning.trainers.reading import Reading
from app.planning.trainers.result import TrainerRecipe
from app.planning.trainers.trainer import Trainer
from app.planning.trainers.trl import TRL

ALL: Sequence[Trainer] = (LLAMA_FACTORY, MS_SWIFT, AXOLOTL, TRL)

_BY_PROGRAM = {
    "llamafactory-cli": LLAMA_FACTORY,
    "lmf": LLAMA_FACTORY,
    "swift": MS_SWIFT,
    "axolotl": AXOLOTL,
    "trl": TRL,
}


def read_trainer_file(text: str, filename: str = "") -> TrainerRecipe:
    """Raises InvalidInput naming ``file``, or ``file.<key>`` for a value that is wrong."""
    document = read_document(text, filename)
    _refuse_pointer(document)
    attempts = [_attempt(trainer, document) for trainer in _candidates(document)]
    if not attempts:
        raise InvalidInput.at(
            "file", Message("This is no configuration of LLaMA-Factory, ms-swift, Axolotl or TRL.")
        )
    _, trainer, reading, error = max(attempts, key=lambda attempt: attempt[0])
    if error is not None:
        raise error
    return reading.recipe(trainer.id, trainer.ignored)


Attempt = tuple[int, Trainer, Reading, InvalidInput | None]


def _attempt(trainer: Trainer, document: Document) -> Attempt:
    """How much the trainer understands; a wrong value counts only against the trainer whose file it is."""
    script = " ".join(document.command.positional) if document.command else ""
    reading = Reading(document.values, script=script)
    try:
        trainer.read(reading)
    except InvalidInput as error:
        return reading.understood(trainer.ignored), trainer, reading, error
    return reading.understood(trainer.ignored), trainer, reading, None


def _candidates(document: Document) -> list[Trainer]:
    """A command names its trainer; a script of Python's own may be of several."""
    if document.command is not None and document.command.program in _BY_PROGRAM:
        return [_BY_PROGRAM[document.command.program]]
    return [trainer for trainer in ALL if not trainer.marks.isdisjoint(document.values)]


def _refuse_pointer(document: Document) -> None:
    """A script that names another file says little by itself; defaults would be taken for what that file says."""
    if document.command is None:
        return
    words = [*document.command.positional, str(document.values.get("config", ""))]
    named = next((word for word in words if word.lower().endswith((".yaml", ".yml", ".json"))), None)
    if named is not None:
        told = Message(
            "The script takes its settings from %(name)s; read that file instead.", name=named[:100]
        )
        raise InvalidInput.at("file", told)
