"""A whole training step of a transformer on a tape: embeddings, blocks, head, loss, and all of it backward."""

from functools import partial

from app.estimator.adapters import Adapters
from app.estimator.architecture import Architecture, Block
from app.estimator.blocks import Blocks
from app.estimator.flux import FluxProgram
from app.estimator.layers import Layers
from app.estimator.recipe import Recipe
from app.estimator.tape import Form, Leaf, Tape, Tensor, Weight, per_token
from app.estimator.unet import UNetProgram


def run_step(architecture: Architecture, recipe: Recipe, adapters: Adapters | None) -> Tape:
    """One micro-batch, forward and backward; the tape holds the peaks and the work.

    Sizes are forms of tokens, or of samples where ``architecture.by_sample``: then the recipe's length is used here.
    """
    tape = Tape(
        autocast=recipe.compute_bytes if recipe.is_mixed else 0, carried=recipe.gradient_accumulation_steps > 1
    )
    layers = Layers(tape, recipe, adapters)
    outputs: Tensor | None
    if architecture.diffusion_transformer is not None:
        loss, outputs = FluxProgram(layers, architecture.diffusion_transformer, architecture.blocks).loss(), None
    elif architecture.unet is not None:
        loss, outputs = UNetProgram(layers, architecture.unet, architecture.blocks).loss(), None
    else:
        loss, outputs = _Model(tape, architecture, recipe, adapters, layers).loss()
    if not recipe.keeps_outputs:
        outputs = None
    tape.end_autocast()
    tape.begin("loss_backward")
    tape.after_forward = tape.now()
    tape.backward(loss)
    del outputs
    return tape


class _Model:
    def __init__(
        self,
        tape: Tape,
        architecture: Architecture,
        recipe: Recipe,
        adapters: Adapters | None,
        layers: Layers,
    ) -> None:
        self.tape = tape
        self.architecture = architecture
        self.recipe = recipe
        self.adapters = adapters
        self.layers = layers
        # Tokens of a sample in the last stack, where sizes go by samples.
        self.length = architecture.fixed_tokens or recipe.sequence_length if architecture.by_sample else None
        self.table: Weight | None = None

    def loss(self) -> tuple[Tensor, Tensor | None]:
        """The loss, and the logits, which the loop's variable may hold on to; the rest of its computation is gone."""
        architecture = self.architecture
        first = architecture.blocks[0].fixed_tokens or self.length
        hidden = self._embedded(first)
        encoded: Tensor | None = None
        for place, block in enumerate(architecture.blocks):
            if block.cross_tokens and encoded is None:
                encoded = self._normed(hidden) if architecture.encoder_norm else hidden
                hidden = self._embedded(self.length)
            hidden = self._stack(f"{place}", block, hidden, encoded if block.cross_tokens else None)
        if architecture.head.norm:
            hidden = self._normed(hidden)
        if architecture.end_dropout:
            hidden = self.layers.dropout(hidden)
        return self._head(hidden)

    def _normed(self, tensor: Tensor) -> Tensor:
        return self.layers.norm(
            tensor, self.architecture.hidden, self.architecture.norm, bias=self.architecture.norm_bias
        )

    def _stack(self, name: str, block: Block, hidden: Tensor, encoded: Tensor | None) -> Tensor:
        keys = block.fixed_tokens or self.length
        other_keys = block.cross_tokens if keys is not None else None
        program = Blocks(
            self.layers, block, other=encoded, spread=keys or 1.0, keys=keys, other_keys=other_keys
        )
        layer = program.forward
        if self.recipe.gradient_checkpointing:
            layer = partial(self.tape.checkpoint, program.forward)
        # Projected embeddings arrive in the type of matrix products.
        differs = self.architecture.embedding_projection > 0
        return self.tape.stack(name, block.layers, layer, hidden, first_differs=differs)

    # --- The two ends ---

    def _embedded(self, length: float | None) -> Tensor:
        architecture, layers, tape = self.architecture, self.layers, self.tape
        spread = length or 1.0
        width = architecture.embedding_projection or architecture.hidden
        hidden: Tensor | None = None
        for table in architecture.embeddings:
            weight = layers.parameter(table.parameters)
            if self.table is None:
                self.table = weight
            elif table is architecture.embeddings[0]:
                weight = self.table
            found = tape.operate((weight.tensor(),), per_token(width * spread if table.per_token else 0), layers.base)
            hidden = found if hidden is None else tape.add(hidden, found)
            del found
        if hidden is None:
            hidden = tape.operate(
                (layers.parameter(0).tensor(),), per_token(architecture.hidden * spread), layers.compute
            )
        if architecture.embedding_projection:
            hidden = layers.plain_linear(hidden, width, architecture.hidden)
        if architecture.scales_embeddings:
            hidden = tape.scale(hidden)
        if architecture.embedding_norm:
            hidden = self._normed(hidden)
        if architecture.embedding_dropout:
            hidden = layers.dropout(hidden)
        if not self.layers.trains_base and self.recipe.gradient_checkpointing:
            # PEFT lets the embeddings' output require a gradient, or checkpointing would have none to pass on.
            hidden.node = Leaf(is_weight=False)
        return hidden

    def _head(self, hidden: Tensor) -> tuple[Tensor, Tensor | None]:
        head, tape = self.architecture.head, self.tape
        if head.kind in ("classification", "none"):
            return self._classified(hidden), None
        if head.transform:
            hidden = self.layers.plain_linear(hidden, self.architecture.hidden, self.architecture.hidden, bias=True)
            hidden = self.layers.activation(hidden, "fused")
            hidden = self._normed(hidden)
        hidden = tape.mark(hidden, "backward")
        tape.begin("loss_forward")
        if self.architecture.embedding_projection:
            hidden = self.layers.plain_linear(hidden, self.architecture.hidden, self.architecture.embedding_projection)
        if self.recipe.fused_loss:
            return self._fused_loss(hidden), None
        logits = self._logits(hidden)
        del hidden
        if head.softcap:
            capped = tape.scale(logits)
            del logits
            capped = tape.operate((capped,), capped.width, capped.bytes, saves_output=True)
            logits = tape.scale(capped)
            del capped
        return self._cross_entropy(logits), logits

    def _logits(self, hidden: Tensor) -> Tensor:
        architecture, head, layers = self.architecture, self.architecture.head, self.layers
        weight = self.table if head.tied and self.table is not None else layers.parameter(architecture.head_weights)
        if self.recipe.method != "full" and head.kind == "span":
            weight = Weight(architecture.head_weights, 4, trained=True)
        bias = layers.parameter(head.outputs) if head.bias else None
        inputs = architecture.embedding_projection or architecture.hidden
        logits = layers.product(hidden, weight, inputs, head.outputs, bias)
        if self.adapters is not None and self.adapters.on_head is not None:
            logits = layers.adapted(hidden, logits, self.adapters.on_head, quantised=False)
        return logits

    def _cross_entropy(self, logits: Tensor) -> Tensor:
        """The model's variable keeps the logits while the loss computes in fp32."""
        tape = self.tape
        wide = tape.to(logits, 4) if self.architecture.head.widens_logits or tape.autocast else logits
        likelihood = tape.operate((wide,), wide.width, wide.bytes, saves_output=True)
        loss = tape.operate((likelihood,), Form(4.0), 4)
        del likelihood, wide
        return loss

    def _fused_loss(self, hidden: Tensor) -> Tensor:
        """Liger's kernel (arXiv 2410.10989): logits in pieces of about tokens × hidden elements, gradients at once."""
        architecture, layers, tape = self.architecture, self.layers, self.tape
        weight = self.table if architecture.head.tied and self.table is not None else layers.parameter(
            architecture.head_weights
        )
        size = layers.compute
        spread = self.length or 1.0
        kept = Form(
            architecture.head_weights * weight.bytes * float(weight.trained), architecture.hidden * size * spread
        )
        flops = per_token(2 * architecture.head_weights * spread)
        pieces = per_token(architecture.hidden * (size + 4.0) * spread)
        return tape.operate(
            (hidden, weight.tensor()), Form(4.0), 4, side_bytes=kept, scratch=pieces, kind="dense",
            inner=architecture.hidden, outer=architecture.vocabulary, flops=flops, backward_flops=(flops, flops),
        )  # fmt: skip

    def _classified(self, hidden: Tensor) -> Tensor:
        """A pooled first token and a small matrix: next to nothing beside the blocks."""
        tape, layers, architecture = self.tape, self.layers, self.architecture
        trained = Weight(1, 4, trained=True)
        if architecture.head.pooler:
            weight = layers.parameter(architecture.hidden * architecture.hidden)
            saves = (hidden,) if weight.trained else ()
            first = tape.operate((hidden, weight.tensor()), Form(), layers.compute, saves=saves)
        else:
            first = tape.operate((hidden,), Form(), hidden.bytes)
        del hidden
        first = tape.mark(first, "backward")
        tape.begin("loss_forward")
        return tape.operate((first, trained.tensor()), Form(4.0), 4, saves=(first,))
