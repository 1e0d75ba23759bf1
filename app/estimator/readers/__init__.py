"""Readers of Hugging Face configurations, one module for each kind of model."""
