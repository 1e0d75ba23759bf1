"""The team's page: its members, its tokens, its settings."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from sqlmodel import Session

from app.accounts import service
from app.accounts.access import Actor, Owner, PathId, Viewer
from app.accounts.cookies import session_secret
from app.accounts.inputs import MemberInput, RoleInput, TeamInput, TokenInput
from app.accounts.models import ApiToken, Membership
from app.accounts.passwords import SHORTEST
from app.accounts.sessions import switch_team
from app.accounts.setup_pages import currency_options, zone_options
from app.accounts.teams import change_team, get_own_team, teams_of_user
from app.accounts.tokens import create_token, get_token, list_tokens, revoke_token
from app.db import ReadSession, WriteSession
from app.errors import Conflict, InvalidInput, NotFound, PreconditionFailed
from app.fields import Id, Input
from app.i18n import Message
from app.versions import Precondition
from app.web.flash import flash
from app.web.forms import Form, FormValues, form_of_input, read_form
from app.web.render import render, see_other

router = APIRouter(prefix="/team")


class TeamChoice(Input):
    """Another of the user's teams."""

    team_id: Id


def _membership(membership_id: PathId, actor: Viewer, session: WriteSession) -> Membership:
    membership = service.get_membership(session, actor, membership_id)
    actor.require("owner")
    return membership


def _token(token_id: PathId, actor: Viewer, session: WriteSession) -> ApiToken:
    token = get_token(session, actor, token_id)
    actor.require("owner")
    return token


# Looked up before the role is judged (404 before 403).
MembershipToChange = Annotated[Membership, Depends(_membership)]
TokenToChange = Annotated[ApiToken, Depends(_token)]


@router.get("", name="team_page")
def team_page(request: Request, actor: Viewer, session: ReadSession) -> Response:
    """Who is in the team and what it works with; owners change it here."""
    return _page(request, actor, session)


@router.post("/members", name="add_member")
def add_member(request: Request, actor: Owner, session: WriteSession, values: FormValues) -> Response:
    """Adds a user with a first password."""
    try:
        data = read_form(MemberInput, values, actor.zone)
        member = service.add_member(session, actor, data, request.app.state.door.passwords)
    except InvalidInput as error:
        return _page(request, actor, session, 422, member_form=form_of_input(request, values, error, "member"))
    return _done(request, Message("%(name)s is a member now.", name=member.name))


@router.post("/members/{membership_id}/role", name="change_role")
def change_role(
    request: Request, membership: MembershipToChange, actor: Viewer, session: WriteSession, values: FormValues
) -> Response:
    """Gives a member another role."""
    role = read_form(RoleInput, values, actor.zone).role
    try:
        service.change_role(session, actor, membership, role)
    except Conflict as error:
        return _page(request, actor, session, error.status, problem=error.message)
    return _done(request, Message("The role was changed."))


@router.post("/members/{membership_id}/remove", name="remove_member")
def remove_member(
    request: Request, membership: MembershipToChange, actor: Viewer, session: WriteSession
) -> Response:
    """Takes a member out of the team."""
    try:
        service.remove_member(session, actor, membership)
    except Conflict as error:
        return _page(request, actor, session, error.status, problem=error.message)
    return _done(request, Message("The member was removed."))


@router.post("/tokens", name="create_token")
def create_token_form(request: Request, actor: Owner, session: WriteSession, values: FormValues) -> Response:
    """Makes a token. The answer is the only place where it ever stands, so it is no redirect."""
    try:
        secret = create_token(session, actor, read_form(TokenInput, values, actor.zone))
    except InvalidInput as error:
        return _page(request, actor, session, 422, token_form=form_of_input(request, values, error, "token"))
    return _page(request, actor, session, 201, new_token=secret)


@router.post("/tokens/{token_id}/revoke", name="revoke_token")
def revoke_token_form(request: Request, token: TokenToChange, actor: Viewer, session: WriteSession) -> Response:
    """Revokes a token."""
    revoke_token(session, actor, token)
    return _done(request, Message("The token was revoked."))


@router.post("/settings", name="change_team")
def change_team_form(request: Request, actor: Owner, session: WriteSession, values: FormValues) -> Response:
    """Changes the team's name and what new records start from."""
    try:
        data = read_form(TeamInput, values, actor.zone)
        change_team(session, actor, data, Precondition.from_form(values.get("version", "")))
    except InvalidInput as error:
        return _page(request, actor, session, 422, team_form=form_of_input(request, values, error, "team"))
    except PreconditionFailed as error:
        return _page(request, actor, session, error.status, problem=error.message)
    return _done(request, Message("The settings were saved."))


@router.post("/switch", name="switch_team")
def switch_team_form(request: Request, actor: Viewer, session: WriteSession, values: FormValues) -> Response:
    """Goes on in another of the user's teams."""
    secret = session_secret(request)
    if actor.user_id is None or secret is None:
        raise NotFound
    team = get_own_team(session, actor.user_id, read_form(TeamChoice, values, actor.zone).team_id)
    switch_team(session, secret, actor.user_id, team)
    return see_other(request, "dashboard")


def _done(request: Request, message: Message) -> Response:
    response = see_other(request, "team_page")
    flash(request, response, "success", message)
    return response


def _page(
    request: Request,
    actor: Actor,
    session: Session,
    status: int = 200,
    *,
    problem: Message | None = None,
    new_token: str | None = None,
    **forms: Form,
) -> Response:
    teams = teams_of_user(session, actor.user_id) if actor.user_id is not None else []
    context: dict[str, Any] = {**_first_forms(actor), **forms, **_choices()}
    return render(
        request,
        "accounts/team.html",
        status=status,
        nav="team",
        members=service.list_members(session, actor.team_id),
        tokens=list_tokens(session, actor) if actor.is_owner else [],
        now=actor.clock(),
        other_teams=[team for team in teams if team.id != actor.team_id],
        problem=problem,
        new_token=new_token,
        **context,
    )


def _first_forms(actor: Actor) -> dict[str, Form]:
    return {
        "member_form": Form({"role": "editor"}, id="member"),
        "token_form": Form({"role": "editor"}, id="token"),
        "team_form": Form(_team_values(actor), id="team"),
    }


def _team_values(actor: Actor) -> Mapping[str, Any]:
    team = actor.team
    return {
        "name": team.name,
        "currency": team.currency,
        "time_zone": team.time_zone,
        "language": team.language,
        "version": team.version,
    }


def _choices() -> dict[str, Any]:
    return {"currencies": currency_options(), "zones": zone_options(), "shortest_password": SHORTEST}
