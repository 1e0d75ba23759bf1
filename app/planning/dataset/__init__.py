"""How long the samples of an uploaded data set are, in tokens."""

from app.planning.dataset.lengths import DatasetLengths, measure_dataset

__all__ = ["DatasetLengths", "measure_dataset"]
