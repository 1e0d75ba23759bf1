"""How far the estimator is from reality: run by hand, `make accuracy`."""
