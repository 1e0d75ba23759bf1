"""The weekly report: built once as data, one writer per format."""
