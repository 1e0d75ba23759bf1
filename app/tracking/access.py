"""The run or charge that a path names, looked up before the role is judged."""

from typing import Annotated

from fastapi import Depends

from app.accounts.access import PathId, Viewer
from app.db import ReadSession, WriteSession
from app.projects.access import ProjectInWriting, ProjectToRead
from app.tracking.charges import get_charge, get_deleted_charge
from app.tracking.models import Charge, Run
from app.tracking.runs import get_deleted_run, get_run


def _run_to_read(run_id: PathId, project: ProjectToRead, session: ReadSession) -> Run:
    return get_run(session, project, run_id)


def _run_of_form(run: Annotated[Run, Depends(_run_to_read)], actor: Viewer) -> Run:
    actor.require("editor")
    return run


def _run_to_edit(run_id: PathId, project: ProjectInWriting, session: WriteSession, actor: Viewer) -> Run:
    run = get_run(session, project, run_id)
    actor.require("editor")
    return run


def _run_to_restore(run_id: PathId, project: ProjectInWriting, session: WriteSession, actor: Viewer) -> Run:
    run = get_deleted_run(session, project, run_id)
    actor.require("editor")
    return run


def _charge_to_read(charge_id: PathId, project: ProjectToRead, session: ReadSession) -> Charge:
    return get_charge(session, project, charge_id)


def _charge_of_form(charge: Annotated[Charge, Depends(_charge_to_read)], actor: Viewer) -> Charge:
    actor.require("editor")
    return charge


def _charge_to_edit(
    charge_id: PathId, project: ProjectInWriting, session: WriteSession, actor: Viewer
) -> Charge:
    charge = get_charge(session, project, charge_id)
    actor.require("editor")
    return charge


def _charge_to_restore(
    charge_id: PathId, project: ProjectInWriting, session: WriteSession, actor: Viewer
) -> Charge:
    charge = get_deleted_charge(session, project, charge_id)
    actor.require("editor")
    return charge


RunToRead = Annotated[Run, Depends(_run_to_read)]
RunToEdit = Annotated[Run, Depends(_run_to_edit)]
ChargeToRead = Annotated[Charge, Depends(_charge_to_read)]
ChargeToEdit = Annotated[Charge, Depends(_charge_to_edit)]
# For the forms, which change nothing themselves: 404 before 403, without holding up writers.
RunOfForm = Annotated[Run, Depends(_run_of_form)]
ChargeOfForm = Annotated[Charge, Depends(_charge_of_form)]
RunToRestore = Annotated[Run, Depends(_run_to_restore)]
ChargeToRestore = Annotated[Charge, Depends(_charge_to_restore)]
