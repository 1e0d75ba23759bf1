"""Reads and writes the files of the trainers: LLaMA-Factory, ms-swift, Axolotl and TRL."""

from app.errors import InvalidInput
from app.i18n import Language, Message
from app.planning.inputs import EstimateInput
from app.planning.trainers.draft import plan_of
from app.planning.trainers.recognise import ALL, read_trainer_file
from app.planning.trainers.render import render
from app.planning.trainers.result import TrainerFile, TrainerRecipe

__all__ = ["TRAINERS", "TrainerFile", "TrainerRecipe", "read_trainer_file", "write_trainer_file"]

TRAINERS: tuple[str, ...] = tuple(trainer.id for trainer in ALL)


def write_trainer_file(trainer: str, body: EstimateInput, language: Language = "en") -> TrainerFile:
    """A file to start with, its comments in ``language``. Raises InvalidInput for a trainer or model not known."""
    chosen = next((one for one in ALL if one.id == trainer), None)
    if chosen is None:
        raise InvalidInput.at(
            "trainer", Message("Choose one of: %(expected)s.", expected=", ".join(TRAINERS))
        )
    plan = plan_of(body)
    text = render(chosen, plan, chosen.draft(plan), language)
    return TrainerFile(chosen.filename, text, chosen.media_type)
