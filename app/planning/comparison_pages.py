"""The page that sets two plans side by side, or two versions of one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from sqlmodel import Session

from app.accounts.access import Viewer
from app.db import ReadSession
from app.errors import NotFound
from app.planning.comparison import compare_figures, compare_requests
from app.planning.models import Plan, PlanState
from app.planning.service import get_plan, list_plans
from app.planning.versions import get_version, list_versions
from app.projects.access import ProjectToRead
from app.projects.models import Project
from app.web.forms import Form
from app.web.render import render

router = APIRouter()

# A plan, or one of its versions: 7, 7.2.
_SIDE = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Side:
    """What stands on one side: the plan, and its state of then or of now."""

    key: str
    plan: Plan
    state: PlanState
    number: int | None


@router.get("/projects/{project_id}/plans/compare", name="compare_plans_page")
def compare_plans_page(
    request: Request, project: ProjectToRead, session: ReadSession, _actor: Viewer, left: str = "", right: str = ""
) -> Response:
    """Figures first, then the fields of the job; the address names both sides."""
    plans = list_plans(session, project)
    sides = [_side(session, project, key) for key in (left, right) if key]
    if len(sides) < 2:
        sides = [Side(str(plan.id), plan, plan, None) for plan in plans[:2]]
    pair = sides if len(sides) == 2 else None
    return render(
        request,
        "planning/compare.html",
        nav="projects",
        project=project,
        sides=pair,
        form=Form({"left": pair[0].key, "right": pair[1].key} if pair else {}),
        choices=_choices(session, plans),
        figures=compare_figures(pair[0].state, pair[1].state, project.currency) if pair else [],
        fields=compare_requests(pair[0].state, pair[1].state) if pair else [],
    )


def _side(session: Session, project: Project, key: str) -> Side:
    found = _SIDE.fullmatch(key)
    if found is None:
        raise NotFound
    plan = get_plan(session, project, int(found[1]))
    if found[2] is None:
        return Side(key, plan, plan, None)
    return Side(key, plan, get_version(session, plan, int(found[2])), int(found[2]))


def _choices(session: Session, plans: Sequence[Plan]) -> list[tuple[str, str]]:
    """Each plan as it stands, and its earlier versions."""
    found = []
    for plan in plans:
        found.append((str(plan.id), plan.name))
        earlier = list_versions(session, plan)[1:]
        found += [(f"{plan.id}.{version.number}", f"{version.name} · {version.number}") for version in earlier]
    return found
