"""JSON routes of runs and charges."""

from typing import Annotated

from fastapi import Path, Request, Response
from sqlmodel import Session, col

from app.accounts.access import Viewer
from app.api.answers import ListAnswer, PreconditionHeader, created, with_etag
from app.api.pagination import PageParams, page_of_query
from app.api.routes import api_router
from app.db import ReadSession, WriteSession
from app.projects.access import ProjectToEdit, ProjectToRead
from app.projects.models import Project
from app.tracking.access import ChargeToEdit, ChargeToRead, RunToEdit, RunToRead
from app.tracking.answers import ChargeAnswer, RunAnswer, charge_answer, run_answer
from app.tracking.charges import delete_charge, live_charges, log_charge, update_charge
from app.tracking.inputs import ChargeInput, ChargePatch, RunInput, RunPatch
from app.tracking.models import Charge, Run
from app.tracking.runs import delete_run, live_runs, log_run, overlapping_ids, put_run, update_run
from app.tracking.vouchers import voucher_id_of, vouchers_of

router = api_router("runs and charges")

# Any text that an id of one's own can be; a slash too.
ExternalId = Annotated[str, Path()]


@router.get("/projects/{project_id}/runs", name="api_list_runs")
def list_runs(project: ProjectToRead, session: ReadSession, page: PageParams) -> ListAnswer[RunAnswer]:
    """The project's runs, by id."""
    found = page_of_query(session, live_runs(project), col(Run.id), page)
    overlapping = overlapping_ids(session, found.items)
    items = [run_answer(run, project, overlaps=run.id in overlapping) for run in found.items]
    return ListAnswer(items=items, next_cursor=found.next_cursor)


@router.post("/projects/{project_id}/runs", status_code=201, name="api_log_run")
def post_run(
    request: Request,
    response: Response,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    body: RunInput,
) -> RunAnswer:
    """Logs a run at the price given, or at the offer's."""
    run = log_run(session, actor, project, body)
    created(response, request, "api_get_run", project_id=project.id, run_id=run.id)
    return _run_answer(response, session, project, run)


@router.put(
    "/projects/{project_id}/runs/by-external-id/{external_id:path}",
    name="api_put_run",
    responses={201: {"model": RunAnswer, "description": "The run was made."}},
)
def put_run_by_external_id(
    request: Request,
    response: Response,
    external_id: ExternalId,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    body: RunInput,
) -> RunAnswer:
    """Makes the run of this id (201), or replaces it (200); a deleted one is revived."""
    run, is_new = put_run(session, actor, project, external_id, body)
    if is_new:
        response.status_code = 201
        created(response, request, "api_get_run", project_id=project.id, run_id=run.id)
    return _run_answer(response, session, project, run)


@router.get("/projects/{project_id}/runs/{run_id}", name="api_get_run")
def get_run(response: Response, run: RunToRead, project: ProjectToRead, session: ReadSession) -> RunAnswer:
    """One run."""
    return _run_answer(response, session, project, run)


@router.patch("/projects/{project_id}/runs/{run_id}", name="api_update_run")
def patch_run(
    response: Response,
    run: RunToEdit,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    precondition: PreconditionHeader,
    body: RunPatch,
) -> RunAnswer:
    """Changes what the body names."""
    update_run(session, actor, project, run, body, precondition)
    return _run_answer(response, session, project, run)


@router.delete("/projects/{project_id}/runs/{run_id}", status_code=204, name="api_delete_run")
def remove_run(
    run: RunToEdit,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    precondition: PreconditionHeader,
) -> None:
    """Deletes the run; its spend leaves the ledger."""
    delete_run(session, actor, project, run, precondition)


@router.get("/projects/{project_id}/charges", name="api_list_charges")
def list_charges(project: ProjectToRead, session: ReadSession, page: PageParams) -> ListAnswer[ChargeAnswer]:
    """The project's charges, by id."""
    found = page_of_query(session, live_charges(project), col(Charge.id), page)
    vouchers = vouchers_of(session, project, found.items)
    named = {charge_id: voucher.id for charge_id, voucher in vouchers.items()}
    items = [charge_answer(charge, project, named.get(charge.id or 0)) for charge in found.items]
    return ListAnswer(items=items, next_cursor=found.next_cursor)


@router.post("/projects/{project_id}/charges", status_code=201, name="api_log_charge")
def post_charge(
    request: Request,
    response: Response,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    body: ChargeInput,
) -> ChargeAnswer:
    """Logs a charge."""
    charge = log_charge(session, actor, project, body)
    created(response, request, "api_get_charge", project_id=project.id, charge_id=charge.id)
    return _charge_answer(response, session, project, charge)


@router.get("/projects/{project_id}/charges/{charge_id}", name="api_get_charge")
def get_charge(
    response: Response, charge: ChargeToRead, project: ProjectToRead, session: ReadSession
) -> ChargeAnswer:
    """One charge."""
    return _charge_answer(response, session, project, charge)


@router.patch("/projects/{project_id}/charges/{charge_id}", name="api_update_charge")
def patch_charge(
    response: Response,
    charge: ChargeToEdit,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    precondition: PreconditionHeader,
    body: ChargePatch,
) -> ChargeAnswer:
    """Changes what the body names."""
    update_charge(session, actor, project, charge, body, precondition)
    return _charge_answer(response, session, project, charge)


@router.delete("/projects/{project_id}/charges/{charge_id}", status_code=204, name="api_delete_charge")
def remove_charge(
    charge: ChargeToEdit,
    project: ProjectToEdit,
    session: WriteSession,
    actor: Viewer,
    precondition: PreconditionHeader,
) -> None:
    """Deletes the charge; its spend leaves the ledger."""
    delete_charge(session, actor, project, charge, precondition)


def _run_answer(response: Response, session: Session, project: Project, run: Run) -> RunAnswer:
    with_etag(response, run.version)
    return run_answer(run, project, overlaps=bool(overlapping_ids(session, [run])))


def _charge_answer(response: Response, session: Session, project: Project, charge: Charge) -> ChargeAnswer:
    with_etag(response, charge.version)
    return charge_answer(charge, project, voucher_id_of(session, charge))
