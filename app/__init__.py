"""Tuneledger: plan fine-tuning jobs and keep their budget."""

__version__ = "0.1.0"
