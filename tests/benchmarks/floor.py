"""The floor: the same routes in bare FastAPI over raw sqlite3, without a rule, a check or a team."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

ROWS_SHOWN = 50


def make_floor(file: Path) -> FastAPI:
    """Its database is as durable as the product's."""
    app = FastAPI()
    with _connect(file) as connection:
        connection.execute("CREATE TABLE run (id INTEGER PRIMARY KEY, name TEXT, hours REAL, cost INTEGER)")

    @app.post("/runs", status_code=201)
    def log_run(body: dict[str, Any]) -> dict[str, Any]:
        with _connect(file) as connection:
            cursor = connection.execute(
                "INSERT INTO run (name, hours, cost) VALUES (?, ?, ?)", (body["name"], body["hours"], 3_200_000)
            )
        return {"id": cursor.lastrowid, **body}

    @app.get("/page")
    def page() -> HTMLResponse:
        with _connect(file) as connection:
            rows = connection.execute(
                "SELECT name, hours, cost FROM run ORDER BY id DESC LIMIT ?", (ROWS_SHOWN,)
            ).fetchall()
            hours, cost = connection.execute("SELECT sum(hours), sum(cost) FROM run").fetchone()
        cells = "".join(f"<tr><td>{name}</td><td>{each}</td><td>{money}</td></tr>" for name, each, money in rows)
        return HTMLResponse(f"<p>{hours} h, {cost}</p><table>{cells}</table>")

    @app.post("/estimates")
    async def estimate(request: Request) -> dict[str, Any]:
        return {"model": json.loads(await request.body())["model"], "memory": {"required_bytes": 0}}

    return app


def fill_floor(file: Path, count: int) -> None:
    """So many runs."""
    with _connect(file) as connection:
        connection.executemany(
            "INSERT INTO run (name, hours, cost) VALUES (?, ?, ?)",
            ((f"r-{number}", 1.0, 3_200_000) for number in range(count)),
        )


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection
