"""What a run tells of its kind, kept for the plans to come."""

from sqlmodel import Session

from app.catalog.models import Offer
from app.evidence.service import SpotRun, forget_spot_run, record_spot_run
from app.tracking.models import Run
from app.tracking.run_fields import run_time


def keep_evidence(session: Session, run: Run) -> None:
    """Of a run that has ended on spot instances of an offer: its hours and interruptions."""
    offer = None if run.offer_id is None else session.get(Offer, run.offer_id)
    counts = run.deleted_at is None and run.ended_at is not None and run.billing == "spot"
    if offer is None or not counts:
        forget_spot_run(session, run.team_id, run.id or 0)
        return
    record_spot_run(
        session,
        run.team_id,
        SpotRun(run.id or 0, offer.provider, offer.instance_type, run_time(run).instance_us, run.interruptions),
    )
