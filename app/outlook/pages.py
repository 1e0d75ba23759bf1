"""Pages of outlook."""

from fastapi import APIRouter

router = APIRouter()
