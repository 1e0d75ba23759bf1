"""The project that a path or a query names: the parameter types of every route below a project.

Another team's project answers as one that does not exist; that is told before the role is judged.
"""

from typing import Annotated

from fastapi import Depends
from sqlmodel import Session, col, select

from app.accounts.access import Actor, PathId, Viewer
from app.db import ReadSession, WriteSession
from app.errors import NotFound
from app.projects.models import Project


def get_project(session: Session, actor: Actor, project_id: int) -> Project:
    """The team's project. Raises NotFound for another team's, a deleted one and one that does not exist."""
    statement = select(Project).where(
        col(Project.id) == project_id,
        col(Project.team_id) == actor.team_id,
        col(Project.deleted_at).is_(None),
    )
    project = session.exec(statement).first()
    if project is None:
        raise NotFound
    return project


def _to_read(project_id: PathId, session: ReadSession, actor: Viewer) -> Project:
    return get_project(session, actor, project_id)


def _in_writing(project_id: PathId, session: WriteSession, actor: Viewer) -> Project:
    return get_project(session, actor, project_id)


def _to_edit(project: Annotated[Project, Depends(_in_writing)], actor: Viewer) -> Project:
    actor.require("editor")
    return project


def _to_own(project: Annotated[Project, Depends(_in_writing)], actor: Viewer) -> Project:
    actor.require("owner")
    return project


ProjectToRead = Annotated[Project, Depends(_to_read)]
# In the writing session, so that what is changed is what was looked up.
ProjectInWriting = Annotated[Project, Depends(_in_writing)]
ProjectToEdit = Annotated[Project, Depends(_to_edit)]
ProjectToOwn = Annotated[Project, Depends(_to_own)]
