"""A plan from what people have: a trainer's file, and a sample of the data set."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from app.catalog.known_models import find_model
from app.errors import FieldError, InvalidInput
from app.i18n import Message
from app.planning.dataset import DatasetLengths, measure_dataset
from app.planning.trainers import TrainerRecipe, read_trainer_file
from app.text import decode_text

LARGEST_TRAINER_FILE_BYTES = 1_000_000
LARGEST_TOKENIZER_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file as it was uploaded."""

    name: str
    file: BinaryIO


@dataclass(frozen=True, slots=True)
class Begun:
    """What the files say of a job: fields of an estimate's body, and where they come from."""

    fields: dict[str, Any]
    recipe: TrainerRecipe | None
    lengths: DatasetLengths | None


def read_recipe(sent: SentFile) -> TrainerRecipe:
    """Raises InvalidInput naming ``file`` or the key of it that is wrong."""
    content = sent.file.read(LARGEST_TRAINER_FILE_BYTES + 1)
    if len(content) > LARGEST_TRAINER_FILE_BYTES:
        message = Message("The file is larger than %(bytes)s bytes.", bytes=LARGEST_TRAINER_FILE_BYTES)
        raise InvalidInput.at("file", message)
    try:
        text = decode_text(content)
    except ValueError as error:
        raise InvalidInput.at("file", Message("This is not text in UTF-8 or GB18030.")) from error
    return read_trainer_file(text, sent.name)


def read_lengths(sent: SentFile, tokenizer: SentFile | None, model: str | None) -> DatasetLengths:
    """Counted with the tokenizer, else approximated for the model's vocabulary. Raises InvalidInput."""
    content = None
    if tokenizer is not None:
        content = tokenizer.file.read(LARGEST_TOKENIZER_BYTES + 1)
    return measure_dataset(sent.file, sent.name, content, vocabulary=_vocabulary(model))


def begin_plan(
    trainer: SentFile | None, dataset: SentFile | None, tokenizer: SentFile | None, model: str | None
) -> Begun:
    """The job that the files describe. Raises InvalidInput naming the file."""
    recipe = None
    if trainer is not None:
        with _errors_at("trainer_file"):
            recipe = read_recipe(trainer)
    fields = {} if recipe is None else dict(recipe.fields)
    if model and "model" not in fields:
        fields["model"] = model
    lengths = None
    if dataset is not None:
        with _errors_at("dataset_file"):
            lengths = read_lengths(dataset, tokenizer, fields.get("model"))
        fields["workload"] = workload_of(lengths, fields)
    return Begun(fields, recipe, lengths)


def workload_of(lengths: DatasetLengths, fields: dict[str, Any]) -> dict[str, Any]:
    """The data as an estimate's body has them; the longest sample drives memory, the mean drives time."""
    given = fields.get("workload", {})
    return {
        "samples": lengths.samples,
        "epochs": given.get("epochs", 1),
        "mean_tokens": round(lengths.mean_tokens, 1),
        "longest_tokens": lengths.longest_tokens,
    }


def _vocabulary(model: str | None) -> int | None:
    known = None if model is None else find_model(model)
    size = None if known is None else known.config.get("vocab_size")
    return size if isinstance(size, int) else None


@contextmanager
def _errors_at(field: str) -> Iterator[None]:
    """The errors of a file at its field of the form."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(*(_moved(one, field) for one in error.errors)) from error


def _moved(error: FieldError, field: str) -> FieldError:
    if error.field == "tokenizer":
        return FieldError("tokenizer_file", error.message)
    place = error.field.removeprefix("file").lstrip(".")
    if not place:
        return FieldError(field, error.message)
    return FieldError(field, Message("%(key)s: %(what)s", key=place, what=error.message))
