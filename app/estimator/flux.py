"""Diffusion transformers of Flux's kind on a tape: words and patches attend to one another, then run as one sequence.

Written as diffusers' FluxTransformer2DModel computes. The tape counts samples.
"""

from collections.abc import Callable, Mapping
from functools import partial

from app.estimator.architecture import Block, DiffusionTransformer, Linear
from app.estimator.layers import Layers
from app.estimator.tape import Form, Leaf, Tensor, per_token

TIME_WIDTH = 256  # of the sines that tell the time


class FluxProgram:
    """One step: from the noisy patches to the loss of the predicted flow (arXiv 2403.03206)."""

    def __init__(self, layers: Layers, shape: DiffusionTransformer, blocks: tuple[Block, ...]) -> None:
        self.layers = layers
        self.tape = layers.tape
        self.shape = shape
        self.joint, self.single = ({one.name: one for one in block.linears} for block in blocks)
        self.counts = tuple(block.layers for block in blocks)
        self.patches = float(shape.side * shape.side)
        self.words = float(shape.context_tokens)
        self.condition: Tensor | None = None

    def loss(self) -> Tensor:
        """Mean squared error in fp32."""
        shape, layers, tape = self.shape, self.layers, self.tape
        self.condition = self._conditioned()
        image = layers.plain_linear(self._given(shape.channels * self.patches), shape.channels, shape.hidden, bias=True)
        text = layers.plain_linear(self._given(shape.context * self.words), shape.context, shape.hidden, bias=True)
        if layers.adapters is not None and layers.recipe.gradient_checkpointing:
            image.node = Leaf(is_weight=False)
        # Both streams travel as one tensor between blocks; a joint block parts them again.
        both = self._put_together(text, image)
        del text, image
        both = tape.stack("joint", self.counts[0], self._recomputed(self._joint), both)
        both = tape.stack("single", self.counts[1], self._recomputed(self._single), both)
        _, hidden = self._parted(both)
        del both
        hidden = self._modulated(self._flat_norm(hidden), self._shifts(2))
        hidden = tape.mark(hidden, "backward")
        tape.begin("loss_forward")
        hidden = layers.plain_linear(hidden, shape.hidden, shape.channels, bias=True)
        wide = tape.to(hidden, 4)
        return tape.operate((wide,), Form(4.0), 4, saves=(wide,))

    def _recomputed(self, block: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        if not self.layers.recipe.gradient_checkpointing:
            return block
        return partial(self.tape.checkpoint, block)

    def _given(self, width: float) -> Tensor:
        return self.tape.operate((self.layers.parameter(0).tensor(),), per_token(width), self.layers.base)

    def _conditioned(self) -> Tensor:
        """Time, guidance and the pooled text, each through two small layers."""
        hidden = self.shape.hidden
        total: Tensor | None = None
        for inputs in (TIME_WIDTH, *((TIME_WIDTH,) if self.shape.guided else ()), self.shape.pooled):
            one = self.layers.plain_linear(self._given(inputs), inputs, hidden, bias=True)
            one = self.layers.plain_linear(self.layers.activation(one, "fused"), hidden, hidden, bias=True)
            total = one if total is None else self.tape.add(total, one)
        assert total is not None  # noqa: S101
        return total

    def _shifts(self, count: int, name: str = "", layers: Mapping[str, Linear] | None = None) -> Tensor:
        """Scales, shifts and gates of one block, for each sample."""
        assert self.condition is not None  # noqa: S101
        bent = self.layers.activation(self.condition, "fused")
        if layers is not None:
            return self.layers.linear(bent, layers[name])
        return self.layers.plain_linear(bent, self.shape.hidden, count * self.shape.hidden, bias=True)

    # --- The two kinds of block ---

    def _joint(self, both: Tensor) -> Tensor:
        text, image = self._parted(both)
        image_shifts = self._shifts(6, "norm1.linear", self.joint)
        text_shifts = self._shifts(6, "norm1_context.linear", self.joint)
        image_in = self._modulated(self._flat_norm(image), image_shifts)
        text_in = self._modulated(self._flat_norm(text), text_shifts)
        parts = []
        for name in ("q", "k", "v"):
            of_image = self.layers.linear(image_in, self.joint[f"to_{name}"])
            of_text = self.layers.linear(text_in, self.joint[f"add_{name}_proj"])
            if name != "v":
                of_image, of_text = self._head_norm(of_image), self._head_norm(of_text)
            parts.append(self._put_together(of_text, of_image))
            del of_image, of_text
        attended = self._attended(*parts)
        del parts
        of_text, of_image = self._parted(attended)
        image = self._gated(image, self.layers.linear(of_image, self.joint["to_out.0"]), image_shifts)
        text = self._gated(text, self.layers.linear(of_text, self.joint["to_add_out"]), text_shifts)
        del attended, of_text, of_image
        image = self._gated(image, self._feed(image, image_shifts, "ff"), image_shifts)
        text = self._gated(text, self._feed(text, text_shifts, "ff_context"), text_shifts)
        return self._put_together(text, image)

    def _single(self, both: Tensor) -> Tensor:
        shifts = self._shifts(3, "norm.linear", self.single)
        inside = self._modulated(self._flat_norm(both), shifts)
        wide = self.layers.activation(self.layers.linear(inside, self.single["proj_mlp"]), "fused")
        query, key, value = (self.layers.linear(inside, self.single[f"to_{name}"]) for name in ("q", "k", "v"))
        attended = self._attended(self._head_norm(query), self._head_norm(key), value)
        del query, key, value
        mixed = self._put_together(attended, wide)
        del attended, wide
        return self._gated(both, self.layers.linear(mixed, self.single["proj_out"]), shifts)

    # --- Parts ---

    def _put_together(self, left: Tensor, right: Tensor) -> Tensor:
        width = left.width.token + right.width.token
        return self.tape.operate((left, right), per_token(width), max(left.bytes, right.bytes))

    def _parted(self, both: Tensor) -> tuple[Tensor, ...]:
        hidden = self.shape.hidden
        return self.tape.split(both, self.words * hidden, self.patches * hidden)

    def _flat_norm(self, tensor: Tensor) -> Tensor:
        """A LayerNorm without weights."""
        tape = self.tape
        wide = tape.to(tensor, 4) if tape.autocast else tensor
        return tape.operate((wide,), wide.width, wide.bytes, saves=(wide,))

    def _modulated(self, tensor: Tensor, shifts: Tensor) -> Tensor:
        """X · (1 + scale) + shift."""
        tape = self.tape
        saves = (tensor,) if shifts.node is not None else ()
        scaled = tape.operate((tensor, shifts), tensor.width, tensor.bytes, saves=(*saves, shifts))
        return tape.operate((scaled, shifts), tensor.width, tensor.bytes)

    def _gated(self, residual: Tensor, tensor: Tensor, shifts: Tensor) -> Tensor:
        tape = self.tape
        saves = (tensor,) if shifts.node is not None else ()
        gated = tape.operate((tensor, shifts), tensor.width, tensor.bytes, saves=(*saves, shifts))
        return tape.add(residual, gated)

    def _head_norm(self, tensor: Tensor) -> Tensor:
        return self.layers.norm(tensor, self.shape.head_width, "rms")

    def _feed(self, tensor: Tensor, shifts: Tensor, name: str) -> Tensor:
        inside = self._modulated(self._flat_norm(tensor), shifts)
        inner = self.layers.activation(self.layers.linear(inside, self.joint[f"{name}.net.0.proj"]), "fused")
        return self.layers.linear(inner, self.joint[f"{name}.net.2"])

    def _attended(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        layers, total = self.layers, self.words + self.patches
        query, key = layers.rotate(query, query.bytes), layers.rotate(key, key.bytes)
        heads = self.shape.hidden / self.shape.head_width * total
        return layers.fused_attention(query, key, value, heads, keys=total, repeats=False, causal=False)
