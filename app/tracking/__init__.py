"""Runs and charges: what was really done and paid."""
