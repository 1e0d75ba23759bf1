"""JSON routes of files: a trainer's file read and written, the lengths of a data set."""

from typing import Annotated, Any

from fastapi import File, Form, Request, Response, UploadFile

from app.accounts.access import Viewer
from app.api.routes import api_router
from app.i18n import translate
from app.planning.access import PlanToRead
from app.planning.estimates import read_estimate_input
from app.planning.file_answers import LengthsAnswer, RecipeAnswer, lengths_answer
from app.planning.files import SentFile, read_lengths, read_recipe
from app.planning.inputs import EstimateInput
from app.planning.models import Plan
from app.planning.trainers import TrainerFile, write_trainer_file
from app.web.language import language_of

router = api_router("planning")


@router.post("/trainer-files/read", name="api_read_trainer_file")
def post_trainer_file(
    request: Request,
    actor: Viewer,  # noqa: ARG001 - signed in
    file: Annotated[UploadFile, File()],
) -> RecipeAnswer:
    """What a file of LLaMA-Factory, ms-swift, Axolotl or TRL says, as fields of an estimate's body."""
    recipe = read_recipe(SentFile(file.filename or "", file.file))
    return RecipeAnswer(
        trainer=recipe.trainer,
        request=recipe.fields,
        model_name=recipe.model_name,
        unknown=list(recipe.unknown),
        ignored=list(recipe.ignored),
        defaults=[{"field": name, "value": value} for name, value in recipe.defaults],
        notes=[translate(note, language_of(request)) for note in recipe.notes],
    )


@router.post("/datasets/lengths", name="api_measure_dataset")
def post_dataset(
    request: Request,
    actor: Viewer,  # noqa: ARG001 - signed in
    file: Annotated[UploadFile, File()],
    tokenizer: Annotated[UploadFile | None, File()] = None,
    model: Annotated[str | None, Form(max_length=200)] = None,
) -> LengthsAnswer:
    """How long the samples are in tokens: exact with the model's tokenizer.json, else approximated."""
    counter = None if tokenizer is None else SentFile(tokenizer.filename or "", tokenizer.file)
    lengths = read_lengths(SentFile(file.filename or "", file.file), counter, model)
    return lengths_answer(lengths, language_of(request))


@router.get("/projects/{project_id}/plans/{plan_id}/trainer-files/{trainer}", name="api_write_trainer_file")
def get_trainer_file(request: Request, plan: PlanToRead, trainer: str) -> Response:
    """The plan's recipe as a trainer's file, ready to run."""
    return file_response(trainer_file_of(plan, trainer, request))


def trainer_file_of(plan: Plan, trainer: str, request: Request) -> TrainerFile:
    """Raises InvalidInput for a trainer that is not known or a model that it cannot train."""
    body: dict[str, Any] = {name: plan.request[name] for name in EstimateInput.model_fields if name in plan.request}
    return write_trainer_file(trainer, read_estimate_input(body), language_of(request))


def file_response(made: TrainerFile) -> Response:
    """The file as a download."""
    headers = {"Content-Disposition": f'attachment; filename="{made.filename}"'}
    return Response(made.text, media_type=f"{made.media_type}; charset=utf-8", headers=headers)
