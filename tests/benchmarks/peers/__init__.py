"""Other public estimators on the same measured runs, side by side with ours."""
