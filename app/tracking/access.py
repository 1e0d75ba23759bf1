"""The run or charge that a path names, looked up before the role is judged."""

from typing import Annotated

from fastapi import Depends

from app.accounts.access import PathId, Viewer
from app.db import ReadSession, WriteSession
from app.projects.access import ProjectInWriting, ProjectToRead
from app.tracking.charges import get_charge
from app.tracking.models import Charge, Run
from app.tracking.runs import get_run


def _run_to_read(run_id: PathId, project: ProjectToRead, session: ReadSession) -> Run:
    return get_run(session, project, run_id)


def _run_to_edit(run_id: PathId, project: ProjectInWriting, session: WriteSession, actor: Viewer) -> Run:
    run = get_run(session, project, run_id)
    actor.require("editor")
    return run


def _charge_to_read(charge_id: PathId, project: ProjectToRead, session: ReadSession) -> Charge:
    return get_charge(session, project, charge_id)


def _charge_to_edit(
    charge_id: PathId, project: ProjectInWriting, session: WriteSession, actor: Viewer
) -> Charge:
    charge = get_charge(session, project, charge_id)
    actor.require("editor")
    return charge


RunToRead = Annotated[Run, Depends(_run_to_read)]
RunToEdit = Annotated[Run, Depends(_run_to_edit)]
ChargeToRead = Annotated[Charge, Depends(_charge_to_read)]
ChargeToEdit = Annotated[Charge, Depends(_charge_to_edit)]
