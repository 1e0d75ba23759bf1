"""Encoders with a head on top: BERT, RoBERTa, DistilBERT, DeBERTa."""

from app.estimator.architecture import Architecture, Block, Embedding, Head, Linear, Role
from app.estimator.errors import ConfigError
from app.estimator.readers.fields import (
    HEADS,
    HIDDEN,
    LAYERS,
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
)

_BERT_NAMES = ("query", "key", "value", "dense", "dense", "dense")
ENCODERS = {
    "bert": _BERT_NAMES,
    "roberta": _BERT_NAMES,
    "xlm-roberta": _BERT_NAMES,
    "camembert": _BERT_NAMES,
    "electra": _BERT_NAMES,
    "ernie": _BERT_NAMES,
    "distilbert": ("q_lin", "k_lin", "v_lin", "out_lin", "lin1", "lin2"),
    "deberta-v2": ("query_proj", "key_proj", "value_proj", "dense", "dense", "dense"),
}
_ROLES: tuple[Role, ...] = ("q", "k", "v", "o", "up", "down")
_ROBERTAS = ("roberta", "xlm-roberta", "camembert")


def read_encoder(config: Config, model_type: str) -> Architecture:
    """The architecture of an encoder. Raises ConfigError naming the field that is missing or wrong."""
    hidden, heads = required_whole(config, *HIDDEN), required_whole(config, *HEADS)
    width = head_width(config, hidden, heads)
    intermediate = required_whole(config, "intermediate_size", "hidden_dim")
    shapes = (*((hidden, heads * width),) * 3, (heads * width, hidden), (hidden, intermediate), (intermediate, hidden))
    names = ENCODERS[model_type]
    linears = tuple(
        Linear(name, inputs, outputs, role, bias=True)
        for name, role, (inputs, outputs) in zip(names, _ROLES, shapes, strict=True)
    )
    vocabulary = optional_whole(config, "vocab_size")
    if vocabulary is None:
        raise ConfigError("vocab_size", "required")
    positions = optional_whole(config, "max_position_embeddings") or 512
    dropout = number(config, "hidden_dropout_prob", "dropout", default=0.1) > 0
    block = Block(
        layers=required_whole(config, *LAYERS), hidden=hidden, linears=linears, heads=heads, key_value_heads=heads,
        head_width=width, norm="layer", norm_bias=True, layout="post", gated=False,
        activation=activation_kind(config), rotary=False, causal=False, residual_dropout=dropout,
        attention_out_dropout=model_type != "distilbert",
        holds_inner=model_type != "distilbert",
        attention_dropout=number(config, "attention_probs_dropout_prob", "attention_dropout", default=0.1) > 0,
        softmax_widens=False,
        position_rows=_position_rows(config, positions) if model_type == "deberta-v2" else 0,
        always_eager=model_type == "deberta-v2",
    )  # fmt: skip
    return Architecture(
        model_type=model_type,
        hidden=hidden,
        vocabulary=vocabulary,
        blocks=(block,),
        embeddings=_tables(config, model_type, vocabulary, hidden, positions),
        head=_head(config, vocabulary),
        norm="layer",
        norm_bias=True,
        embedding_norm=True,
        embedding_dropout=dropout,
        other_parameters=_relative_positions(config, hidden, positions) if model_type == "deberta-v2" else 0,
        longest_tokens=positions - (2 if model_type in _ROBERTAS else 0),
        rotary=False,
        unknown_fields=unknown_fields(config),
    )


def _tables(
    config: Config, model_type: str, vocabulary: int, hidden: int, positions: int
) -> tuple[Embedding, ...]:
    tables = [Embedding(vocabulary, hidden)]
    if model_type == "deberta-v2":
        if truth(config, "position_biased_input", default=True):
            tables.append(Embedding(positions, hidden, per_token=False))
        types = config.get("type_vocab_size")
        if isinstance(types, int) and types > 0:
            tables.append(Embedding(types, hidden))
        return tuple(tables)
    if model_type != "distilbert":
        tables.append(Embedding(optional_whole(config, "type_vocab_size") or 2, hidden))
    tables.append(Embedding(positions, hidden, per_token=model_type in _ROBERTAS))
    return tuple(tables)


def _position_rows(config: Config, positions: int) -> int:
    """Rows of DeBERTa's table of relative positions (arXiv 2111.09543)."""
    if not truth(config, "relative_attention", default=False):
        return 0
    buckets = config.get("position_buckets")
    return 2 * (buckets if isinstance(buckets, int) and buckets > 0 else positions)


def _relative_positions(config: Config, hidden: int, positions: int) -> int:
    """Elements of that table, and of the norm over it."""
    rows = _position_rows(config, positions)
    normed = rows > 0 and "layer_norm" in str(config.get("norm_rel_ebd", ""))
    return rows * hidden + (2 * hidden if normed else 0)


def _head(config: Config, vocabulary: int) -> Head:
    kind = head_kind(config, "masked")
    if kind == "masked":
        return Head(
            "masked", vocabulary, name="decoder", tied=True, bias=True, norm=False, transform=True, widens_logits=False
        )
    head = classifier(kind, config, "qa_outputs" if kind == "span" else "classifier", norm=False)
    if head.kind == "span":
        return head
    return Head(
        "classification", head.outputs, name=head.name, bias=True, norm=False, pooler=True, pooler_name="dense"
    )
