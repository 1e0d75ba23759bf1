"""Every model of the catalogue can be planned, and has as many parameters as its makers publish."""

import pytest

from app.catalog.known_models import CatalogModel, list_models
from app.catalog.parameters import parameter_counts
from app.estimator import read_architecture


@pytest.mark.parametrize("model", list_models(), ids=lambda model: model.id)
def test_the_estimator_reads_it_whole(model: CatalogModel) -> None:
    assert tuple(read_architecture(dict(model.config)).unknown_fields) == ()


@pytest.mark.parametrize(
    "model", [model for model in list_models() if model.published_parameters], ids=lambda model: model.id
)
def test_its_parameters_are_those_published(model: CatalogModel) -> None:
    assert parameter_counts()[model.id] == model.published_parameters


def test_enough_counts_are_published() -> None:
    assert sum(model.published_parameters is not None for model in list_models()) >= 45
