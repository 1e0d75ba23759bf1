"""How a run or a charge gets into the ledger, and whether it is marked as past the budget."""

from collections.abc import Sequence

from sqlmodel import Session

from app.errors import InvalidInput
from app.i18n import Message
from app.money import LARGEST_AMOUNT
from app.projects.budget import DaySpend
from app.projects.ledger import Source, post_spend, remove_spend
from app.projects.models import Project
from app.time import MICROSECONDS_PER_HOUR

# Beyond this a sum of many runs could leave the 64-bit integer of microseconds.
LARGEST_GPU_HOURS = 10_000_000


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


def check_size(days: Sequence[DaySpend], amount_field: str, time_field: str) -> None:
    """Raises InvalidInput for what is too large to be stored and summed exactly."""
    if sum(max(abs(day.billed_amount), abs(day.list_amount)) for day in days) > LARGEST_AMOUNT:
        raise InvalidInput.at(amount_field, Message("This amount is too large."))
    if sum(max(day.gpu_us, day.instance_us) for day in days) > LARGEST_GPU_HOURS * MICROSECONDS_PER_HOUR:
        raise InvalidInput.at(time_field, Message("These are too many hours."))
