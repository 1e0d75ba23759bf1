"""Reads a Hugging Face ``config.json`` into an Architecture.

Field names differ between families, so each figure has a list of names; what makes a family different (fused
projections, biases, norms, learned positions) stands in one table. A field that is in neither is reported, not guessed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.estimator.architecture import ActivationKind, Architecture, Linear, NormKind, Role
from app.estimator.errors import ConfigError

Config = Mapping[str, object]
LARGEST_DIMENSION = 10_000_000


@dataclass(frozen=True, slots=True)
class _Family:
    """What the configuration does not say because the model's code does."""

    norm: NormKind = "rms"
    norms: int = 2
    norm_bias: bool = False
    gated: bool = True
    projections: str = "q,k,v"  # or "qkv": one fused matrix
    names: Mapping[str, str] = field(default_factory=dict)
    fused_gate: bool = False
    attention_bias: bool | None = None  # None: the configuration says
    output_bias: bool | None = None
    mlp_bias: bool | None = None
    head_bias: bool = False
    tied: bool = False
    learned_positions: bool = False
    position_offset: int = 0
    rotary: bool = True
    qk_norm: str = ""  # "head": one a head width, "full": one a projection width
    embedding_norms: int = 0
    head_name: str = "lm_head"


_GPT2_NAMES = {"qkv": "c_attn", "o": "c_proj", "up": "c_fc", "down": "c_proj"}
_NEOX_NAMES = {"qkv": "query_key_value", "o": "dense", "up": "dense_h_to_4h", "down": "dense_4h_to_h"}

_LAYER_NORM = _Family(norm="layer", norm_bias=True, gated=False)
_FAMILIES: dict[str, _Family] = {
    **dict.fromkeys(["llama", "mistral", "granite", "internlm", "seed_oss", "mixtral", "mimo"], _Family()),
    "qwen2": _Family(attention_bias=True, output_bias=False),
    "qwen2_moe": _Family(attention_bias=True, output_bias=False),
    "qwen3": _Family(qk_norm="head"),
    "qwen3_moe": _Family(qk_norm="head"),
    "qwen": _Family(
        projections="qkv",
        names={"qkv": "c_attn", "o": "c_proj", "gate": "w2", "up": "w1", "down": "c_proj"},
        attention_bias=True,
        output_bias=False,
        mlp_bias=False,
    ),
    "gemma": _Family(norm="gemma_rms", tied=True),
    "gemma2": _Family(norm="gemma_rms", norms=4, tied=True),
    "gemma3_text": _Family(norm="gemma_rms", norms=4, tied=True, qk_norm="head"),
    "phi": _Family(
        norm="layer", norms=1, norm_bias=True, gated=False, attention_bias=True, output_bias=True, mlp_bias=True,
        head_bias=True, names={"o": "dense", "up": "fc1", "down": "fc2"},
    ),
    "phi3": _Family(projections="qkv", fused_gate=True, names={"qkv": "qkv_proj", "gate_up": "gate_up_proj"}),
    "gpt2": replace(
        _LAYER_NORM, projections="qkv", names=_GPT2_NAMES, attention_bias=True, output_bias=True, mlp_bias=True,
        tied=True, learned_positions=True, rotary=False,
    ),
    "gpt_bigcode": replace(
        _LAYER_NORM, projections="qkv", names=_GPT2_NAMES, attention_bias=True, output_bias=True, mlp_bias=True,
        tied=True, learned_positions=True, rotary=False,
    ),
    "gpt_neox": replace(
        _LAYER_NORM, projections="qkv", names=_NEOX_NAMES, attention_bias=True, output_bias=True, mlp_bias=True,
        head_name="embed_out",
    ),
    "bloom": replace(
        _LAYER_NORM, projections="qkv", names=_NEOX_NAMES, attention_bias=True, output_bias=True, mlp_bias=True,
        tied=True, rotary=False, embedding_norms=1,
    ),
    "falcon": replace(_LAYER_NORM, norms=1, projections="qkv", names=_NEOX_NAMES, tied=True),
    "opt": replace(
        _LAYER_NORM, names={"o": "out_proj", "up": "fc1", "down": "fc2"}, attention_bias=True, output_bias=True,
        mlp_bias=True, tied=True, learned_positions=True, position_offset=2, rotary=False,
    ),
    "mpt": replace(
        _LAYER_NORM,
        norm_bias=False, projections="qkv",
        names={"qkv": "Wqkv", "o": "out_proj", "up": "up_proj", "down": "down_proj"},
        attention_bias=False, output_bias=False, mlp_bias=False, tied=True, learned_positions=True, rotary=False,
    ),
    "chatglm": _Family(
        projections="qkv", fused_gate=True,
        names={"qkv": "query_key_value", "o": "dense", "gate_up": "dense_h_to_4h", "down": "dense_4h_to_h"},
        attention_bias=True, output_bias=False, mlp_bias=False, head_name="output_layer",
    ),
    "baichuan": _Family(projections="qkv", names={"qkv": "W_pack"}, attention_bias=False, output_bias=False),
    "stablelm": _Family(norm="layer", norm_bias=True),
    "olmo2": _Family(qk_norm="full"),
    "olmo3": _Family(qk_norm="full"),
    "arcee": _Family(gated=False),
    "apertus": _Family(gated=False, qk_norm="head"),
}  # fmt: skip

_ALIASES: dict[str, tuple[str, ...]] = {
    "hidden": ("hidden_size", "n_embd", "d_model"),
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "vocabulary": ("padded_vocab_size", "vocab_size"),
}
_LENGTHS = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "max_sequence_length")

# Fields that say nothing about memory or speed, or are read below.
_KNOWN = frozenset(
    """activation_function add_bias_linear add_cross_attention add_qkv_bias alibi
    apply_residual_connection_post_layernorm architectures attention_bias attention_dropout attention_multiplier
    attention_out_bias attention_probs_dropout_prob attention_softmax_in_fp32 attn_config attn_dropout_prob
    attn_logit_softcapping attn_pdrop auto_map bias bos_token_id chunk_size_feed_forward clip_qkv d_model
    decoder_sparse_step do_layer_norm_before dropout dtype emb_dropout_prob emb_pdrop embd_pdrop
    embedding_multiplier enable_bias eos_token_id expansion_ratio ffn_dim ffn_hidden_size
    final_logit_softcapping head_dim hidden_act hidden_activation hidden_dropout hidden_dropout_prob hidden_size
    init_device init_std initializer_range intermediate_size kv_channels layer_norm_elementwise_affine
    layer_norm_eps layer_norm_epsilon layer_types layerdrop layernorm_epsilon learned_pos_emb logit_scale
    logits_scaling logn_attn max_position_embeddings max_seq_len max_sequence_length max_window_layers mlp_bias
    mlp_only_layers model_max_length model_type moe_intermediate_size multi_query multi_query_attention
    multi_query_group_num n_embd n_head n_heads n_inner n_layer n_layers n_positions new_decoder_architecture
    no_bias norm_topk_prob norm_type num_attention_heads num_experts num_experts_per_tok num_hidden_layers
    num_key_value_heads num_kv_heads num_layers num_local_experts num_nextn_predict_layers offset_alibi
    original_max_position_embeddings original_rope output_router_logits pad_token_id padded_vocab_size
    parallel_attn partial_rotary_factor post_layer_norm post_norm pretraining_tp qk_layernorm qk_norm
    query_pre_attn_scalar reorder_and_upcast_attn resid_pdrop residual_multiplier rms_norm_eps rmsnorm
    rope_local_base_freq rope_parameters rope_scaling rope_theta rotary_emb_base rotary_pct router_aux_loss_coef
    scale_attention_softmax_in_fp32 scale_attn_by_inverse_layer_idx scale_attn_weights seq_length
    shared_expert_intermediate_size sliding_window sliding_window_pattern slow_but_exact softmax_scale
    summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj
    tie_word_embeddings torch_dtype transformers_version unk_token_id use_bidirectional_attention use_cache
    use_dynamic_ntk use_flash_attn use_logn_attn use_mrope use_parallel_residual use_qkv_bias use_sliding_window
    validate_runner_input vocab_size word_embed_proj_dim""".split()
)


def read_architecture(config: object) -> Architecture:
    """The architecture of a configuration. Raises ConfigError naming the field that is missing or wrong."""
    if not isinstance(config, Mapping):
        raise ConfigError("", "not_an_object")
    model_type = config.get("model_type")
    family = _FAMILIES.get(model_type) if isinstance(model_type, str) else None
    if family is None or not isinstance(model_type, str):
        reason = "required" if model_type is None else "kind_not_read"
        raise ConfigError("model_type", reason, known=", ".join(sorted(_FAMILIES)))
    return _architecture(config, model_type, family)


def _architecture(config: Config, model_type: str, family: _Family) -> Architecture:
    hidden, heads = _aliased(config, "hidden"), _aliased(config, "heads")
    if _optional_whole(config, "word_embed_proj_dim") not in (None, hidden):
        raise ConfigError("word_embed_proj_dim", "kind_not_read", known=str(hidden))
    head_width = _head_width(config, hidden, heads)
    key_value_heads = _key_value_heads(config, heads)
    if heads % key_value_heads:
        raise ConfigError("num_key_value_heads", "does_not_divide", heads=heads, value=key_value_heads)
    intermediate = _intermediate(config, model_type, hidden)
    linears = (
        *_attention(config, family, hidden, heads * head_width, key_value_heads * head_width),
        *_feed_forward(config, family, hidden, intermediate),
    )
    return Architecture(
        model_type=model_type,
        layers=_aliased(config, "layers"),
        hidden=hidden,
        vocabulary=_aliased(config, "vocabulary"),
        heads=heads,
        key_value_heads=key_value_heads,
        head_width=head_width,
        intermediate=intermediate,
        gated=family.gated,
        activation=_activation(config),
        linears=linears,
        norm=family.norm,
        norms=_norms(config, model_type, family),
        norm_bias=family.norm_bias,
        qk_norm_width=_qk_norm_width(family, heads, key_value_heads, head_width),
        tied=_truth(config, "tie_word_embeddings", default=family.tied),
        head_bias=family.head_bias,
        learned_positions=_learned_positions(config, family),
        extra_norms=family.embedding_norms,
        rotary=family.rotary,
        longest_tokens=_longest_tokens(config),
        residual_dropout=any(
            _number(config, name) > 0 for name in ("resid_pdrop", "hidden_dropout", "dropout")
        ),
        logit_softcap=config.get("final_logit_softcapping") is not None,
        head_name=family.head_name,
        unknown_fields=tuple(
            sorted(str(name) for name in config if name not in _KNOWN and not str(name).startswith("_"))
        ),
    )


def _aliased(config: Config, figure: str) -> int:
    for name in _ALIASES[figure]:
        if config.get(name) is not None:
            return _whole(config, name)
    raise ConfigError(_ALIASES[figure][-1 if figure == "vocabulary" else 0], "required")


def _whole(config: Config, name: str) -> int:
    value = config[name]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_DIMENSION:
        raise ConfigError(name, "not_a_positive_whole_number")
    return value


def _optional_whole(config: Config, *names: str) -> int | None:
    for name in names:
        if config.get(name) is not None:
            return _whole(config, name)
    return None


def _number(config: Config, name: str) -> float:
    value = config.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _truth(config: Config, name: str, *, default: bool) -> bool:
    value = config.get(name)
    return value if isinstance(value, bool) else default


def _head_width(config: Config, hidden: int, heads: int) -> int:
    stated = _optional_whole(config, "head_dim", "kv_channels")
    if stated is not None:
        return stated
    if hidden % heads:
        raise ConfigError("num_attention_heads", "does_not_divide", heads=heads, hidden=hidden)
    return hidden // heads


def _key_value_heads(config: Config, heads: int) -> int:
    if config.get("multi_query_attention") is True:
        return _optional_whole(config, "multi_query_group_num") or 1
    if config.get("multi_query") is True and not config.get("new_decoder_architecture"):
        return 1
    attention = config.get("attn_config")
    nested = _optional_whole(attention, "kv_n_heads") if isinstance(attention, Mapping) else None
    return nested or _optional_whole(config, "num_key_value_heads", "num_kv_heads") or heads


def _intermediate(config: Config, model_type: str, hidden: int) -> int:
    stated = _optional_whole(config, "intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim")
    if stated is not None:
        # Qwen's first generation states both halves of its gated pair together.
        return stated // 2 if model_type == "qwen" else stated
    return hidden * (_optional_whole(config, "expansion_ratio") or 4)


def _learned_positions(config: Config, family: _Family) -> int:
    if not family.learned_positions:
        return 0
    attention = config.get("attn_config")
    if isinstance(attention, Mapping) and (
        attention.get("alibi") is True or config.get("learned_pos_emb") is False
    ):
        return 0
    longest = _longest_tokens(config)
    if longest is None:
        raise ConfigError("max_position_embeddings", "required")
    return longest + family.position_offset


def _longest_tokens(config: Config) -> int | None:
    return _optional_whole(config, *_LENGTHS)


def _norms(config: Config, model_type: str, family: _Family) -> int:
    if model_type == "falcon" and config.get("new_decoder_architecture") is True:
        return 2
    return family.norms


def _qk_norm_width(family: _Family, heads: int, key_value_heads: int, head_width: int) -> int:
    widths = {"": 0, "head": 2 * head_width, "full": (heads + key_value_heads) * head_width}
    return widths[family.qk_norm]


def _activation(config: Config) -> ActivationKind:
    keys = ("hidden_activation", "hidden_act", "activation_function")
    name = next((config[key] for key in keys if config.get(key) is not None), "gelu")
    kinds: dict[object, ActivationKind] = {"relu": "saves_output", "gelu_new": "written_out"}
    return kinds.get(name, "saves_input")


def _attention(config: Config, family: _Family, hidden: int, queries: int, keys: int) -> tuple[Linear, ...]:
    stated = _truth(config, "attention_bias", default=_truth(config, "bias", default=False))
    bias = stated if family.attention_bias is None else family.attention_bias
    out_bias = _truth(config, "attention_out_bias", default=bias)
    if family.output_bias is not None:
        out_bias = family.output_bias
    if config.get("model_type") == "mimo":
        out_bias = False
    names = family.names
    output = Linear(names.get("o", "o_proj"), queries, hidden, "attention_out", out_bias)
    if family.projections == "qkv":
        return (Linear(names["qkv"], hidden, queries + 2 * keys, "attention_in", bias), output)
    widths = (("q_proj", queries), ("k_proj", keys), ("v_proj", keys))
    return (*(Linear(name, hidden, width, "attention_in", bias) for name, width in widths), output)


def _feed_forward(
    config: Config, family: _Family, hidden: int, intermediate: int
) -> tuple[Linear, ...]:
    experts = _optional_whole(config, "num_local_experts", "num_experts")
    if experts is None:
        return _mlp(config, family, hidden, intermediate, 1, 1.0)
    active = _optional_whole(config, "num_experts_per_tok") or 1
    width = _optional_whole(config, "moe_intermediate_size") or intermediate
    router = Linear("gate", hidden, experts, "router")
    routed = _mlp(config, family, hidden, width, experts, float(active))
    shared_width = _optional_whole(config, "shared_expert_intermediate_size")
    if shared_width is None:
        return (router, *routed)
    shared = _mlp(config, family, hidden, shared_width, 1, 1.0)
    return (router, *routed, *shared, Linear("shared_expert_gate", hidden, 1, "router"))


def _mlp(
    config: Config, family: _Family, hidden: int, width: int, copies: int, active: float
) -> tuple[Linear, ...]:
    stated = _truth(config, "mlp_bias", default=_truth(config, "bias", default=False))
    bias = stated if family.mlp_bias is None else family.mlp_bias
    names = family.names

    def linear(key: str, default: str, inputs: int, outputs: int, role: Role) -> Linear:
        return Linear(names.get(key, default), inputs, outputs, role, bias, copies, active)

    down = linear("down", "down_proj", width, hidden, "mlp_out")
    if family.fused_gate:
        return (linear("gate_up", "gate_up_proj", hidden, 2 * width, "mlp_in"), down)
    up = linear("up", "up_proj", hidden, width, "mlp_in")
    return (linear("gate", "gate_proj", hidden, width, "mlp_in"), up, down) if family.gated else (up, down)
