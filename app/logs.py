"""Log lines of ours and of the libraries, in one form, to stderr: stdout carries a command's answer alone."""

import logging
import sys
from typing import Literal

import structlog
from structlog.typing import Processor

# They tell at length what is of no use to who runs a server.
_QUIET_LIBRARIES = ("alembic", "uvicorn.error", "httpx")

_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def configure_logs(format: Literal["text", "json"]) -> None:
    """Sends everything that is logged in this process to stderr."""
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=_SHARED, processors=_last_processors(format))
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    for name in _QUIET_LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)


def _last_processors(format: Literal["text", "json"]) -> list[Processor]:
    drop = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if format == "json":
        # Without the variables of each frame, which hold passwords and tokens.
        trace = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        return [
            drop,
            structlog.processors.ExceptionRenderer(trace),
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ]
    plain = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
    )
    return [drop, plain]
