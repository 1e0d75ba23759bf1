"""Encoder-decoders: T5 and its kin, and Whisper, whose encoder hears frames of speech."""

from dataclasses import replace

from app.estimator.architecture import Architecture, Block, Embedding, Head, Linear, Role
from app.estimator.errors import ConfigError
from app.estimator.readers.fields import (
    Config,
    activation_kind,
    head_width,
    number,
    optional_whole,
    required_whole,
    truth,
    unknown_fields,
)

T5_KINDS = ("t5", "mt5", "umt5", "longt5")


def read_t5(config: Config, model_type: str) -> Architecture:
    """T5 (arXiv 1910.10683): relative positions as a bias of the scores; both sequences of the request's length."""
    hidden, heads = required_whole(config, "d_model"), required_whole(config, "num_heads")
    width, feed = head_width(config, hidden, heads), required_whole(config, "d_ff")
    layers = required_whole(config, "num_layers")
    vocabulary = optional_whole(config, "vocab_size")
    if vocabulary is None:
        raise ConfigError("vocab_size", "required")
    gated = "gated" in str(config.get("feed_forward_proj", "relu"))
    attention = _t5_attention("", hidden, heads * width)
    mlp: tuple[Linear, ...] = (Linear("wi_0", hidden, feed, "gate"), Linear("wi_1", hidden, feed, "up"))
    mlp = (*mlp, Linear("wo", feed, hidden, "down")) if gated else (
        Linear("wi", hidden, feed, "up"), Linear("wo", feed, hidden, "down"),
    )  # fmt: skip
    dropout = number(config, "dropout_rate", default=0.1) > 0
    encoder = Block(
        layers=layers, hidden=hidden, linears=attention + mlp, heads=heads, key_value_heads=heads, head_width=width,
        norm="t5_rms", gated=gated, activation="gelu_new" if gated else activation_kind(config, "relu"),
        rotary=False, causal=False, residual_dropout=dropout, attention_dropout=dropout, softmax_widens=False,
        adds_bias_matrix=True, mlp_dropout=dropout,
    )  # fmt: skip
    cross = _t5_attention("cross_", hidden, heads * width)
    decoder = replace(
        encoder, layers=optional_whole(config, "num_decoder_layers") or layers, linears=attention + cross + mlp,
        causal=True, cross_tokens=1.0,
    )  # fmt: skip
    buckets = optional_whole(config, "relative_attention_num_buckets") or 32
    biases = layers + decoder.layers if model_type == "umt5" else 2
    return Architecture(
        model_type=model_type, hidden=hidden, vocabulary=vocabulary, blocks=(encoder, decoder),
        embeddings=(Embedding(vocabulary, hidden),),
        head=Head("causal", vocabulary, tied=truth(config, "tie_word_embeddings", default=True), widens_logits=False),
        norm="t5_rms",
        embedding_dropout=dropout, encoder_norm=True, other_parameters=biases * buckets * heads, rotary=False,
        unknown_fields=unknown_fields(config), end_dropout=dropout,
    )  # fmt: skip


def _t5_attention(prefix: str, hidden: int, inner: int) -> tuple[Linear, ...]:
    roles: tuple[Role, ...] = ("cross_q", "cross_k", "cross_v", "cross_o") if prefix else ("q", "k", "v", "o")
    shapes = ((hidden, inner),) * 3 + ((inner, hidden),)
    return tuple(Linear(role[-1], *shape, role) for role, shape in zip(roles, shapes, strict=True))


def read_whisper(config: Config, model_type: str) -> Architecture:
    """Whisper (arXiv 2212.04356): half as many frames of speech as its convolutions get, then a decoder of words."""
    hidden = required_whole(config, "d_model")
    frames = optional_whole(config, "max_source_positions") or 1500
    words = optional_whole(config, "max_target_positions") or 448
    vocabulary = optional_whole(config, "vocab_size")
    if vocabulary is None:
        raise ConfigError("vocab_size", "required")
    bands = optional_whole(config, "num_mel_bins") or 80
    encoder = _whisper_block(config, hidden, "encoder", ())
    cross = _whisper_attention("cross_", hidden)
    decoder = replace(_whisper_block(config, hidden, "decoder", cross), causal=True, cross_tokens=float(frames))
    convolutions = (bands * hidden + hidden * hidden) * 3 + 2 * hidden
    return Architecture(
        model_type=model_type, hidden=hidden, vocabulary=vocabulary,
        blocks=(replace(encoder, fixed_tokens=frames), decoder),
        embeddings=(Embedding(vocabulary, hidden), Embedding(words, hidden, per_token=False)),
        head=Head("causal", vocabulary, name="proj_out", tied=True, widens_logits=False), norm="layer",
        norm_bias=True, encoder_norm=True,
        other_parameters=convolutions + frames * hidden, longest_tokens=words, rotary=False,
        unknown_fields=unknown_fields(config),
    )  # fmt: skip


def _whisper_attention(prefix: str, hidden: int) -> tuple[Linear, ...]:
    roles: tuple[Role, ...] = ("cross_q", "cross_k", "cross_v", "cross_o") if prefix else ("q", "k", "v", "o")
    names = ("q_proj", "k_proj", "v_proj", "out_proj")
    return tuple(
        Linear(name, hidden, hidden, role, bias=name != "k_proj")
        for name, role in zip(names, roles, strict=True)
    )


def _whisper_block(config: Config, hidden: int, side: str, cross: tuple[Linear, ...]) -> Block:
    heads, feed = required_whole(config, f"{side}_attention_heads"), required_whole(config, f"{side}_ffn_dim")
    mlp = (Linear("fc1", hidden, feed, "up", bias=True), Linear("fc2", feed, hidden, "down", bias=True))
    return Block(
        layers=required_whole(config, f"{side}_layers"), hidden=hidden,
        linears=_whisper_attention("", hidden) + cross + mlp, heads=heads, key_value_heads=heads,
        head_width=head_width(config, hidden, heads), norm="layer", norm_bias=True, gated=False,
        activation=activation_kind(config), rotary=False, causal=False,
        residual_dropout=number(config, "dropout") > 0,
        attention_dropout=number(config, "attention_dropout") > 0, softmax_widens=False,
    )  # fmt: skip
