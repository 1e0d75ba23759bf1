"""Pages of runs and charges."""

from fastapi import APIRouter

from app.tracking import charge_pages, run_pages

router = APIRouter()
router.include_router(run_pages.router)
router.include_router(charge_pages.router)
