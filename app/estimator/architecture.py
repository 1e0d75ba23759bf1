"""A model's architecture: what the estimate needs to know of it, and its exact parameter counts."""

from dataclasses import dataclass
from typing import Literal

NormKind = Literal["rms", "gemma_rms", "layer"]
# What the activation function saves: its input; its output; or the many steps of a formula written out in Python.
ActivationKind = Literal["saves_input", "saves_output", "written_out"]
Role = Literal["attention_in", "attention_out", "mlp_in", "mlp_out", "router"]


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
class Architecture:
    """A decoder-only transformer. Widths are in elements, counts a block unless they say otherwise."""

    model_type: str
    layers: int
    hidden: int
    vocabulary: int
    heads: int
    key_value_heads: int
    head_width: int
    intermediate: int
    gated: bool
    activation: ActivationKind
    linears: tuple[Linear, ...]
    norm: NormKind
    norms: int
    norm_bias: bool
    qk_norm_width: int
    tied: bool
    head_bias: bool
    learned_positions: int
    extra_norms: int
    rotary: bool
    longest_tokens: int | None
    residual_dropout: bool
    logit_softcap: bool
    head_name: str
    unknown_fields: tuple[str, ...] = ()

    @property
    def query_width(self) -> int:
        """Elements a token of all query heads."""
        return self.heads * self.head_width

    @property
    def key_value_width(self) -> int:
        """Elements a token of all key heads; as many again of the value heads."""
        return self.key_value_heads * self.head_width

    @property
    def norm_parameters(self) -> int:
        """Elements of one block's norms."""
        return self.norms * self.hidden * (2 if self.norm_bias else 1) + self.qk_norm_width

    @property
    def block_weights(self) -> int:
        """Elements of one block's weight matrices."""
        return sum(linear.weights for linear in self.linears)

    @property
    def block_parameters(self) -> int:
        """Elements of one block."""
        return sum(linear.parameters for linear in self.linears) + self.norm_parameters

    @property
    def embedding_parameters(self) -> int:
        """Elements of the token table and of learned positions."""
        return (self.vocabulary + self.learned_positions) * self.hidden

    @property
    def head_weights(self) -> int:
        """Elements of the head's matrix, whether it is the token table or its own."""
        return self.vocabulary * self.hidden

    @property
    def own_head_parameters(self) -> int:
        """Elements that the head adds."""
        weights = 0 if self.tied else self.head_weights
        return weights + (self.vocabulary if self.head_bias else 0)

    @property
    def final_norm_parameters(self) -> int:
        """Elements of the norms outside the blocks."""
        return (1 + self.extra_norms) * self.hidden * (2 if self.norm_bias else 1)

    @property
    def parameters(self) -> int:
        """All elements."""
        blocks = self.layers * self.block_parameters
        return blocks + self.embedding_parameters + self.own_head_parameters + self.final_norm_parameters
