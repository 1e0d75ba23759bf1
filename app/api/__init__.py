"""Plumbing of the JSON API: problems, pagination, ETags, idempotency."""
