"""Vision transformers: patches of an image in place of words."""

from app.estimator.architecture import Architecture, Block, Head, Linear, Role
from app.estimator.readers.fields import (
    HEADS,
    HIDDEN,
    LAYERS,
    Config,
    activation_kind,
    head_width,
    labels,
    number,
    optional_whole,
    required_whole,
    truth,
    unknown_fields,
)

VISION_KINDS = ("vit", "deit")


def read_vision(config: Config, model_type: str) -> Architecture:
    """ViT (arXiv 2010.11929): a convolution makes patches, a class token stands first."""
    hidden, heads = required_whole(config, *HIDDEN), required_whole(config, *HEADS)
    width, feed = head_width(config, hidden, heads), required_whole(config, "intermediate_size")
    side = optional_whole(config, "image_size") or 224
    patch = optional_whole(config, "patch_size") or 16
    channels = optional_whole(config, "num_channels") or 3
    extra = 2 if model_type == "deit" else 1
    tokens = (side // patch) ** 2 + extra
    bias = truth(config, "qkv_bias", default=True)
    roles: tuple[tuple[str, Role], ...] = (("query", "q"), ("key", "k"), ("value", "v"))
    linears = (
        *(Linear(name, hidden, heads * width, role, bias) for name, role in roles),
        Linear("dense", heads * width, hidden, "o", bias=True),
        Linear("dense", hidden, feed, "up", bias=True),
        Linear("dense", feed, hidden, "down", bias=True),
    )
    dropout = number(config, "hidden_dropout_prob") > 0
    block = Block(
        layers=required_whole(config, *LAYERS), hidden=hidden, linears=linears, heads=heads, key_value_heads=heads,
        head_width=width, norm="layer", norm_bias=True, gated=False, activation=activation_kind(config),
        rotary=False, causal=False, residual_dropout=dropout,
        attention_dropout=number(config, "attention_probs_dropout_prob") > 0, softmax_widens=False,
    )  # fmt: skip
    patches = channels * patch * patch * hidden + hidden
    return Architecture(
        model_type=model_type, hidden=hidden, vocabulary=1, blocks=(block,), embeddings=(),
        head=Head("classification", labels(config), name="classifier", bias=True), norm="layer", norm_bias=True,
        embedding_dropout=dropout, other_parameters=patches + (tokens + extra) * hidden, fixed_tokens=tokens,
        rotary=False, unknown_fields=unknown_fields(config),
    )  # fmt: skip
