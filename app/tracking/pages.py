"""Pages of tracking."""

from fastapi import APIRouter

router = APIRouter()
