"""Decoder-only language models: one table says what the configuration does not, because the model's code does."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.estimator.architecture import (
    ActivationKind,
    Architecture,
    Block,
    Embedding,
    Head,
    Layout,
    Linear,
    NormKind,
    QkNorm,
    Role,
)
from app.estimator.errors import ConfigError
from app.estimator.readers.fields import (
    HEADS,
    HIDDEN,
    LAYERS,
    LENGTHS,
    Config,
    activation_kind,
    classifier,
    head_kind,
    head_width,
    number,
    optional_whole,
    required_whole,
    truth,
    unknown_fields,
    whole,
)


@dataclass(frozen=True, slots=True)
class Family:
    """What makes a family's code different from LLaMA's."""

    norm: NormKind = "rms"
    norm_bias: bool = False
    layout: Layout = "pre"
    gated: bool = True
    activation: ActivationKind | None = None  # None: the configuration says
    usual_activation: str = "gelu"  # where the configuration is silent
    fused: bool = False  # one matrix for queries, keys and values
    fused_gate: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    attention_bias: bool | None = None  # None: the configuration says
    output_bias: bool | None = None
    mlp_bias: bool | None = None
    head_bias: bool = False
    tied: bool = False
    learned_positions: bool = False
    position_offset: int = 0
    positions_per_token: bool = False
    rotary: bool = True
    rotary_share: float = 1.0
    qk_norm: QkNorm = ""
    embedding_norm: bool = False
    scales_embeddings: bool = False
    head_name: str = "lm_head"
    always_eager: bool = False
    scores_at_once: bool = False
    copies_heads: bool = False
    softmax_widens: bool = True
    softcaps: bool = False  # of scores and logits, unless the configuration says there are none
    dropout: float = 0.0  # what the code takes where the configuration is silent


_GPT2_NAMES = {"qkv": "c_attn", "o": "c_proj", "up": "c_fc", "down": "c_proj"}
_NEOX_NAMES = {"qkv": "query_key_value", "o": "dense", "up": "dense_h_to_4h", "down": "dense_4h_to_h"}
_PLAIN = Family(norm="layer", norm_bias=True, gated=False)
_WITH_BIASES = replace(_PLAIN, attention_bias=True, output_bias=True, mlp_bias=True)
_GPT2 = replace(
    _WITH_BIASES, fused=True, names=_GPT2_NAMES, tied=True, learned_positions=True, rotary=False,
    softmax_widens=False, dropout=0.1, usual_activation="gelu_new",
)  # fmt: skip
_QWEN2 = Family(attention_bias=True, output_bias=False)
_OLMO = Family(layout="reordered", qk_norm="full")
_GLM = Family(
    attention_bias=True, output_bias=False, mlp_bias=False, fused_gate=True, rotary_share=0.5,
    names={"gate_up": "gate_up_proj"},
)  # fmt: skip

FAMILIES: dict[str, Family] = {
    **dict.fromkeys(["llama", "mistral", "internlm", "mixtral", "mimo"], Family()),
    "seed_oss": Family(dropout=0.1),
    **dict.fromkeys(["granite", "granitemoe"], Family(scales_embeddings=True)),
    **dict.fromkeys(["qwen2", "qwen2_moe", "qwen2_vl_text"], _QWEN2),
    **dict.fromkeys(["qwen3", "qwen3_moe"], Family(qk_norm="head")),
    "qwen": Family(
        fused=True, names={"qkv": "c_attn", "o": "c_proj", "gate": "w2", "up": "w1", "down": "c_proj"},
        attention_bias=True, output_bias=False, mlp_bias=False,
    ),
    "gemma": Family(norm="gemma_rms", tied=True, scales_embeddings=True),
    "gemma2": Family(norm="gemma_rms", layout="sandwich", tied=True, scales_embeddings=True, softcaps=True),
    "gemma3_text": Family(norm="gemma_rms", layout="sandwich", tied=True, qk_norm="head", scales_embeddings=True),
    "phi": replace(
        _WITH_BIASES, layout="parallel", head_bias=True, names={"o": "dense", "up": "fc1", "down": "fc2"},
        rotary_share=0.5, usual_activation="gelu_new",
    ),
    "phi3": Family(fused=True, fused_gate=True, names={"qkv": "qkv_proj", "gate_up": "gate_up_proj"}),
    "gpt2": _GPT2,
    "gpt_bigcode": replace(_GPT2, usual_activation="gelu_pytorch_tanh", softmax_widens=True),
    "gpt_neox": replace(
        _WITH_BIASES, layout="parallel_two_norms", fused=True, names=_NEOX_NAMES, head_name="embed_out",
        rotary_share=0.25,
    ),
    "gptj": replace(
        _PLAIN, layout="parallel", attention_bias=False, output_bias=False, mlp_bias=True, head_bias=True,
        names={"o": "out_proj", "up": "fc_in", "down": "fc_out"}, usual_activation="gelu_new",
    ),
    "bloom": replace(
        _WITH_BIASES, fused=True, names=_NEOX_NAMES, tied=True, rotary=False, embedding_norm=True, activation="bloom",
        always_eager=True, scores_at_once=True, copies_heads=True,
    ),
    "falcon": replace(_PLAIN, layout="parallel", fused=True, names=_NEOX_NAMES, tied=True, copies_heads=True),
    "opt": replace(
        _WITH_BIASES, names={"o": "out_proj", "up": "fc1", "down": "fc2"}, tied=True, learned_positions=True,
        position_offset=2, positions_per_token=True, rotary=False, usual_activation="relu", dropout=0.1,
    ),
    "mpt": replace(
        _PLAIN, norm_bias=False, fused=True, rotary=False, tied=True, learned_positions=True, attention_bias=False,
        output_bias=False, mlp_bias=False,
        names={"qkv": "Wqkv", "o": "out_proj", "up": "up_proj", "down": "down_proj"},
    ),
    "chatglm": Family(
        fused=True, fused_gate=True, attention_bias=True, output_bias=False, mlp_bias=False,
        head_name="output_layer", rotary_share=0.5,
        names={"qkv": "query_key_value", "o": "dense", "gate_up": "dense_h_to_4h", "down": "dense_4h_to_h"},
    ),
    "glm": _GLM,
    "glm4": replace(_GLM, layout="sandwich"),
    "baichuan": Family(fused=True, names={"qkv": "W_pack"}, attention_bias=False, output_bias=False),
    "stablelm": Family(norm="layer", norm_bias=True, output_bias=False, rotary_share=0.25),
    "olmo": Family(norm="layer"),
    "olmo2": _OLMO,
    "olmo3": _OLMO,
    "arcee": Family(gated=False, activation="relu2"),
    "apertus": Family(gated=False, qk_norm="head", activation="xielu"),
    "starcoder2": replace(_WITH_BIASES, names={"up": "c_fc", "down": "c_proj"}, tied=True),
    "cohere": Family(norm="layer", layout="parallel", tied=True),
    "deepseek_v2": Family(),
    "deepseek_v3": Family(),
}  # fmt: skip


def read_decoder(config: Config, model_type: str, family: Family, *unknown: str) -> Architecture:
    """The architecture of a decoder. Raises ConfigError naming the field that is missing or wrong."""
    hidden, heads = required_whole(config, *HIDDEN), required_whole(config, *HEADS)
    block = _block(config, model_type, family, hidden, heads)
    layers = required_whole(config, *LAYERS)
    vocabulary = optional_whole(config, "padded_vocab_size", "vocab_size")
    if vocabulary is None:
        raise ConfigError("vocab_size", "required")
    projection = optional_whole(config, "word_embed_proj_dim") or hidden
    positions = _learned_positions(config, family)
    tables = [Embedding(vocabulary, projection)]
    if positions:
        tables.append(Embedding(positions, hidden, per_token=family.positions_per_token))
    return Architecture(
        model_type=model_type,
        hidden=hidden,
        vocabulary=vocabulary,
        blocks=_stacks(config, family, block, hidden, layers),
        embeddings=tuple(tables),
        head=_head(config, family, vocabulary),
        norm=family.norm,
        norm_bias=family.norm_bias,
        embedding_norm=family.embedding_norm,
        embedding_dropout=number(config, "embd_pdrop", "embedding_dropout", default=_embedding_dropout(model_type)) > 0,
        embedding_projection=projection if projection != hidden else 0,
        scales_embeddings=family.scales_embeddings,
        longest_tokens=optional_whole(config, *LENGTHS),
        rotary=family.rotary,
        unknown_fields=unknown_fields(config, *unknown),
    )


def _embedding_dropout(model_type: str) -> float:
    return 0.1 if model_type in ("gpt2", "gpt_bigcode") else 0.0


def _head(config: Config, family: Family, vocabulary: int) -> Head:
    kind = head_kind(config, "causal")
    # OPT's smallest sibling with norms after the sums ends without one.
    norm = config.get("do_layer_norm_before") is not False
    if kind == "classification":
        return classifier(kind, config, "score", norm=norm)
    return Head(
        "causal", vocabulary, name=family.head_name, tied=truth(config, "tie_word_embeddings", default=family.tied),
        bias=family.head_bias, softcap=_capped(config, "final_logit_softcapping", family), norm=norm,
    )  # fmt: skip


def _block(config: Config, model_type: str, family: Family, hidden: int, heads: int) -> Block:
    if "kv_lora_rank" in config:
        return _latent_block(config, hidden, heads)
    width = head_width(config, hidden, heads)
    key_value_heads = _key_value_heads(config, heads)
    if heads % key_value_heads:
        raise ConfigError("num_key_value_heads", "does_not_divide", heads=heads, value=key_value_heads)
    attention_dropout = number(config, "attn_pdrop", "attention_dropout", default=family.dropout) > 0
    if model_type == "opt":
        attention_dropout = number(config, "attention_dropout") > 0
    dropouts = ("resid_pdrop", "hidden_dropout", "residual_dropout", "dropout")
    share = number(config, "partial_rotary_factor", "rotary_pct", default=family.rotary_share)
    rotary = family.rotary and config.get("alibi") is not True
    return Block(
        layers=1,
        hidden=hidden,
        linears=_attention(config, family, hidden, heads * width, key_value_heads * width),
        heads=heads,
        key_value_heads=key_value_heads,
        head_width=width,
        norm=family.norm,
        norm_bias=family.norm_bias,
        layout=_layout(config, model_type, family),
        gated=family.gated,
        activation=family.activation or activation_kind(config, family.usual_activation),
        qk_norm=_qk_norm(config, family),
        rotary=rotary,
        rope_width=int(width * share) if 0 < share < 1 else 0,
        residual_dropout=number(config, *dropouts, default=family.dropout) > 0,
        attention_dropout=attention_dropout,
        attention_softcap=_capped(config, "attn_logit_softcapping", family),
        always_eager=family.always_eager,
        scores_at_once=family.scores_at_once,
        copies_heads=family.copies_heads,
        repeats_keys=model_type == "falcon" and config.get("new_decoder_architecture") is True,
        softmax_widens=family.softmax_widens,
        extra_parameters=2 if family.activation == "xielu" else 0,
    )


def _capped(config: Config, name: str, family: Family) -> bool:
    return number(config, name) > 0 if name in config else family.softcaps


def _layout(config: Config, model_type: str, family: Family) -> Layout:
    if model_type == "falcon":
        if config.get("new_decoder_architecture") is True:
            return "parallel" if config.get("num_ln_in_parallel_attn") == 1 else "parallel_two_norms"
        return "parallel" if truth(config, "parallel_attn", default=True) else "pre"
    if config.get("do_layer_norm_before") is False:
        return "post"
    if model_type == "gpt_neox" and config.get("use_parallel_residual") is False:
        return "pre"
    if model_type == "stablelm" and config.get("use_parallel_residual") is True:
        return "parallel"
    return family.layout


def _qk_norm(config: Config, family: Family) -> QkNorm:
    if config.get("qk_layernorm") is True or config.get("use_qk_norm") is True:
        return "head"
    return family.qk_norm


def _latent_block(config: Config, hidden: int, heads: int) -> Block:
    """DeepSeek's multi-head latent attention (arXiv 2405.04434)."""
    rope, plain = whole(config, "qk_rope_head_dim"), whole(config, "qk_nope_head_dim")
    value, key_rank = whole(config, "v_head_dim"), whole(config, "kv_lora_rank")
    query_rank = optional_whole(config, "q_lora_rank")
    queries = heads * (rope + plain)
    bias = truth(config, "attention_bias", default=False)
    first: tuple[Linear, ...]
    if query_rank is None:
        first = (Linear("q_proj", hidden, queries, "q"),)
    else:
        first = (
            Linear("q_a_proj", hidden, query_rank, "q_a", bias),
            Linear("q_b_proj", query_rank, queries, "q_b"),
        )
    linears = (
        *first,
        Linear("kv_a_proj_with_mqa", hidden, key_rank + rope, "kv_a", bias),
        Linear("kv_b_proj", key_rank, heads * (plain + value), "kv_b"),
        Linear("o_proj", heads * value, hidden, "o", bias),
    )
    return Block(
        layers=1, hidden=hidden, linears=linears, heads=heads, key_value_heads=heads, head_width=rope + plain,
        value_width=value, rope_width=rope, latent_norms=(key_rank, *((query_rank,) if query_rank else ())),
        activation=activation_kind(config),
    )  # fmt: skip


def _key_value_heads(config: Config, heads: int) -> int:
    if config.get("multi_query_attention") is True:
        return optional_whole(config, "multi_query_group_num") or 1
    if config.get("multi_query") is True and not config.get("new_decoder_architecture"):
        return 1
    attention = config.get("attn_config")
    nested = optional_whole(attention, "kv_n_heads") if isinstance(attention, Mapping) else None
    if config.get("model_type") == "falcon" and not config.get("new_decoder_architecture"):
        return 1 if truth(config, "multi_query", default=True) else heads
    return nested or optional_whole(config, "num_key_value_heads", "num_kv_heads") or heads


def _learned_positions(config: Config, family: Family) -> int:
    if not family.learned_positions:
        return 0
    attention = config.get("attn_config")
    if isinstance(attention, Mapping) and (
        attention.get("alibi") is True or config.get("learned_pos_emb") is False
    ):
        return 0
    longest = optional_whole(config, *LENGTHS)
    if longest is None:
        raise ConfigError("max_position_embeddings", "required")
    return longest + family.position_offset


def _attention(config: Config, family: Family, hidden: int, queries: int, keys: int) -> tuple[Linear, ...]:
    stated = truth(config, "attention_bias", default=truth(config, "bias", default=False))
    stated = truth(config, "use_qkv_bias", default=truth(config, "use_bias", default=stated))
    bias = stated if family.attention_bias is None else family.attention_bias
    out_bias = truth(config, "attention_out_bias", default=bias)
    if family.output_bias is not None:
        out_bias = family.output_bias
    if config.get("model_type") == "mimo":
        out_bias = False
    names = family.names
    output = Linear(names.get("o", "o_proj"), queries, hidden, "o", out_bias)
    if family.fused:
        return (Linear(names["qkv"], hidden, queries + 2 * keys, "qkv", bias), output)
    widths: tuple[tuple[Role, int], ...] = (("q", queries), ("k", keys), ("v", keys))
    return (*(Linear(f"{role}_proj", hidden, width, role, bias) for role, width in widths), output)


def _stacks(config: Config, family: Family, block: Block, hidden: int, layers: int) -> tuple[Block, ...]:
    """Blocks with a plain MLP, blocks with experts, or some of both."""
    intermediate = _intermediate(config, hidden)
    experts = optional_whole(config, "num_local_experts", "num_experts", "n_routed_experts")
    plain = replace(block, layers=layers, linears=block.linears + _mlp(config, family, hidden, intermediate))
    if experts is None:
        return (plain,)
    dense = _dense_layers(config, layers)
    routed = replace(
        block, layers=layers - dense, experts=experts, name="experts",
        linears=block.linears + _experts(config, family, hidden, intermediate, experts),
    )  # fmt: skip
    return (replace(plain, layers=dense), routed) if dense else (routed,)


def _dense_layers(config: Config, layers: int) -> int:
    """How many of the layers have no experts: the first few, named ones, or all but every n-th."""
    first = config.get("first_k_dense_replace")
    if isinstance(first, int) and not isinstance(first, bool) and first >= 0:
        return min(first, layers)
    named = config.get("mlp_only_layers")
    count = len(named) if isinstance(named, list) else 0
    every = optional_whole(config, "decoder_sparse_step") or 1
    return min(layers, max(count, layers - layers // every))


def _intermediate(config: Config, hidden: int) -> int:
    stated = optional_whole(
        config, "intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "moe_intermediate_size"
    )
    if stated is not None:
        # Qwen's first generation states both halves of its gated pair together.
        return stated // 2 if config.get("model_type") == "qwen" else stated
    return hidden * (optional_whole(config, "expansion_ratio") or 4)


def _experts(
    config: Config, family: Family, hidden: int, intermediate: int, experts: int
) -> tuple[Linear, ...]:
    active = optional_whole(config, "num_experts_per_tok") or 1
    width = optional_whole(config, "moe_intermediate_size") or intermediate
    router = Linear("gate", hidden, experts, "router")
    routed = _mlp(config, family, hidden, width, experts, float(active))
    shared_width = optional_whole(config, "shared_expert_intermediate_size")
    if shared_width is not None:
        gate = Linear("shared_expert_gate", hidden, 1, "shared_router")
        return (router, *routed, *_shared(hidden, shared_width), gate)
    count = config.get("n_shared_experts")
    if isinstance(count, int) and not isinstance(count, bool) and count > 0:
        return (router, *routed, *_shared(hidden, count * width))
    return (router, *routed)


def _shared(hidden: int, width: int) -> tuple[Linear, ...]:
    return (
        Linear("gate_proj", hidden, width, "shared_gate"),
        Linear("up_proj", hidden, width, "shared_up"),
        Linear("down_proj", width, hidden, "shared_down"),
    )


def _mlp(
    config: Config, family: Family, hidden: int, width: int, copies: int = 1, active: float = 1.0
) -> tuple[Linear, ...]:
    stated = truth(config, "mlp_bias", default=truth(config, "bias", default=False))
    stated = truth(config, "use_bias", default=stated) if family.mlp_bias is not None else stated
    bias = stated if family.mlp_bias is None else family.mlp_bias
    names = family.names

    def linear(role: Role, inputs: int, outputs: int) -> Linear:
        return Linear(names.get(role, f"{role}_proj"), inputs, outputs, role, bias, copies, active)

    down = linear("down", width, hidden)
    if family.fused_gate:
        return (linear("gate_up", hidden, 2 * width), down)
    up = linear("up", hidden, width)
    return (linear("gate", hidden, width), up, down) if family.gated else (up, down)
