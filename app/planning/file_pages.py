"""Pages of files: a plan begun with them, and a plan's recipe as a trainer's file."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from app.accounts.access import Viewer
from app.db import ReadSession
from app.errors import InvalidInput
from app.i18n import Message
from app.planning.access import PlanToRead
from app.planning.file_api import file_response, trainer_file_of
from app.planning.files import Begun, SentFile, begin_plan
from app.planning.pages import plan_form_page
from app.planning.plan_form import new_plan_values, prefilled_values, request_values
from app.projects.access import ProjectToRead
from app.web.forms import Form, form_of_input

router = APIRouter()

FILES = "files"


@dataclass(frozen=True, slots=True)
class _Sent:
    """The form as it was sent, with what its files say or what is wrong with them."""

    values: dict[str, str]
    begun: Begun | InvalidInput


async def _sent(request: Request) -> _Sent:
    """Reads the files while the form is open: they are gone when it is closed."""
    async with request.form() as form:
        files = {
            name: SentFile(value.filename, value.file)
            for name, value in form.items()
            if isinstance(value, UploadFile) and value.filename
        }
        values = {name: value for name, value in form.items() if isinstance(value, str)}
        try:
            if not {"trainer_file", "dataset_file"} & files.keys():
                raise InvalidInput.at("trainer_file", Message("Choose a file."))
            begun: Begun | InvalidInput = await run_in_threadpool(
                begin_plan,
                files.get("trainer_file"),
                files.get("dataset_file"),
                files.get("tokenizer_file"),
                values.get("model") or None,
            )
        except InvalidInput as error:
            begun = error
    return _Sent(values, begun)


@router.post("/projects/{project_id}/plans/from-files", name="begin_plan_form")
def begin_plan_form(
    request: Request,
    project: ProjectToRead,
    session: ReadSession,
    actor: Viewer,
    sent: Annotated[_Sent, Depends(_sent)],
) -> Response:
    """The plan's form with what the files say; stores nothing."""
    actor.require("editor")
    if isinstance(sent.begun, InvalidInput):
        form = form_of_input(request, sent.values, sent.begun, FILES)
        usual = Form(new_plan_values(actor, project))
        return plan_form_page(request, session, actor, project, None, usual, status=422, files_form=form)
    values = request_values({"model": ""} | sent.begun.fields)
    if sent.begun.recipe is None:
        values = new_plan_values(actor, project) | values
    form = Form(prefilled_values(actor, project, values))
    return plan_form_page(request, session, actor, project, None, form, begun=sent.begun)


@router.get("/projects/{project_id}/plans/{plan_id}/trainer-files/{trainer}", name="trainer_file")
def trainer_file(request: Request, plan: PlanToRead, trainer: str) -> Response:
    """The plan's recipe as a trainer's file."""
    return file_response(trainer_file_of(plan, trainer, request))
