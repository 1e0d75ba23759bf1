"""Pages of accounts: set-up, signing in, the team, a reader's own preferences."""

from fastapi import APIRouter

from app.accounts import password_pages, preference_pages, setup_pages, sign_in_pages, team_pages

router = APIRouter()
for part in (setup_pages, sign_in_pages, password_pages, preference_pages, team_pages):
    router.include_router(part.router)
