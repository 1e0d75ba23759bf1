"""One writer per format; each takes the report and the reader's language and returns text."""
