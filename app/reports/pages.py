"""Pages of reports."""

from fastapi import APIRouter

router = APIRouter()
