"""Plumbing of the pages: rendering, forms, security headers, CSRF."""
