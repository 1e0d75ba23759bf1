"""The JSON route of the outlook."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from app.accounts.access import Viewer
from app.api.answers import Answer, MoneyAnswer
from app.api.routes import api_router
from app.db import ReadSession
from app.outlook.cumulative import DayAmount
from app.outlook.service import build_outlook
from app.projects.access import ProjectToRead

router = api_router("outlook")


class PointAnswer(Answer):
    """A cumulative amount at the end of a local day."""

    date: date
    amount: MoneyAnswer


class OutlookAnswer(Answer):
    """Projected against actual; what is not computed yet is null."""

    budget: MoneyAnswer
    spent: MoneyAnswer
    reserved: MoneyAnswer
    free: MoneyAnswer
    state: str
    target: MoneyAnswer | None
    projected: list[PointAnswer]
    actual: list[PointAnswer]
    forecast: dict[str, Any] | None
    earned_value: dict[str, Any] | None
    variance: dict[str, Any] | None


@router.get("/projects/{project_id}/outlook", name="api_outlook")
def get_outlook(project: ProjectToRead, session: ReadSession, actor: Viewer) -> OutlookAnswer:
    """The project's budget, and its projected and actual spend by local day."""
    outlook = build_outlook(session, actor, project)
    figures, code = outlook.figures, project.currency
    return OutlookAnswer(
        budget=MoneyAnswer.of(figures.budget.amount, code),
        spent=MoneyAnswer.of(figures.spent, code),
        reserved=MoneyAnswer.of(figures.reserved, code),
        free=MoneyAnswer.of(figures.free, code),
        state=figures.state,
        target=None if project.target is None else MoneyAnswer.of(project.target, code),
        projected=_points(outlook.projected, code),
        actual=_points(outlook.actual, code),
        forecast=None,
        earned_value=None,
        variance=None,
    )


def _points(line: Sequence[DayAmount], currency: str) -> list[PointAnswer]:
    return [PointAnswer(date=point.day, amount=MoneyAnswer.of(point.amount, currency)) for point in line]
