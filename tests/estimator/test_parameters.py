"""Parameter counts are exact; published counts of the model cards."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.estimator import ConfigError, Job, Lora, Recipe, estimate, place_adapters, read_architecture
from app.estimator.readers.diffusion import at_image_size
from tests.estimator import configurations as known
from tests.estimator.configurations import LLAMA_7B


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (known.LLAMA_7B, 6_738_415_616),
        (known.GPT2, 124_439_808),
        (known.QWEN25_7B, 7_615_616_512),
        (known.MIXTRAL, 46_702_792_704),
        (known.GEMMA_2B, 2_506_172_416),
        (known.QWEN15_MOE, 14_315_784_192),
        (known.DEEPSEEK_V2_LITE, 15_706_484_224),
        (known.BERT_BASE, 109_514_298),
        (known.BERT_CLASSIFIER, 109_483_778),
        (known.DISTILBERT, 66_985_530),
        (known.T5_BASE, 222_903_552),
        (known.FLAN_T5_BASE, 247_577_856),
        (known.WHISPER_SMALL, 241_734_912),
        (known.VIT_BASE, 86_567_656),
        (known.SD15, 859_520_964),
        (known.SDXL, 2_567_463_684),
        (known.FLUX, 11_901_408_320),
        (known.OPT_350M, 331_196_416),
        (known.GEMMA_3, 999_885_952),
        (known.GPTJ_6B, 6_050_882_784),
    ],
)
def test_counts_are_the_published_ones(config: dict[str, Any], parameters: int) -> None:
    assert read_architecture(config).parameters == parameters


@pytest.mark.parametrize(
    ("config", "field"),
    [
        (LLAMA_7B | {"model_type": "speech"}, "model_type"),
        (LLAMA_7B | {"model_type": None}, "model_type"),
        (LLAMA_7B | {"hidden_size": None}, "hidden_size"),
        (LLAMA_7B | {"hidden_size": 0}, "hidden_size"),
        (LLAMA_7B | {"hidden_size": "4096"}, "hidden_size"),
        (LLAMA_7B | {"hidden_size": True}, "hidden_size"),
        (LLAMA_7B | {"num_attention_heads": 33}, "num_attention_heads"),
        (LLAMA_7B | {"num_key_value_heads": 5}, "num_key_value_heads"),
        (LLAMA_7B | {"vocab_size": None}, "vocab_size"),
        (known.GPT2 | {"n_positions": None}, "max_position_embeddings"),
        (known.GPT2 | {"n_head": 7}, "n_head"),
        (known.DEEPSEEK_V2_LITE | {"v_head_dim": 0}, "v_head_dim"),
        (known.BERT_BASE | {"vocab_size": None}, "vocab_size"),
        (known.BERT_BASE | {"intermediate_size": None}, "intermediate_size"),
        (known.T5_BASE | {"vocab_size": None}, "vocab_size"),
        (known.T5_BASE | {"d_ff": None}, "d_ff"),
        (known.WHISPER_SMALL | {"vocab_size": None}, "vocab_size"),
        (known.VIT_BASE | {"hidden_size": -1}, "hidden_size"),
        (known.SD15 | {"block_out_channels": []}, "block_out_channels"),
        (known.SD15 | {"block_out_channels": [320, 0]}, "block_out_channels"),
        (known.FLUX | {"num_single_layers": 0}, "num_single_layers"),
        (known.SD15 | {"layers_per_block": 10_000_000}, "layers_per_block"),
        (known.SD15 | {"attention_head_dim": 7}, "attention_head_dim"),
        (known.SD15 | {"attention_head_dim": [8]}, "attention_head_dim"),
        (known.SD15 | {"transformer_layers_per_block": {"a": 1}}, "transformer_layers_per_block"),
        (known.SD15 | {"down_block_types": ["DownBlock2D"]}, "down_block_types"),
    ],
)
def test_what_is_missing_or_wrong_is_named(config: dict[str, Any], field: str) -> None:
    given = {name: value for name, value in config.items() if value is not None}
    with pytest.raises(ConfigError) as caught:
        read_architecture(given)
    assert caught.value.field == field


@pytest.mark.parametrize("config", [None, [], "llama", 7])
def test_what_is_no_object_is_refused(config: object) -> None:
    with pytest.raises(ConfigError):
        read_architecture(config)


def test_fields_that_are_not_understood_are_reported() -> None:
    assert read_architecture(LLAMA_7B | {"warp_factor": 9, "rope_theta": 1e4}).unknown_fields == ("warp_factor",)
    assert read_architecture(known.SD15 | {"warp_factor": 9}).unknown_fields == ("warp_factor",)
    assert read_architecture(known.FLUX | {"warp_factor": 9}).unknown_fields == ("warp_factor",)


def test_an_unknown_kind_that_is_built_like_llama_is_read_as_one_and_says_so() -> None:
    read = read_architecture(LLAMA_7B | {"model_type": "newcomer", "rms_norm_eps": 1e-6})
    assert read.parameters == 6_738_415_616
    assert read.unknown_fields == ("model_type",)


def test_of_a_model_that_sees_the_language_model_is_read_and_the_rest_is_named() -> None:
    assert read_architecture(known.GEMMA_3).unknown_fields == ("model_type", "vision_config")


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"num_hidden_layers": 31}, -(4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096)),
        ({"tie_word_embeddings": True}, -32_000 * 4096),
        ({"num_key_value_heads": 8}, -32 * 2 * 4096 * 3072),
        ({"head_dim": 64}, -32 * 4 * 4096 * 2048),
        ({"attention_bias": True}, 32 * 4 * 4096),
        ({"mlp_bias": True}, 32 * (2 * 11008 + 4096)),
        ({"architectures": ["LlamaForSequenceClassification"], "num_labels": 3}, -(32_000 - 3) * 4096),
        ({"hidden_size": 4096.0}, 0),
    ],
)
def test_each_field_changes_the_count_by_what_it_says(changes: dict[str, Any], difference: int) -> None:
    assert read_architecture(LLAMA_7B | changes).parameters == 6_738_415_616 + difference


@pytest.mark.parametrize(
    ("changes", "layout"),
    [
        ({}, "parallel"),
        ({"parallel_attn": False}, "pre"),
        ({"new_decoder_architecture": True, "num_kv_heads": 8}, "parallel_two_norms"),
        ({"new_decoder_architecture": True, "num_kv_heads": 8, "num_ln_in_parallel_attn": 1}, "parallel"),
    ],
)
def test_falcons_generations_are_put_together_differently(changes: dict[str, Any], layout: str) -> None:
    falcon = {
        "model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
        "vocab_size": 65024,
    }  # fmt: skip
    if "num_kv_heads" in changes:
        falcon |= {"hidden_size": 8192, "num_attention_heads": 128}
    assert read_architecture(falcon | changes).blocks[0].layout == layout


@pytest.mark.parametrize(
    ("config", "blocks"),
    [
        ({"model_type": "gpt_neox", "use_parallel_residual": False}, {"layout": "pre"}),
        ({"model_type": "stablelm", "use_parallel_residual": True}, {"layout": "parallel"}),
        ({"model_type": "stablelm", "qk_layernorm": True}, {"qk_norm": "head"}),
        ({"model_type": "chatglm", "multi_query_attention": True}, {"key_value_heads": 1}),
        ({"model_type": "chatglm", "multi_query_attention": True, "multi_query_group_num": 2}, {"key_value_heads": 2}),
        ({"model_type": "gpt_bigcode", "multi_query": True}, {"key_value_heads": 1}),
        ({"model_type": "falcon", "multi_query": False}, {"key_value_heads": 32}),
        ({"model_type": "mpt", "attn_config": {"kv_n_heads": 4, "alibi": True}}, {"key_value_heads": 4}),
        ({"model_type": "mimo", "attention_bias": True}, {"key_value_heads": 32}),
    ],
)
def test_a_familys_own_fields_are_read(config: dict[str, Any], blocks: dict[str, Any]) -> None:
    block = read_architecture(LLAMA_7B | config).blocks[0]
    assert {name: getattr(block, name) for name in blocks} == blocks


def test_deberta_may_have_positions_and_types_of_its_own() -> None:
    plain = read_architecture(known.DEBERTA).parameters
    more = {"position_biased_input": True, "type_vocab_size": 2, "max_position_embeddings": 512}
    assert read_architecture(known.DEBERTA | more).parameters - plain == (512 + 2) * 768
    absolute = read_architecture(known.DEBERTA | {"relative_attention": False}).parameters
    assert plain - absolute == 512 * 768 + 2 * 768


def test_other_kinds_have_no_image_size() -> None:
    read = read_architecture(LLAMA_7B)
    assert at_image_size(read, 512) is read


def test_adapters_may_sit_on_the_head_and_have_the_bases_type() -> None:
    read = read_architecture(LLAMA_7B)
    head = place_adapters(read, Lora(rank=4, target_modules=("lm_head", "q_proj")))
    assert head.parameters == 4 * (4096 + 32_000) + 32 * 4 * 2 * 4096
    for method in ("lora", "qlora"):
        sizes = [
            estimate(Job(read, Recipe(method, "bf16", lora=Lora(4, ("lm_head",), adapter_dtype=kind)))).step.peak_bytes
            for kind in ("base", "fp32")
        ]
        assert sizes[0] < sizes[1]


@pytest.mark.parametrize("name", ["relu", "relu2", "gelu", "gelu_new", "quick_gelu", "xielu", "silu", "nonsense"])
def test_every_activation_function_is_computed_somehow(name: str) -> None:
    config = known.BERT_BASE | {"hidden_act": name}
    assert estimate(Job(read_architecture(config), Recipe("full", "bf16-mixed"))).step.peak_bytes > 0


JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1, 2, 3, 64, 10**7, 10**8, 1.5, 2.0, 1e308, math.nan, math.inf, "", "x", [], [1, 2, 3], {}]
)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_whatever_a_configuration_holds_it_is_estimated_or_refused_by_name(data: st.DataObject) -> None:
    config = dict(known.EVERY_KIND[data.draw(st.sampled_from(sorted(known.EVERY_KIND)))])
    for name in data.draw(st.lists(st.sampled_from(sorted(config)), min_size=1, max_size=3)):
        config[name] = data.draw(JUNK)
    try:
        read = read_architecture(config)
    except ConfigError as error:
        assert error.reason  # noqa: PT017 - most are refused
        return
    step = estimate(Job(read, Recipe("full", "bf16-mixed", sequence_length=16))).step
    assert sum(step.components.values()) == step.peak_bytes > 0


@pytest.mark.parametrize("name", ["qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"])
def test_latent_attention_without_one_of_its_widths_is_refused_by_name(name: str) -> None:
    config = {field: value for field, value in known.DEEPSEEK_V2_LITE.items() if field != name}
    with pytest.raises(ConfigError) as refused:
        read_architecture(config)
    assert refused.value.field == name
