"""Plans: from a form or a request to a stored estimate."""
