"""Makes this the package ``tests``: a wheel that ships one of its own would hide a folder without this file."""
