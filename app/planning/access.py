"""The plan that a path names, looked up before the role is judged."""

from typing import Annotated

from fastapi import Depends

from app.accounts.access import PathId, Viewer
from app.db import ReadSession, WriteSession
from app.planning.models import Plan
from app.planning.service import get_plan
from app.projects.access import ProjectInWriting, ProjectToRead


def _plan_to_read(plan_id: PathId, project: ProjectToRead, session: ReadSession) -> Plan:
    return get_plan(session, project, plan_id)


def _plan_to_edit(plan_id: PathId, project: ProjectInWriting, session: WriteSession, actor: Viewer) -> Plan:
    plan = get_plan(session, project, plan_id)
    actor.require("editor")
    return plan


PlanToRead = Annotated[Plan, Depends(_plan_to_read)]
PlanToEdit = Annotated[Plan, Depends(_plan_to_edit)]
