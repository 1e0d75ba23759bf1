"""Prints a table: this product beside the floor, their requests taking turns, so that noise hits both alike."""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from app.accounts.access import Actor
from app.catalog.sync import sync_packaged_offers
from app.db import Database
from app.estimator import Job, Lora, Recipe, Workload, estimate, read_architecture
from app.main import create_app
from app.projects.inputs import ProjectInput
from app.projects.service import create_project
from app.settings import Settings
from app.time import utc_now
from app.tracking.inputs import RunInput
from app.tracking.runs import log_run
from tests.benchmarks.floor import fill_floor, make_floor
from tests.fixtures.applications import serving
from tests.fixtures.people import People

RUNS = 10_000
REQUESTS = 100
LORA = {
    "model": "llama-7b", "method": "lora", "lora": {"rank": 8, "target_modules": ["q_proj", "v_proj"]}, "gpu": "a10",
    "gradient_checkpointing": True, "workload": {"train_tokens": 50_000_000},
}  # fmt: skip
SEARCH = {
    "model": "llama-7b", "sequence_length": 512, "workload": {"samples": 50_000, "epochs": 3}, "budget": "300",
    "currency": "CNY", "deadline_hours": 80,
}  # fmt: skip
Send = Callable[[], httpx.Response]


def main() -> int:
    """Seeds both, serves both, times both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = Settings(database_url=f"sqlite:///{folder / 'product.db'}", password_hash="argon2-cheap")
        database = Database(settings.resolved_database_url)
        database.migrate()
        token, cookie, project_id = _seed(database)
        floor_app = make_floor(folder / "floor.db")
        fill_floor(folder / "floor.db", RUNS)
        with serving(create_app(settings, database=database)) as product, serving(floor_app) as floor:
            _compare(product, floor, token, cookie, project_id)
    _alone()
    return 0


def _seed(database: Database) -> tuple[str, str, int]:
    with database.write() as session:
        sync_packaged_offers(session, utc_now())
    people = People(database, utc_now)  # type: ignore[arg-type]
    team = people.make_team("bench")
    with database.write() as session:
        actor = Actor(team, "owner", "bench", utc_now)
        project_id = _project_with_runs(session, actor)
    return people.make_token(team), people.sign_in(team), project_id


def _project_with_runs(session: Any, actor: Actor) -> int:
    budget = {"amount": "1000000", "period": "total", "starts_on": "2020-01-01"}
    wanted = {"name": "bench", "currency": "CNY", "budget": budget}
    project = create_project(session, actor, ProjectInput.model_validate(wanted))
    first = datetime(2024, 1, 1, tzinfo=UTC)
    for number in range(RUNS):
        log_run(session, actor, project, RunInput.model_validate(_run(first + timedelta(hours=2 * number))))
    return project.id or 0


def _run(started_at: datetime) -> dict[str, Any]:
    price = {"amount": "3.20", "currency": "CNY"}
    return {"name": "r", "started_at": started_at.isoformat(), "hours": 1.0, "price_per_hour": price}


def _compare(product: str, floor: str, token: str, cookie: str, project_id: int) -> None:
    script = _client(f"{product}/api/v1", headers={"Authorization": f"Bearer {token}"})
    browser = _client(product, cookies={"tuneledger": cookie})
    bare = _client(floor)
    run = _run(datetime(2023, 1, 1, tzinfo=UTC))
    cases: list[tuple[str, Send, Send]] = [
        (
            "log a run",
            lambda: script.post(f"/projects/{project_id}/runs", json=run),
            lambda: bare.post("/runs", json=run),
        ),
        (f"project page, {RUNS:,} runs", lambda: browser.get(f"/projects/{project_id}"), lambda: bare.get("/page")),
        ("one estimate", lambda: script.post("/estimates", json=LORA), lambda: bare.post("/estimates", json=LORA)),
        (
            "search of the whole catalogue, 100 options",
            lambda: script.post("/plans/search", json=SEARCH),
            lambda: bare.post("/estimates", json=SEARCH),
        ),
        (
            "search page",
            lambda: browser.get(f"/projects/{project_id}/plans/search"),
            lambda: bare.get("/page"),
        ),
    ]
    print("| what | product, median ms | p95 ms | floor, median ms | p95 ms | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, ours, theirs in cases:
        _line(name, *_turns(ours, theirs))


def _client(address: str, **options: Any) -> httpx.Client:
    # A connection each: on one that is kept, the kernel's delayed acknowledgement adds 40 ms to either side at random.
    return httpx.Client(base_url=address, limits=httpx.Limits(max_keepalive_connections=0), timeout=60, **options)


def _turns(ours: Send, theirs: Send) -> tuple[list[float], list[float]]:
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(REQUESTS + 5):
        for send, found in zip((ours, theirs), times, strict=True):
            begin = time.perf_counter()
            send().raise_for_status()
            # The first ones fill caches.
            if number >= 5:
                found.append((time.perf_counter() - begin) * 1000)
    return times


def _line(name: str, ours: list[float], theirs: list[float]) -> None:
    figures = [statistics.median(ours), _p95(ours), statistics.median(theirs), _p95(theirs)]
    cells = " | ".join(f"{figure:.1f}" for figure in figures)
    print(f"| {name} | {cells} | {figures[0] / figures[2]:.1f} |")


def _p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


def _alone() -> None:
    """The estimator without the web."""
    config = {
        "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
        "num_attention_heads": 32, "vocab_size": 32000, "tie_word_embeddings": False,
    }  # fmt: skip
    lora = Lora(8, ("q_proj", "v_proj"))
    job = Job(read_architecture(config), Recipe("lora", lora=lora), Workload(train_tokens=50_000_000))
    begin = time.perf_counter()
    for _ in range(1000):
        estimate(job)
    print(f"\n`estimate()` alone: {(time.perf_counter() - begin) * 1000:.0f} µs")


if __name__ == "__main__":
    sys.exit(main())
