"""Pages of catalog."""

from fastapi import APIRouter

router = APIRouter()
