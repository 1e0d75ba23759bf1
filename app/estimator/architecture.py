"""A model's architecture: what the estimate needs to know of it, and its exact parameter counts."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

NormKind = Literal["rms", "gemma_rms", "layer", "t5_rms"]
# How a block is put together: norms before its two parts, after their sums, around both, after both before the sum, or
# both parts side by side.
Layout = Literal["none", "pre", "post", "sandwich", "reordered", "parallel", "parallel_two_norms"]
# What the activation function computes: a fused kernel that keeps its input; ReLU, which keeps its output; or a formula
# written out in Python.
ActivationKind = Literal["fused", "relu", "relu2", "gelu_new", "bloom", "quick_gelu", "xielu"]
# Norms of queries and keys: of each head, or over all of them.
QkNorm = Literal["", "head", "full"]
Role = Literal[
    "q", "k", "v", "qkv", "o", "q_a", "q_b", "kv_a", "kv_b",
    "cross_q", "cross_k", "cross_v", "cross_o",
    "gate", "up", "gate_up", "down", "router", "shared_gate", "shared_up", "shared_down", "shared_router",
]  # fmt: skip
# What is trained on top: the next or a masked word, a class of a sequence, the span of an answer.
HeadKind = Literal["causal", "masked", "classification", "span", "none"]


PIXELS_PER_POINT = 8  # a side, of the latent image of diffusion models


@dataclass(frozen=True, slots=True)
class Linear:
    """One kind of linear layer of a block.

    ``copies`` are in memory (one for each expert); ``active`` of them compute for each token.
    """

    name: str
    inputs: int
    outputs: int
    role: Role
    bias: bool = False
    copies: int = 1
    active: float = 1.0

    @property
    def weights(self) -> int:
        """Elements of all copies' weight matrices."""
        return self.inputs * self.outputs * self.copies

    @property
    def parameters(self) -> int:
        """Elements of all copies, biases included."""
        return self.weights + (self.outputs * self.copies if self.bias else 0)


@dataclass(frozen=True, slots=True)
class Block:
    """A kind of transformer layer, of which a model has ``layers`` in a row. Widths in elements."""

    layers: int
    hidden: int
    linears: tuple[Linear, ...]
    heads: int
    key_value_heads: int
    head_width: int
    norm: NormKind = "rms"
    norm_bias: bool = False
    layout: Layout = "pre"
    gated: bool = True
    activation: ActivationKind = "fused"
    qk_norm: QkNorm = ""
    rotary: bool = True
    causal: bool = True
    residual_dropout: bool = False
    attention_out_dropout: bool = True  # whether that of the residual is there after the attention, too
    holds_inner: bool = True  # whether BERT's variable holds what lies between the MLP's halves until the norm
    attention_dropout: bool = False
    attention_softcap: bool = False
    mlp_dropout: bool = False  # between the halves of the MLP, as T5 has
    repeats_keys: bool = False  # keys and values are copied for each query head whatever the attention
    copies_heads: bool = False  # queries, keys and values are copied out of their fused matrix
    fixed_tokens: int = 0  # of a sample, where the length is not the request's
    always_eager: bool = False  # its code has no other attention
    adds_bias_matrix: bool = False  # positions as a matrix of numbers added to the scores
    scores_at_once: bool = False  # the bias goes in with the product of queries and keys
    value_width: int = 0  # of a head; 0: as the keys'
    rope_width: int = 0  # of multi-head latent attention's separate positions
    latent_norms: tuple[int, ...] = ()
    cross_tokens: float = 0.0  # 1: the other sequence is as long; more: it has that many tokens; 0: no cross-attention
    experts: int = 0
    softmax_widens: bool = True  # the code asks for fp32
    position_rows: int = 0  # of DeBERTa's table of relative positions, which words attend to
    extra_parameters: int = 0
    name: str = "block"

    def find(self, role: Role) -> Linear | None:
        """The linear layer with this role, if the block has it."""
        for linear in self.linears:
            if linear.role == role:
                return linear
        return None

    @property
    def query_width(self) -> int:
        """Elements a token of all query heads."""
        return self.heads * self.head_width

    @property
    def key_width(self) -> int:
        """Elements a token of all key heads."""
        return self.key_value_heads * self.head_width

    @property
    def norm_count(self) -> int:
        """Norms of the hidden width."""
        counts = {"none": 0, "pre": 2, "post": 2, "sandwich": 4, "reordered": 2, "parallel": 1, "parallel_two_norms": 2}
        return counts[self.layout] + (1 if self.cross_tokens else 0)

    @property
    def norm_parameters(self) -> int:
        """Elements of one block's norms."""
        widths = {"": 0, "head": 2 * self.head_width, "full": self.query_width + self.key_width}
        small = widths[self.qk_norm] + sum(self.latent_norms)
        return self.norm_count * self.hidden * (2 if self.norm_bias else 1) + small

    @property
    def parameters(self) -> int:
        """Elements of one block."""
        return sum(linear.parameters for linear in self.linears) + self.norm_parameters + self.extra_parameters


@dataclass(frozen=True, slots=True)
class Embedding:
    """A table of vectors; ``rows`` of ``width``, looked up for each token."""

    rows: int
    width: int
    per_token: bool = True  # False: one lookup for all samples, as positions have

    @property
    def parameters(self) -> int:
        """Elements of the table."""
        return self.rows * self.width


@dataclass(frozen=True, slots=True)
class Head:
    """What turns the last hidden values into a loss."""

    kind: HeadKind
    outputs: int
    name: str = "lm_head"
    tied: bool = False
    bias: bool = False
    softcap: bool = False
    widens_logits: bool = True  # the loss is computed in fp32 whatever the logits are
    norm: bool = True  # a last norm before it
    transform: bool = False  # a linear layer, activation and norm before the head, as BERT has
    pooler: bool = False  # a linear layer and tanh on the first token
    pooler_dropout: bool = False
    pooler_name: str = "dense"


@dataclass(frozen=True, slots=True)
class UNet:
    """A denoising network of convolutions and transformers (arXiv 2112.10752); sizes of the latent image.

    ``channels`` of each resolution, from the finest; ``depths``: transformer blocks after each convolution block there.
    """

    channels: tuple[int, ...]
    depths: tuple[int, ...]
    heads: tuple[int, ...]
    layers: int
    context: int  # width of the text's tokens
    context_tokens: int
    latent_channels: int
    side: int  # of the latent image, in its points
    time_width: int
    added_width: int  # of what is embedded beside the time
    linear_projection: bool


@dataclass(frozen=True, slots=True)
class DiffusionTransformer:
    """A denoising transformer over patches of the latent image and words (arXiv 2403.03206)."""

    hidden: int
    head_width: int
    channels: int  # of a patch
    context: int  # width of the text's tokens
    context_tokens: int
    pooled: int  # width of the pooled text
    guided: bool
    side: int  # of the image, in patches


@dataclass(frozen=True)
class Architecture:
    """A transformer, as the stacks of its blocks in the order in which they compute."""

    model_type: str
    hidden: int
    vocabulary: int
    blocks: tuple[Block, ...]
    embeddings: tuple[Embedding, ...]
    head: Head
    norm: NormKind = "rms"
    norm_bias: bool = False
    embedding_norm: bool = False
    embedding_dropout: bool = False
    embedding_projection: int = 0  # width of a table that is projected to the hidden width
    scales_embeddings: bool = False
    other_parameters: int = 0  # of parts beside what is trained step by step: position tables of images, convolutions
    end_dropout: bool = False  # after the last norms, as T5 has
    encoder_norm: bool = False  # an encoder before the decoder ends in a norm
    fixed_tokens: int = 0  # of a sample whose length is not the request's: patches of an image
    unet: "UNet | None" = None
    diffusion_transformer: "DiffusionTransformer | None" = None
    frozen_parameters: int = 0  # of encoders that are on the card, 16 bits each, and never trained
    longest_tokens: int | None = None
    rotary: bool = True
    unknown_fields: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.model_type, self.hidden, self.blocks, self.embeddings, self.head, self.unet, self.image_side))

    @cached_property
    def by_sample(self) -> bool:
        """Whether sizes go by samples, because parts of a sample have lengths of their own."""
        return self.image_side > 0 or self.fixed_tokens > 0 or any(block.fixed_tokens for block in self.blocks)

    @cached_property
    def counts_tokens(self) -> bool:
        """Whether its samples are sequences of tokens, and not images."""
        return self.image_side == 0 and self.fixed_tokens == 0

    @cached_property
    def image_side(self) -> int:
        """Pixels a side of a diffusion model's images; 0 for other models."""
        if self.unet is not None:
            return self.unet.side * PIXELS_PER_POINT
        if self.diffusion_transformer is not None:
            return self.diffusion_transformer.side * 2 * PIXELS_PER_POINT
        return 0

    @cached_property
    def layers(self) -> int:
        """Blocks of all kinds."""
        return sum(block.layers for block in self.blocks)

    @cached_property
    def linears(self) -> tuple[Linear, ...]:
        """The kinds of linear layers of all blocks."""
        return tuple(linear for block in self.blocks for linear in block.linears)

    @cached_property
    def norm_size(self) -> int:
        """Elements of a norm of the hidden width."""
        return self.hidden * (2 if self.norm_bias else 1)

    @cached_property
    def head_weights(self) -> int:
        """Elements of the head's matrix, whether it is the token table or its own."""
        return self.head.outputs * (self.embedding_projection or self.hidden)

    @cached_property
    def head_parameters(self) -> int:
        """Elements that the head and what stands before it add."""
        head, hidden = self.head, self.hidden
        if head.kind == "none":
            return 0
        own = 0 if head.tied else self.head_weights
        own += head.outputs if head.bias else 0
        if head.transform:
            own += hidden * hidden + hidden + self.norm_size
        if head.pooler:
            own += hidden * hidden + hidden
        return own

    @cached_property
    def outer_norm_parameters(self) -> int:
        """Elements of the norms outside the blocks."""
        count = int(self.head.norm) + int(self.embedding_norm) + int(self.encoder_norm)
        return count * self.norm_size

    @cached_property
    def parameters(self) -> int:
        """All elements."""
        blocks = sum(block.layers * block.parameters for block in self.blocks)
        tables = sum(table.parameters for table in self.embeddings)
        projection = 2 * self.embedding_projection * self.hidden
        return (
            blocks + tables + projection + self.head_parameters + self.outer_norm_parameters + self.other_parameters
        )

    @cached_property
    def logits(self) -> int:
        """Outputs of the head for each token; none where it answers once for a sample."""
        return self.head.outputs if self.head.kind in ("causal", "masked", "span") else 0

    @cached_property
    def largest_matrix(self) -> int:
        """Elements of the largest matrix of a block."""
        return max((linear.weights // linear.copies for linear in self.linears), default=0)

    @cached_property
    def widest(self) -> int:
        """Elements a token of the widest value between two matrices."""
        return round(max((linear.inputs * linear.active for linear in self.linears), default=self.hidden))

    @cached_property
    def bias_matrices(self) -> int:
        """Matrices of length × length numbers that fused attention keeps as position biases."""
        return sum(block.layers * block.heads for block in self.blocks if block.adds_bias_matrix)

    @cached_property
    def token_table(self) -> int:
        """Elements of the table of tokens."""
        return self.embeddings[0].parameters if self.embeddings else 0
