"""Parameter counts are exact; published counts of the model cards."""

from typing import Any

import pytest

from app.estimator import ConfigError, read_architecture

LLAMA_7B: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "vocab_size": 32000,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
}
GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}
QWEN25_7B = {
    "model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, "tie_word_embeddings": False,
}  # fmt: skip
MIXTRAL = LLAMA_7B | {
    "model_type": "mixtral", "intermediate_size": 14336, "num_key_value_heads": 8, "num_local_experts": 8,
    "num_experts_per_tok": 2,
}  # fmt: skip
GEMMA_2B = {
    "model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "num_hidden_layers": 18,
    "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 256000,
}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (LLAMA_7B, 6_738_415_616),
        (GPT2, 124_439_808),
        (QWEN25_7B, 7_615_616_512),
        (MIXTRAL, 46_702_792_704),
        (GEMMA_2B, 2_506_172_416),
    ],
)
def test_counts_are_the_published_ones(config: dict[str, Any], parameters: int) -> None:
    assert read_architecture(config).parameters == parameters


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model_type": "speech"}, "model_type"),
        ({"model_type": None}, "model_type"),
        ({"hidden_size": None}, "hidden_size"),
        ({"hidden_size": 0}, "hidden_size"),
        ({"hidden_size": "4096"}, "hidden_size"),
        ({"hidden_size": True}, "hidden_size"),
        ({"num_attention_heads": 33}, "num_attention_heads"),
        ({"num_key_value_heads": 5}, "num_key_value_heads"),
        ({"vocab_size": None}, "vocab_size"),
    ],
)
def test_what_is_missing_or_wrong_is_named(changes: dict[str, Any], field: str) -> None:
    config = {name: value for name, value in (LLAMA_7B | changes).items() if value is not None}
    with pytest.raises(ConfigError) as caught:
        read_architecture(config)
    assert caught.value.field == field


@pytest.mark.parametrize("config", [None, [], "llama", 7])
def test_what_is_no_object_is_refused(config: object) -> None:
    with pytest.raises(ConfigError):
        read_architecture(config)


def test_fields_that_are_not_understood_are_reported() -> None:
    assert read_architecture(LLAMA_7B | {"warp_factor": 9, "rope_theta": 1e4}).unknown_fields == ("warp_factor",)
