"""The packaged models: names, true configurations."""

import pytest

from app.catalog.known_models import find_model, list_models


def test_there_are_enough_of_them_and_each_name_means_one() -> None:
    models = list_models()
    names = [model.id for model in models] + [model.hub_name.lower() for model in models]
    assert len(models) >= 60
    assert len(set(names)) == len(names)
    assert all(model.id == model.id.lower() for model in models)


@pytest.mark.parametrize("name", ["llama-7b", "LLaMA-7B", "huggyllama/llama-7b", " Huggyllama/LLama-7b "])
def test_the_original_llama_by_any_of_its_names(name: str) -> None:
    model = find_model(name)
    assert model is not None
    assert model.id == "llama-7b"
    assert model.published_parameters == 6_738_415_616
    config = model.config
    assert (config["vocab_size"], config["hidden_size"], config["intermediate_size"]) == (32_000, 4096, 11_008)
    assert (config["num_hidden_layers"], config["num_attention_heads"]) == (32, 32)
    assert model.longest_tokens == 2048


def test_the_hub_name_of_a_gated_model() -> None:
    model = find_model("meta-llama/Llama-2-7b-hf")
    assert model is not None
    assert model.id == "llama-2-7b"
    assert model.longest_tokens == 4096


def test_qwen_shares_its_key_and_value_heads() -> None:
    model = find_model("qwen2.5-7b")
    assert model is not None
    assert (model.config["num_attention_heads"], model.config["num_key_value_heads"]) == (28, 4)
    assert model.published_parameters == 7_615_616_512


@pytest.mark.parametrize("name", ["", "llama", "sdxl-9", "nobody/llama-7b"])
def test_an_unknown_name_is_none(name: str) -> None:
    assert find_model(name) is None


def test_a_model_whose_configuration_has_no_length_says_so() -> None:
    model = find_model("falcon-7b")
    assert model is not None
    assert model.longest_tokens is None


def test_a_configuration_cannot_be_changed() -> None:
    model = find_model("llama-7b")
    assert model is not None
    with pytest.raises(TypeError):
        model.config["hidden_size"] = 1  # type: ignore[index]


def test_every_model_names_its_source() -> None:
    assert all(model.source and model.hub_name.count("/") == 1 for model in list_models())
