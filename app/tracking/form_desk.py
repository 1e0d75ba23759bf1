"""Where the forms of runs and charges are handed out and taken in, with htmx and without."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BeforeValidator
from sqlmodel import Session

from app.accounts.access import Actor, Viewer
from app.db import ReadSession, WriteSession
from app.errors import Conflict, FieldError, InvalidInput, PreconditionFailed
from app.i18n import Message
from app.projects.access import ProjectToEdit, ProjectToRead
from app.projects.models import Project
from app.tracking.choices import Choices, list_choices
from app.web.flash import flash
from app.web.forms import Form, form_of_input
from app.web.render import render, wants_fragment

Refusal = InvalidInput | Conflict | PreconditionFailed

# Where the forms show what the services name otherwise.
_FIELD_OF_FORM = {
    "amount": "amount.amount",
    "exchange_rate": "exchange_rate.rate",
    "list_amount": "list_amount.amount",
    "peak_memory_bytes": "peak_memory_gib",
    "price_per_hour": "price_per_hour.amount",
}


@dataclass(frozen=True, slots=True)
class FormDesk:
    """Who asks for a form of which project."""

    request: Request
    session: Session
    actor: Actor
    project: Project

    @property
    def choices(self) -> Choices:
        """What the form offers to choose from."""
        return list_choices(self.session, self.actor, self.project)

    def show(
        self, form: Form, fragment: str, page: str, refusal: Refusal | None = None, **subject: Any
    ) -> Response:
        """The form in the element that has its id, or on a page of its own; after a refusal with its reason."""
        return render(
            self.request,
            fragment if wants_fragment(self.request) else page,
            status=200 if refusal is None else refusal.status,
            # A refused form goes back to where it stands, not to where its success would have gone.
            headers={} if refusal is None else {"HX-Retarget": f"#{form.id}", "HX-Reswap": "outerHTML"},
            nav="projects",
            project=self.project,
            form=form,
            problem=None if refusal is None or isinstance(refusal, InvalidInput) else refusal.message,
            choices=self.choices,
            **subject,
        )

    def as_sent(self, values: Mapping[str, str], refusal: InvalidInput | Conflict, id: str) -> Form:
        """The form as it was filled in, with what is wrong at its fields."""
        if isinstance(refusal, InvalidInput):
            at_fields = [
                FieldError(_FIELD_OF_FORM.get(one.field, one.field), one.message) for one in refusal.errors
            ]
            return form_of_input(self.request, values, InvalidInput(*at_fields), id)
        return Form(values, id=id)

    def done(self, message: Message, **query: Any) -> Response:
        """303 to the project page, which htmx follows and takes in as a whole: every figure may have moved."""
        path = self.request.app.url_path_for("project_page", project_id=self.project.id)
        response = RedirectResponse(f"{path}?{urlencode(query)}" if query else str(path), 303)
        flash(self.request, response, "success", message)
        return response


def _to_show(request: Request, project: ProjectToRead, session: ReadSession, actor: Viewer) -> FormDesk:
    actor.require("editor")
    return FormDesk(request, session, actor, project)


def _to_take(request: Request, project: ProjectToEdit, session: WriteSession, actor: Viewer) -> FormDesk:
    return FormDesk(request, session, actor, project)


def _number_or_first(value: object) -> object:
    # A hand-written page number leads to the first page rather than to an error.
    return value if isinstance(value, str) and value.isdecimal() and len(value) < 10 else 1


# Where the path names a run or charge, it comes before the desk: 404 before 403. Showing is done in a reading session,
# so that looking at a form holds up no writer.
ShowingDesk = Annotated[FormDesk, Depends(_to_show)]
TakingDesk = Annotated[FormDesk, Depends(_to_take)]
PageNumber = Annotated[int, BeforeValidator(_number_or_first), Query()]
