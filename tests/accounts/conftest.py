"""A member with a password, and a browser that keeps cookies as real ones do."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.accounts.access import Actor
from app.accounts.inputs import MemberInput
from app.accounts.models import Role
from app.accounts.passwords import Passwords
from app.accounts.service import Member, add_member
from app.db import Database

PASSWORD = "correct horse"

AddPerson = Callable[..., Member]
OpenBrowser = Callable[..., TestClient]


@pytest.fixture
def add_person(database: Database, owner: Actor) -> AddPerson:
    """``add_person("Li Wei", role="editor")``: a member of the owner's team."""

    def add(name: str, role: Role = "editor", actor: Actor = owner) -> Member:
        data = MemberInput(name=name, password=PASSWORD, role=role)
        with database.write() as session:
            return add_member(session, actor, data, Passwords("argon2-cheap"))

    return add


@pytest.fixture
def open_browser(app: FastAPI) -> Iterator[OpenBrowser]:
    """A browser of its own on an address of the application; redirects are not followed."""
    with ExitStack() as stack:

        def open_one(
            address: str = "http://127.0.0.1:8000", language: str = "en", client: str = "10.0.0.7"
        ) -> TestClient:
            headers = {"Accept-Language": language, "Sec-Fetch-Site": "same-origin"}
            browser = TestClient(
                app, base_url=address, headers=headers, follow_redirects=False, client=(client, 50000)
            )
            return stack.enter_context(browser)

        yield open_one
