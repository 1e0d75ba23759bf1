"""Pages of planning."""

from fastapi import APIRouter

router = APIRouter()
