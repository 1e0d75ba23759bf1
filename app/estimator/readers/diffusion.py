"""Diffusion models by diffusers' configurations: the network that is trained, and the frozen encoders beside it."""

from dataclasses import replace

from app.estimator.architecture import (
    PIXELS_PER_POINT,
    Architecture,
    Block,
    DiffusionTransformer,
    Head,
    Linear,
    UNet,
)
from app.estimator.errors import ConfigError
from app.estimator.readers.fields import (
    LARGEST_DIMENSION,
    Config,
    optional_whole,
    required_whole,
    truth,
    whole,
)

# Parameters of what stays frozen: text encoders by the width of the text's tokens, and the image encoder.
TEXT_ENCODERS = {768: 123_060_480, 1024: 340_387_840, 2048: 123_060_480 + 694_659_840}
IMAGE_ENCODER = 83_653_863
CONTEXT_TOKENS = 77
MOST_LAYERS = 128  # of one level of a denoising network: each is written out
FLUX_CONTEXT_TOKENS = 512
FLUX_SIDE = 64  # patches of an image of 1,024 pixels
FLUX_ENCODERS = 4_762_310_656 + 123_060_480 + 83_819_683  # T5-XXL's encoder, CLIP's text encoder, the image encoder
_KNOWN_OF_FLUX = frozenset(
    """attention_head_dim axes_dims_rope guidance_embeds in_channels joint_attention_dim num_attention_heads num_layers
    num_single_layers out_channels patch_size pooled_projection_dim""".split()
)

_KNOWN = frozenset(
    """act_fn addition_embed_type addition_embed_type_num_heads addition_time_embed_dim attention_head_dim
    attention_type block_out_channels center_input_sample class_embed_type class_embeddings_concat conv_in_kernel
    conv_out_kernel cross_attention_dim cross_attention_norm down_block_types downsample_padding dropout
    dual_cross_attention encoder_hid_dim encoder_hid_dim_type flip_sin_to_cos force_upcast freq_shift in_channels
    layers_per_block mid_block_only_cross_attention mid_block_scale_factor mid_block_type norm_eps norm_num_groups
    num_attention_heads num_class_embeds only_cross_attention out_channels
    projection_class_embeddings_input_dim resnet_out_scale_factor resnet_skip_time_act resnet_time_scale_shift
    sample_size time_cond_proj_dim time_embedding_act_fn time_embedding_dim time_embedding_type timestep_post_act
    transformer_layers_per_block up_block_types upcast_attention use_linear_projection
    reverse_transformer_layers_per_block""".split()
)


def read_unet(config: Config) -> Architecture:
    """UNet2DConditionModel (arXiv 2112.10752, 2307.01952). Raises ConfigError naming the field."""
    channels = _sizes(config, "block_out_channels", LARGEST_DIMENSION)
    levels = len(channels)
    context = required_whole(config, "cross_attention_dim")
    kinds = config.get("down_block_types")
    if not isinstance(kinds, list) or len(kinds) != levels:
        raise ConfigError("down_block_types", "required")
    depths = _for_each(config, "transformer_layers_per_block", 1, levels)
    depths = tuple(depth if "CrossAttn" in str(kind) else 0 for depth, kind in zip(depths, kinds, strict=True))
    # In this configuration the "dimension" of heads is their number (a known slip of the library's).
    name = "num_attention_heads" if config.get("num_attention_heads") else "attention_head_dim"
    heads = _for_each(config, name, 8, levels)
    for width, count in zip(channels, heads, strict=True):
        if width % count:
            raise ConfigError(name, "does_not_divide", heads=count, hidden=width)
    middle = optional_whole(config, "sample_size") or 64
    added = optional_whole(config, "projection_class_embeddings_input_dim") or 0
    layers = whole(config, "layers_per_block", MOST_LAYERS) if config.get("layers_per_block") is not None else 2
    unet = UNet(
        channels=channels, depths=depths, heads=heads, layers=layers, context=context, context_tokens=CONTEXT_TOKENS,
        latent_channels=optional_whole(config, "in_channels") or 4, side=middle, time_width=4 * channels[0],
        added_width=added, linear_projection=truth(config, "use_linear_projection", default=False),
    )  # fmt: skip
    blocks = tuple(_block(unet, level) for level in range(levels) if _depth(unet, level))
    read = Architecture(
        model_type="unet", hidden=channels[0], vocabulary=1, blocks=blocks, embeddings=(),
        head=Head("none", 0, norm=False), norm="layer", norm_bias=True, rotary=False, unet=unet,
        unknown_fields=tuple(
            sorted(str(name) for name in config if name not in _KNOWN and not str(name).startswith("_"))
        ),
        frozen_parameters=TEXT_ENCODERS.get(context, 0) + IMAGE_ENCODER,
    )  # fmt: skip
    return replace(read, other_parameters=round(_declared(read)) - read.parameters)


def read_flux(config: Config) -> Architecture:
    """FluxTransformer2DModel. Raises ConfigError naming the field."""
    heads, width = required_whole(config, "num_attention_heads"), required_whole(config, "attention_head_dim")
    hidden = heads * width
    context, pooled = required_whole(config, "joint_attention_dim"), required_whole(config, "pooled_projection_dim")
    shape = DiffusionTransformer(
        hidden=hidden, head_width=width, channels=required_whole(config, "in_channels"), context=context,
        context_tokens=FLUX_CONTEXT_TOKENS, pooled=pooled,
        guided=truth(config, "guidance_embeds", default=False), side=FLUX_SIDE,
    )  # fmt: skip
    blocks = (
        _flux_block("joint", required_whole(config, "num_layers"), hidden, heads, width, _joint_linears(hidden), 4),
        _flux_block(
            "single", required_whole(config, "num_single_layers"), hidden, heads, width, _single_linears(hidden), 2
        ),
    )
    read = Architecture(
        model_type="flux", hidden=hidden, vocabulary=1, blocks=blocks, embeddings=(), head=Head("none", 0, norm=False),
        norm="layer", rotary=False, diffusion_transformer=shape,
        unknown_fields=tuple(
            sorted(str(name) for name in config if name not in _KNOWN_OF_FLUX and not str(name).startswith("_"))
        ),
        frozen_parameters=FLUX_ENCODERS,
    )  # fmt: skip
    return replace(read, other_parameters=round(_declared(read)) - read.parameters)


def _flux_block(
    name: str, layers: int, hidden: int, heads: int, width: int, linears: tuple[Linear, ...], head_norms: int
) -> Block:
    """Its norms over the hidden width have no weights; those over heads have."""
    return Block(
        layers=layers, hidden=hidden, linears=linears, heads=heads, key_value_heads=heads, head_width=width,
        norm="layer", layout="none", rotary=True, causal=False, extra_parameters=head_norms * width, name=name,
    )  # fmt: skip


def _joint_linears(hidden: int) -> tuple[Linear, ...]:
    square = ("to_q", "to_k", "to_v", "to_out.0", "add_q_proj", "add_k_proj", "add_v_proj", "to_add_out")
    return (
        *(Linear(name, hidden, hidden, "o", bias=True) for name in square),
        *(Linear(f"{name}.net.0.proj", hidden, 4 * hidden, "up", bias=True) for name in ("ff", "ff_context")),
        *(Linear(f"{name}.net.2", 4 * hidden, hidden, "down", bias=True) for name in ("ff", "ff_context")),
        *(Linear(f"{name}.linear", hidden, 6 * hidden, "up", bias=True) for name in ("norm1", "norm1_context")),
    )


def _single_linears(hidden: int) -> tuple[Linear, ...]:
    return (
        *(Linear(name, hidden, hidden, "o", bias=True) for name in ("to_q", "to_k", "to_v")),
        Linear("proj_mlp", hidden, 4 * hidden, "up", bias=True),
        Linear("proj_out", 5 * hidden, hidden, "down", bias=True),
        Linear("norm.linear", hidden, 3 * hidden, "up", bias=True),
    )


def at_image_size(architecture: Architecture, pixels: int) -> Architecture:
    """The network for images of ``pixels`` a side."""
    if architecture.unet is not None:
        unet = replace(architecture.unet, side=max(1, pixels // PIXELS_PER_POINT))
        return replace(architecture, unet=unet)
    if architecture.diffusion_transformer is not None:
        side = max(1, pixels // (2 * PIXELS_PER_POINT))
        return replace(
            architecture, diffusion_transformer=replace(architecture.diffusion_transformer, side=side)
        )
    return architecture


def _sizes(config: Config, name: str, largest: int) -> tuple[int, ...]:
    stated = config.get(name)
    if not isinstance(stated, list) or not stated or len(stated) > MOST_LAYERS:
        raise ConfigError(name, "required")
    return tuple(whole({name: value}, name, largest) for value in stated)


def _for_each(config: Config, name: str, usual: int, levels: int) -> tuple[int, ...]:
    """A number for each level, or one for all."""
    if isinstance(config.get(name), list):
        found = _sizes(config, name, MOST_LAYERS)
        if len(found) != levels:
            raise ConfigError(name, "required")
        return found
    return (usual if config.get(name) is None else whole(config, name, MOST_LAYERS),) * levels


def _depth(unet: UNet, level: int) -> int:
    """Transformer blocks of a width: on the way down and up, and in the middle of the network."""
    count = unet.depths[level] * (2 * unet.layers + 1)
    return count + (max(1, unet.depths[-1]) if level == len(unet.channels) - 1 else 0)


def _block(unet: UNet, level: int) -> Block:
    width, context = unet.channels[level], unet.context
    linears = (
        *(Linear(name, width, width, role) for name, role in (("to_q", "q"), ("to_k", "k"), ("to_v", "v"))),  # type: ignore[arg-type]
        Linear("to_out.0", width, width, "o", bias=True),
        Linear("to_q", width, width, "cross_q"),
        Linear("to_k", context, width, "cross_k"),
        Linear("to_v", context, width, "cross_v"),
        Linear("to_out.0", width, width, "cross_o", bias=True),
        Linear("ff.net.0.proj", width, 8 * width, "gate_up", bias=True),
        Linear("ff.net.2", 4 * width, width, "down", bias=True),
    )
    heads = unet.heads[level]
    return Block(
        layers=_depth(unet, level), hidden=width, linears=linears, heads=heads, key_value_heads=heads,
        head_width=width // heads, norm="layer", norm_bias=True, rotary=False, causal=False,
        cross_tokens=float(unet.context_tokens), softmax_widens=False, name=f"width-{width}",
    )  # fmt: skip


def _declared(architecture: Architecture) -> float:
    """Elements of all weights, counted while the network is written on a tape."""
    # Imported here: the program of the network knows architectures, which this module makes.
    from app.estimator.flux import FluxProgram  # noqa: PLC0415
    from app.estimator.layers import Layers  # noqa: PLC0415
    from app.estimator.recipe import Recipe  # noqa: PLC0415
    from app.estimator.tape import Tape  # noqa: PLC0415
    from app.estimator.unet import UNetProgram  # noqa: PLC0415

    layers = Layers(Tape(), Recipe("full", "bf16"), None)
    if architecture.diffusion_transformer is not None:
        FluxProgram(layers, architecture.diffusion_transformer, architecture.blocks).loss()
    else:
        assert architecture.unet is not None  # noqa: S101
        UNetProgram(layers, architecture.unet, architecture.blocks).loss()
    return layers.declared
