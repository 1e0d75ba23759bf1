"""Hosted fine-tuning, paid by the token: the packaged prices, the team's own, and what a job costs there."""
