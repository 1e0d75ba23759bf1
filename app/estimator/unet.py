"""Denoising networks of Stable Diffusion's kind on a tape: convolutions, transformers, and skips between them.

Written as diffusers' UNet2DConditionModel computes. The tape counts samples; a point is one place of the latent image.
"""

from collections.abc import Callable
from functools import partial

from app.estimator.architecture import Block, UNet
from app.estimator.blocks import Blocks
from app.estimator.layers import Layers
from app.estimator.tape import Form, Leaf, Tensor, per_token


class UNetProgram:
    """One step: from the noisy latent to the loss of the predicted noise."""

    def __init__(self, layers: Layers, shape: UNet, blocks: tuple[Block, ...]) -> None:
        self.layers = layers
        self.tape = layers.tape
        self.shape = shape
        self.blocks = {block.hidden: block for block in blocks}
        self.context: Tensor | None = None
        self.time: Tensor | None = None
        self.stacks = 0

    def loss(self) -> Tensor:
        """Mean squared error in fp32."""
        shape, tape = self.shape, self.tape
        self.context = self._given(shape.context_tokens * shape.context)
        self.time = self._embedded_time()
        points = float(shape.side * shape.side)
        latent = self._given(shape.latent_channels * points)
        hidden = self._convolved(latent, shape.latent_channels, shape.channels[0], points)
        del latent
        if self.layers.adapters is not None and self.layers.recipe.gradient_checkpointing:
            hidden.node = Leaf(is_weight=False)
        hidden = self._through(hidden, points)
        width = shape.channels[0]
        hidden = self._activated(self._group_norm(hidden, width))
        hidden = tape.mark(hidden, "backward")
        tape.begin("loss_forward")
        hidden = self._convolved(hidden, width, shape.latent_channels, points)
        wide = tape.to(hidden, 4)
        return tape.operate((wide,), Form(4.0), 4, saves=(wide,))

    def _given(self, width: float) -> Tensor:
        return self.tape.operate((self.layers.parameter(0).tensor(),), per_token(width), self.layers.base)

    def _embedded_time(self) -> Tensor:
        shape, layers, tape = self.shape, self.layers, self.tape
        first = self._given(shape.channels[0])
        hidden = layers.plain_linear(first, shape.channels[0], shape.time_width, bias=True)
        hidden = layers.plain_linear(self._activated(hidden), shape.time_width, shape.time_width, bias=True)
        if shape.added_width:
            added = layers.plain_linear(self._given(shape.added_width), shape.added_width, shape.time_width, bias=True)
            added = layers.plain_linear(self._activated(added), shape.time_width, shape.time_width, bias=True)
            hidden = tape.add(hidden, added)
        return hidden

    # --- Down, through the middle, and up again ---

    def _through(self, hidden: Tensor, points: float) -> Tensor:
        shape = self.shape
        skips = [(hidden, shape.channels[0])]
        width = shape.channels[0]
        last = len(shape.channels) - 1
        for level, channels in enumerate(shape.channels):
            for _ in range(shape.layers):
                hidden = self._level(hidden, width, channels, level, points)
                width = channels
                skips.append((hidden, width))
            if level < last:
                points /= 4
                hidden = self._convolved(hidden, width, width, points)
                skips.append((hidden, width))
        hidden = self._middle(hidden, width, points)
        for level in range(last, -1, -1):
            channels = shape.channels[level]
            for _ in range(shape.layers + 1):
                skip, skip_width = skips.pop()
                hidden = self._joined(hidden, skip)
                del skip
                hidden = self._level(hidden, width + skip_width, channels, level, points)
                width = channels
            if level:
                points *= 4
                hidden = self.tape.operate((hidden,), per_token(width * points), hidden.bytes)
                hidden = self._convolved(hidden, width, width, points)
        return hidden

    def _joined(self, hidden: Tensor, skip: Tensor) -> Tensor:
        total = hidden.width.token + skip.width.token
        return self.tape.operate((hidden, skip), per_token(total), max(hidden.bytes, skip.bytes))

    def _level(self, hidden: Tensor, inputs: int, channels: int, level: int, points: float) -> Tensor:
        hidden = self._recomputed(lambda tensor: self._residual(tensor, inputs, channels, points), hidden)
        depth = self.shape.depths[level]
        return self._attended(hidden, channels, depth, points) if depth else hidden

    def _middle(self, hidden: Tensor, width: int, points: float) -> Tensor:
        def residual(tensor: Tensor) -> Tensor:
            return self._residual(tensor, width, width, points)

        hidden = self._recomputed(residual, hidden)
        hidden = self._attended(hidden, width, max(1, self.shape.depths[-1]), points)
        return self._recomputed(residual, hidden)

    def _recomputed(self, stretch: Callable[[Tensor], Tensor], hidden: Tensor) -> Tensor:
        if self.layers.recipe.gradient_checkpointing:
            return self.tape.checkpoint(stretch, hidden)
        return stretch(hidden)

    # --- Parts ---

    def _residual(self, tensor: Tensor, inputs: int, channels: int, points: float) -> Tensor:
        assert self.time is not None  # noqa: S101
        layers, tape = self.layers, self.tape
        hidden = self._activated(self._group_norm(tensor, inputs))
        hidden = self._convolved(hidden, inputs, channels, points)
        time = layers.plain_linear(self._activated(self.time), self.shape.time_width, channels, bias=True)
        hidden = tape.operate((hidden, time), hidden.width, hidden.bytes)
        hidden = self._activated(self._group_norm(hidden, channels))
        hidden = self._convolved(hidden, channels, channels, points)
        if inputs != channels:
            tensor = self._convolved(tensor, inputs, channels, points, kernel=1)
        return tape.scale(tape.add(tensor, hidden))

    def _attended(self, tensor: Tensor, channels: int, depth: int, points: float) -> Tensor:
        layers, shape = self.layers, self.shape
        block = self.blocks[channels]
        program = Blocks(
            layers, block, other=self.context, spread=points, keys=points, other_keys=float(shape.context_tokens)
        )
        hidden = self._group_norm(tensor, channels)
        hidden = layers.plain_linear(self.tape.scale(hidden), channels, channels, bias=True)
        self.stacks += 1
        # The first one's input may be of another type than what the others hand on.
        layer = partial(self._recomputed, program.forward)
        hidden = self.tape.stack(f"blocks {self.stacks}", depth, layer, hidden, first_differs=True)
        hidden = layers.plain_linear(hidden, channels, channels, bias=True)
        return self.tape.add(hidden, tensor)

    def _activated(self, tensor: Tensor) -> Tensor:
        return self.layers.activation(tensor, "fused")

    def _group_norm(self, tensor: Tensor, channels: int) -> Tensor:
        """Keeps its input; autocast computes and answers in fp32."""
        layers, tape = self.layers, self.tape
        wide = tape.to(tensor, 4) if tape.autocast else tensor
        weight = layers.parameter(2 * channels)
        return tape.operate((wide, weight.tensor()), wide.width, wide.bytes, saves=(wide,))

    def _convolved(self, tensor: Tensor, inputs: int, outputs: int, points: float, kernel: int = 3) -> Tensor:
        """A convolution that answers with ``points`` places; keeps input and weight for each other's gradients."""
        layers, tape = self.layers, self.tape
        weight = layers.parameter(inputs * outputs * kernel * kernel)
        bias = layers.parameter(outputs)
        size = tape.autocast or weight.bytes
        narrow, matrix = tape.to(tensor, size), tape.weight(weight, size)
        saves = (*((narrow,) if matrix.node is not None else ()), *((matrix,) if narrow.node is not None else ()))
        flops = per_token(2.0 * inputs * outputs * kernel * kernel * points)
        return tape.operate(
            (narrow, matrix, tape.weight(bias, size)), per_token(outputs * points), size, saves=saves, kind="dense",
            inner=inputs * kernel * kernel, outer=outputs, flops=flops, backward_flops=(flops, flops, Form()),
        )  # fmt: skip
