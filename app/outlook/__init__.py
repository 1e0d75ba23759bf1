"""Projected against actual; the dashboard and the project page."""
