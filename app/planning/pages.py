"""Pages of plans: the form with its result beside it, and a plan as it was saved."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from sqlmodel import Session
from starlette.datastructures import UploadFile

from app.accounts.access import Actor, Viewer
from app.catalog.gpus import list_gpus
from app.catalog.known_models import list_models
from app.catalog.models import Offer
from app.catalog.names import gpu_name, provider_name, region_name
from app.catalog.service import list_offers
from app.db import ReadSession, WriteSession
from app.errors import Conflict, FieldError, InvalidInput
from app.i18n import BABEL_LOCALE, Language, Message, translate
from app.money import format_amount, format_unit_price
from app.planning.access import PlanToEdit, PlanToRead
from app.planning.estimates import answer_for, reworded
from app.planning.files import Begun
from app.planning.instances import other_instances
from app.planning.job_facts import job_facts, value_in_words
from app.planning.models import Plan
from app.planning.plan_form import new_plan_values, plan_values, prefilled_values, read_plan_form
from app.planning.service import (
    approve_plan,
    create_plan,
    delete_plan,
    estimate_body,
    find_plan_offer,
    make_baseline,
    replace_plan,
    reprice_plan,
)
from app.planning.versions import list_versions
from app.planning.vouchers import find_voucher_share
from app.projects.access import ProjectToEdit, ProjectToRead
from app.projects.figures import figures_of
from app.projects.models import Project
from app.versions import Precondition
from app.web.charts import build_stacked_bar
from app.web.flash import flash
from app.web.forms import Form, FormValues, form_of_input
from app.web.language import language_of
from app.web.render import render, see_other

router = APIRouter()

COMPONENTS = ("weights", "gradients", "optimizer_states", "activations", "temporary", "framework")


async def _plan_values(request: Request) -> dict[str, str]:
    """The form's text, with an uploaded config.json in the place of a pasted one."""
    async with request.form() as form:
        values = {name: value for name, value in form.items() if isinstance(value, str)}
        uploaded = form.get("config_file")
        if isinstance(uploaded, UploadFile) and uploaded.filename:
            values["config"] = (await uploaded.read()).decode("utf-8-sig", "replace")
    return values


PlanFormValues = Annotated[dict[str, str], Depends(_plan_values)]


@router.get("/projects/{project_id}/plans/new", name="new_plan_page")
def new_plan_page(request: Request, project: ProjectToRead, session: ReadSession, actor: Viewer) -> Response:
    """The form with its first result."""
    actor.require("editor")
    sent = dict(request.query_params)
    values = prefilled_values(actor, project, sent) if sent else new_plan_values(actor, project)
    return plan_form_page(request, session, actor, project, None, Form(values))


@router.post("/projects/{project_id}/plans/preview", name="preview_plan")
def preview_plan(
    request: Request, project: ProjectToRead, session: ReadSession, actor: Viewer, values: PlanFormValues
) -> Response:
    """The result of the form as it stands; stores nothing."""
    form = Form(values)
    context = _result_context(request, session, actor, form)
    status = 422 if context["errors"] else 200
    # With the form at hand its proposals can be applied.
    return render(request, "planning/result.html", status=status, project=project, form=form, **context)


@router.post("/projects/{project_id}/plans/new", name="create_plan_form")
def create_plan_form(
    request: Request, project: ProjectToEdit, session: WriteSession, actor: Viewer, values: PlanFormValues
) -> Response:
    """Saves the plan; «recalculate» only shows the form's result again, for readers without scripts."""
    if values.get("do") == "recalculate":
        return plan_form_page(request, session, actor, project, None, Form(values))
    try:
        plan = create_plan(session, actor, project, read_plan_form(values, actor))
        if values.get("do") == "baseline":
            make_baseline(session, actor, project, plan)
    except (InvalidInput, Conflict) as error:
        session.rollback()
        return plan_form_page(
            request, session, actor, project, None, _mistakes(request, values, error), status=422
        )
    return _done(request, project, plan, Message("The plan is saved."))


@router.get("/projects/{project_id}/plans/{plan_id}", name="plan_page")
def plan_page(request: Request, project: ProjectToRead, plan: PlanToRead, session: ReadSession) -> Response:
    """The plan as it was saved."""
    result = answer_in(request, plan)
    return render(
        request,
        "planning/plan.html",
        nav="projects",
        project=project,
        plan=plan,
        result=result,
        memory_bar=memory_bar_of(result),
        job_facts=job_facts(plan),
        versions=list_versions(session, plan),
        voucher=find_voucher_share(session, plan),
    )


@router.get("/projects/{project_id}/plans/{plan_id}/edit", name="edit_plan_page")
def edit_plan_page(
    request: Request, project: ProjectToRead, plan: PlanToRead, session: ReadSession, actor: Viewer
) -> Response:
    """The form filled with the plan."""
    actor.require("editor")
    return plan_form_page(request, session, actor, project, plan, Form(plan_values(plan, project)))


@router.post("/projects/{project_id}/plans/{plan_id}/edit", name="edit_plan_form")
def edit_plan_form(
    request: Request,
    project: ProjectToEdit,
    plan: PlanToEdit,
    session: WriteSession,
    actor: Viewer,
    values: PlanFormValues,
) -> Response:
    """Estimates anew and keeps the result."""
    if values.get("do") == "recalculate":
        return plan_form_page(request, session, actor, project, plan, Form(values))
    try:
        precondition = Precondition.from_form(values.get("version", ""))
        replace_plan(session, actor, project, plan, read_plan_form(values, actor), precondition)
        if values.get("do") == "baseline":
            make_baseline(session, actor, project, plan)
    except (InvalidInput, Conflict) as error:
        session.rollback()
        return plan_form_page(
            request, session, actor, project, plan, _mistakes(request, values, error), status=422
        )
    return _done(request, project, plan, Message("Saved."))


@router.post("/projects/{project_id}/plans/{plan_id}/baseline", name="make_baseline_form")
def make_baseline_form(
    request: Request, project: ProjectToEdit, plan: PlanToEdit, session: WriteSession, actor: Viewer
) -> Response:
    """The projection follows this plan."""
    make_baseline(session, actor, project, plan)
    return _done(request, project, plan, Message("The projection follows this plan now."))


@router.post("/projects/{project_id}/plans/{plan_id}/reprice", name="reprice_plan_form")
def reprice_plan_form(
    request: Request,
    project: ProjectToEdit,
    plan: PlanToEdit,
    session: WriteSession,
    actor: Viewer,
    values: FormValues,
) -> Response:
    """Estimates anew at the offer's price of now."""
    try:
        precondition = Precondition.from_form(values.get("version", ""))
        reprice_plan(session, actor, project, plan, precondition)
    except InvalidInput as error:
        session.rollback()
        response = see_other(request, "plan_page", project_id=project.id, plan_id=plan.id)
        flash(request, response, "error", error.errors[0].message)
        return response
    return _done(request, project, plan, Message("Priced anew; the earlier result is kept among the versions."))


@router.post("/projects/{project_id}/plans/{plan_id}/approve", name="approve_plan_form")
def approve_plan_form(
    request: Request, project: ProjectToEdit, plan: PlanToEdit, session: WriteSession, actor: Viewer
) -> Response:
    """Sets the plan's cost aside."""
    approve_plan(session, actor, project, plan)
    free = figures_of(session, [project], actor.today)[project.id or 0].free
    if free >= 0:
        return _done(request, project, plan, Message("The plan is approved; its cost is set aside."))
    beyond = f"{project.currency} {format_amount(-free, project.currency)}"
    message = Message("The plan is approved; with it the budget is exceeded by %(amount)s.", amount=beyond)
    return _done(request, project, plan, message, "warning")


@router.post("/projects/{project_id}/plans/{plan_id}/delete", name="delete_plan_form")
def delete_plan_form(
    request: Request,
    project: ProjectToEdit,
    plan: PlanToEdit,
    session: WriteSession,
    actor: Viewer,
    values: FormValues,
) -> Response:
    """Hides the plan and frees what it reserved."""
    delete_plan(session, actor, project, plan, Precondition.from_form(values.get("version", "")))
    response = see_other(request, "project_page", project_id=project.id)
    flash(request, response, "success", Message("%(name)s is deleted.", name=plan.name))
    return response


def answer_in(request: Request, plan: Plan) -> dict[str, Any]:
    """The stored answer, told in the reader's language."""
    return reworded(plan.result, language_of(request))


def memory_bar_of(result: dict[str, Any]) -> Any:
    """The components against the card's capacity."""
    memory = result["memory"]
    parts = [(name, memory["components"][name]) for name in COMPONENTS]
    return build_stacked_bar(parts, memory["capacity_bytes"])


def _result_context(request: Request, session: Session, actor: Actor, form: Form) -> dict[str, Any]:
    """The result beside the form, or what is wrong with it."""
    values = {name: "" if value is None else str(value) for name, value in form.values.items()}
    if form.values.get("gradient_checkpointing") is True:
        values["gradient_checkpointing"] = "true"
    try:
        wanted = read_plan_form(values, actor, needs_name=False)
        body = estimate_body(session, actor, wanted, find_plan_offer(session, actor, wanted))
        result = answer_for(body, language_of(request))
    except InvalidInput as error:
        errors = form_of_input(request, values, error).errors
        return {"result": None, "errors": errors, "memory_bar": None, "instances": []}
    return {
        "result": result,
        "errors": {},
        "memory_bar": memory_bar_of(result),
        "instances": other_instances(session, actor, body, result, wanted.offer_id),
    }


def _mistakes(request: Request, values: dict[str, str], error: InvalidInput | Conflict) -> Form:
    known = error if isinstance(error, InvalidInput) else InvalidInput(FieldError("", error.message))
    return form_of_input(request, values, known)


def _done(
    request: Request, project: Project, plan: Plan, message: Message, level: str = "success"
) -> Response:
    response = see_other(request, "plan_page", project_id=project.id, plan_id=plan.id)
    flash(request, response, level, message)
    return response


def plan_form_page(
    request: Request,
    session: Session,
    actor: Actor,
    project: Project,
    plan: Plan | None,
    form: Form,
    status: int = 200,
    *,
    files_form: Form | None = None,
    begun: Begun | None = None,
) -> Response:
    """The form with its result; ``begun``: what files said of it."""
    offers = [offer for offer in list_offers(session, actor.team_id) if offer.price_per_hour is not None]
    language = language_of(request)
    return render(
        request,
        "planning/plan_form.html",
        status=status,
        nav="projects",
        project=project,
        plan=plan,
        form=form,
        files_form=files_form or Form(id="files"),
        begun=begun,
        model_options=[(model.id, model.name) for model in list_models()],
        gpu_options=[("", "–"), *((gpu.id, gpu.name) for gpu in list_gpus())],
        offer_options=[("", "–"), *((offer.id, _label(offer, language)) for offer in sorted(offers, key=_own_first))],
        **_result_context(request, session, actor, form),
    )


def _own_first(offer: Offer) -> tuple[bool, str, str]:
    return (offer.team_id is None, offer.provider, offer.instance_type)


def _label(offer: Offer, language: Language) -> str:
    """One line that tells an offer from the others."""
    price = "" if offer.price_per_hour is None else format_unit_price(offer.price_per_hour, offer.currency)
    parts = (
        provider_name(offer.provider, BABEL_LOCALE[language]),
        offer.instance_type,
        f"{gpu_name(offer.gpu)} ×{float(offer.gpu_count):g}",
        translate(region_name(offer.region), language),
        translate(value_in_words("price.billing", offer.billing), language),
        f"{offer.currency} {price}/h",
    )
    return " · ".join(part for part in parts if part)
