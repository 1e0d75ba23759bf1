"""Pages of projects."""

from fastapi import APIRouter

router = APIRouter()
