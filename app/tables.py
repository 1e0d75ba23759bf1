"""Imports every feature's tables, so that the metadata is complete wherever it is needed as a whole."""

import app.accounts.models
import app.api.idempotency
import app.catalog.models
import app.evidence.models
import app.planning.models
import app.projects.models
import app.tracking.models  # noqa: F401
