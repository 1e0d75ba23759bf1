"""How a run or a charge gets into the ledger, and whether it is marked as past the budget."""

from collections.abc import Sequence

from sqlmodel import Session

from app.projects.budget import DaySpend
from app.projects.ledger import Source, post_spend, remove_spend
from app.projects.models import Project


def record_spend(
    session: Session,
    project: Project,
    source: Source,
    days: Sequence[DaySpend],
    *,
    was_over: bool = False,
    already_gone: bool = False,
) -> bool:
    """Posts the spend; the answer says whether it is past the budget, also when only less so than before.

    Raises Conflict when the budget blocks it.
    """
    is_over = post_spend(session, project, source, days, already_gone=already_gone)
    if is_over or not was_over:
        return is_over
    # A change that lowers spend is never refused, but what is left of it may still be too much.
    remove_spend(session, project, source)
    return post_spend(session, project, source, days, already_gone=True)
