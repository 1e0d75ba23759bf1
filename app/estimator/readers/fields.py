"""Reading a configuration's fields: checked, under all the names that families give them."""

from collections.abc import Mapping

from app.estimator.architecture import ActivationKind, Head
from app.estimator.errors import ConfigError

Config = Mapping[str, object]
LARGEST_DIMENSION = 10_000_000

HIDDEN = ("hidden_size", "n_embd", "d_model", "dim")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
LENGTHS = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "max_sequence_length")
ACTIVATIONS = ("hidden_activation", "hidden_act", "activation_function", "activation")

# Fields that say nothing about memory or speed, or are read by one of the readers.
KNOWN = frozenset(
    """activation activation_dropout activation_function adapter_attn_dim add_bias_linear add_cross_attention
    add_qkv_bias alibi apply_residual_connection_post_layernorm apply_spec_augment architectures attention_bias
    attention_dropout attention_multiplier attention_out_bias attention_probs_dropout_prob attention_softmax_in_fp32
    attn_config attn_dropout_prob attn_logit_softcapping attn_pdrop auto_map begin_suppress_tokens bias bos_token_id
    chunk_size_feed_forward classifier_dropout classifier_proj_size clip_qkv conv_kernel_size cross_attention_layers
    d_ff d_kv d_model decoder_attention_heads decoder_ffn_dim decoder_layerdrop decoder_layers decoder_sparse_step
    decoder_start_token_id dense_act_fn dim do_layer_norm_before dropout dropout_rate dtype emb_dropout_prob emb_pdrop
    embd_pdrop embedding_multiplier enable_bias encoder_attention_heads encoder_ffn_dim encoder_layerdrop
    encoder_layers encoder_stride eos_token_id ep_size expansion_ratio feed_forward_proj ffn_config ffn_dim
    ffn_hidden_size final_logit_softcapping first_k_dense_replace finetuning_task forced_bos_token_id
    forced_decoder_ids forced_eos_token_id gradient_checkpointing head_dim hidden_act hidden_activation hidden_dim
    hidden_dropout hidden_dropout_prob hidden_size id2label image_size init_device init_std initializer_factor
    initializer_range intermediate_size interpolate_pos_encoding is_decoder is_encoder_decoder is_gated_act
    kv_channels kv_lora_rank label2id layer_norm_elementwise_affine layer_norm_eps layer_norm_epsilon layer_types
    layerdrop layernorm_epsilon learned_pos_emb legacy logit_scale logits_scaling logn_attn mask_feature_length
    mask_feature_min_masks mask_feature_prob mask_time_length mask_time_min_masks mask_time_prob
    max_position_embeddings max_relative_positions max_seq_len max_sequence_length max_source_positions
    max_target_positions max_window_layers median_filter_width mlp_bias mlp_only_layers model_max_length model_type
    moe_intermediate_size moe_layer_freq moe_router_dtype multi_query multi_query_attention multi_query_group_num
    n_embd n_group n_head n_heads n_inner n_layer n_layers n_positions n_routed_experts n_shared_experts name_or_path
    new_decoder_architecture no_bias norm_rel_ebd norm_topk_prob norm_type num_attention_heads num_channels
    num_decoder_layers num_experts num_experts_per_tok num_heads num_hidden_layers num_key_value_heads num_kv_heads
    num_labels num_layers num_ln_in_parallel_attn num_local_experts num_mel_bins num_nextn_predict_layers offset_alibi
    original_max_position_embeddings original_rope output_attentions output_hidden_states output_past
    output_router_logits pad_token_id padded_vocab_size parallel_attn partial_rotary_factor patch_size
    pooler_act pooler_dropout pooler_hidden_act pooler_hidden_size pooler_output_size pos_att_type
    position_biased_input position_buckets position_embedding_type post_layer_norm post_norm pretraining_tp
    prune_heads pruned_heads q_lora_rank qa_dropout qk_head_dim qk_layernorm qk_nope_head_dim qk_norm qk_rope_head_dim
    qkv_bias query_pre_attn_scalar relative_attention relative_attention_max_distance relative_attention_num_buckets
    reorder_and_upcast_attn resid_pdrop residual_dropout residual_multiplier return_dict rms_norm_eps rmsnorm
    rope_interleave rope_local_base_freq rope_parameters rope_ratio rope_scaling rope_theta rotary_dim rotary_emb_base
    rotary_pct
    router_aux_loss_coef router_jitter_noise routed_scaling_factor scale_attention_softmax_in_fp32
    scale_attn_by_inverse_layer_idx scale_attn_weights scale_embedding scoring_func seq_aux seq_classif_dropout
    seq_length share_att_key shared_expert_intermediate_size sinusoidal_pos_embds sliding_window
    sliding_window_pattern slow_but_exact softmax_scale summary_activation summary_first_dropout
    summary_proj_to_labels summary_type summary_use_proj suppress_tokens task_specific_params tie_encoder_decoder
    tie_weights_ tie_word_embeddings tokenizer_class topk_group topk_method torch_dtype torchscript
    transformers_version type_vocab_size unk_token_id use_bfloat16 use_bidirectional_attention use_cache
    use_dynamic_ntk use_flash_attn use_logn_attn use_mrope use_parallel_residual use_qkv_bias use_sliding_window
    use_weighted_layer_sum v_head_dim validate_runner_input vocab_size vocab_size_or_config_json_file
    word_embed_proj_dim""".split()
)


def unknown_fields(config: Config, *more: str) -> tuple[str, ...]:
    """The fields that no reader understands, and ``more``."""
    found = {str(name) for name in config if name not in KNOWN and not str(name).startswith("_")}
    return tuple(sorted(found | set(more)))


def whole(config: Config, name: str, largest: int = LARGEST_DIMENSION) -> int:
    """A positive whole number. Raises ConfigError naming the field."""
    value = config.get(name)
    if value is None:
        raise ConfigError(name, "required")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= largest:
        raise ConfigError(name, "not_a_positive_whole_number")
    return value


def optional_whole(config: Config, *names: str) -> int | None:
    """The first of the names that is there; None when none is."""
    for name in names:
        if config.get(name) is not None:
            return whole(config, name)
    return None


def required_whole(config: Config, *names: str) -> int:
    """The first of the names that is there. Raises ConfigError naming the first when none is."""
    value = optional_whole(config, *names)
    if value is None:
        raise ConfigError(names[0], "required")
    return value


def number(config: Config, *names: str, default: float = 0.0) -> float:
    """The first of the names that holds a number."""
    for name in names:
        value = config.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return default


def truth(config: Config, name: str, *, default: bool) -> bool:
    """Yes or no."""
    value = config.get(name)
    return value if isinstance(value, bool) else default


def head_width(config: Config, hidden: int, heads: int) -> int:
    """Elements of a head: stated, or the hidden width shared out. Raises ConfigError where it does not divide."""
    stated = optional_whole(config, "head_dim", "kv_channels", "d_kv")
    if stated is not None:
        return stated
    if hidden % heads:
        name = next((name for name in HEADS if config.get(name) is not None), HEADS[0])
        raise ConfigError(name, "does_not_divide", heads=heads, hidden=hidden)
    return hidden // heads


def activation_kind(config: Config, default: str = "gelu") -> ActivationKind:
    """How the activation function is computed, by its name."""
    name = next((config[key] for key in ACTIVATIONS if isinstance(config.get(key), str)), default)
    kinds: dict[object, ActivationKind] = {
        "relu": "relu", "relu2": "relu2", "gelu_new": "gelu_new", "quick_gelu": "quick_gelu", "xielu": "xielu",
        "gelu_fast": "gelu_new",
    }  # fmt: skip
    return kinds.get(name, "fused")


def labels(config: Config) -> int:
    """How many classes a classifier tells apart; transformers' default is two."""
    stated = optional_whole(config, "num_labels")
    names = config.get("id2label")
    return stated or (len(names) if isinstance(names, Mapping) and names else 2)


def head_kind(config: Config, default: str) -> str:
    """Which head was put on the model, by the class that its configuration names."""
    names = config.get("architectures")
    name = str(names[0]) if isinstance(names, list) and names else ""
    for part, kind in (
        ("SequenceClassification", "classification"), ("TokenClassification", "span"), ("QuestionAnswering", "span"),
        ("ImageClassification", "classification"), ("MaskedLM", "masked"), ("CausalLM", "causal"),
        ("LMHeadModel", "causal"), ("ConditionalGeneration", "causal"), ("ForPreTraining", "masked"),
    ):  # fmt: skip
        if part in name:
            return kind
    return default


def classifier(kind: str, config: Config, name: str, *, norm: bool) -> Head:
    """A head of a few outputs: classes of a sequence, or the two ends of an answer."""
    outputs = 2 if kind == "span" and "id2label" not in config and "num_labels" not in config else labels(config)
    chosen = "span" if kind == "span" else "classification"
    return Head(chosen, outputs, name=name, bias=kind == "span", norm=norm)  # type: ignore[arg-type]
