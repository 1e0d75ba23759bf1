"""Parameter types of the routes of hosted prices."""

from typing import Annotated

from fastapi import Depends

from app.accounts.access import PathId, Viewer
from app.catalog.hosted.prices import get_hosted_price, get_hosted_price_to_change, restore_hosted_price
from app.catalog.models import HostedPrice
from app.db import ReadSession, WriteSession


def _seen(hosted_id: PathId, actor: Viewer, session: ReadSession) -> HostedPrice:
    return get_hosted_price(session, actor.team_id, hosted_id)


def _to_edit(price: Annotated[HostedPrice, Depends(_seen)], actor: Viewer) -> HostedPrice:
    actor.require("editor")
    return price


def _to_change(hosted_id: PathId, actor: Viewer, session: WriteSession) -> HostedPrice:
    return get_hosted_price_to_change(session, actor, hosted_id)


def _restored(hosted_id: PathId, actor: Viewer, session: WriteSession) -> HostedPrice:
    return restore_hosted_price(session, actor, hosted_id)


SeenHosted = Annotated[HostedPrice, Depends(_seen)]
# For the form that is filled with it.
HostedToEdit = Annotated[HostedPrice, Depends(_to_edit)]
# In the writing session and locked, so that what is changed is what was looked up.
HostedToChange = Annotated[HostedPrice, Depends(_to_change)]
RestoredHosted = Annotated[HostedPrice, Depends(_restored)]
