"""The parts that models are made of, on a tape: as PyTorch, transformers, PEFT and bitsandbytes compute them."""

from app.estimator.adapters import Adapters
from app.estimator.architecture import ActivationKind, Linear, NormKind
from app.estimator.recipe import Recipe
from app.estimator.tape import Form, Tape, Tensor, Weight, per_token

STATISTIC_BYTES = 4.0


class Layers:
    """Linear layers, norms, activations and attention of one model under one recipe."""

    def __init__(self, tape: Tape, recipe: Recipe, adapters: Adapters | None) -> None:
        self.tape = tape
        self.recipe = recipe
        self.adapters = adapters
        self.trains_base = recipe.method == "full"
        self.base = recipe.base_bytes
        self.compute = recipe.compute_bytes
        self.eager = recipe.attention == "eager"
        self.declared = 0.0  # elements of the base's weights so far

    def parameter(self, elements: float) -> Weight:
        """A weight of the base."""
        self.declared += elements * self.tape.repeats
        return Weight(elements, self.base, trained=self.trains_base)

    # --- Linear layers ---

    def linear(self, tensor: Tensor, layer: Linear) -> Tensor:
        """A linear layer of a block, 4-bit and with an adapter where the recipe says so."""
        quantised = self.recipe.method == "qlora" and layer.role not in ("router", "shared_router")
        if quantised:
            result = self._four_bit(tensor, layer)
        else:
            result = self.plain_linear(tensor, layer.inputs, layer.outputs, bias=layer.bias, copies=layer.copies)
        if self.adapters is not None and self.adapters.on(layer):
            result = self.adapted(tensor, result, layer, quantised=quantised)
        return result

    def plain_linear(
        self, tensor: Tensor, inputs: int, outputs: int, *, bias: bool = False, copies: int = 1
    ) -> Tensor:
        """``x·Wᵀ + b`` in the type of matrix products."""
        weight = self.parameter(inputs * outputs * copies)
        bias_weight = self.parameter(outputs * copies) if bias else None
        return self.product(tensor, weight, inputs, outputs, bias_weight)

    def product(
        self, tensor: Tensor, weight: Weight, inputs: int, outputs: int, bias: Weight | None = None
    ) -> Tensor:
        """A matrix product with a weight: keeps its input for a trained weight, the weight for its input."""
        tape = self.tape
        size = tape.autocast or weight.bytes
        narrow = tape.to(tensor, size)
        matrix = tape.weight(weight, size)
        saves: tuple[Tensor, ...] = ()
        if matrix.node is not None:
            saves += (narrow,)
        if narrow.node is not None:
            saves += (matrix,)
        rows = _scaled(tensor.width, outputs / inputs)
        operands = (narrow, matrix) if bias is None else (narrow, matrix, tape.weight(bias, size))
        flops = rows.times(2 * inputs)
        return tape.operate(
            operands, rows, size, saves=saves, kind="dense", inner=inputs, outer=outputs, flops=flops,
            backward_flops=(flops, flops, Form()),
        )  # fmt: skip

    def _four_bit(self, tensor: Tensor, layer: Linear) -> Tensor:
        """Bitsandbytes' 4-bit layer: expands the weight for each product, answers in its input's type."""
        tape, size = self.tape, self.compute
        narrow = tape.to(tensor, size)
        expanded = Form(layer.inputs * layer.outputs * float(size))
        rows = _scaled(tensor.width, layer.outputs / layer.inputs)
        flops = rows.times(2 * layer.inputs)
        packed = Tensor(None, Form(layer.weights * 0.5), 1, None)
        tape.note_expansion(expanded, again=narrow.node is not None)
        # The packed weight is kept for backward: it costs nothing, but recomputation has to get that far.
        result = tape.operate(
            (narrow, packed), rows, size, saves=(packed,), saves_late=True, scratch=expanded,
            backward_scratch=expanded, kind="dense", inner=layer.inputs, outer=layer.outputs, flops=flops,
            backward_flops=(flops, Form()),
        )  # fmt: skip
        return tape.to(result, tensor.bytes)

    def adapted(self, tensor: Tensor, result: Tensor, layer: Linear, *, quantised: bool) -> Tensor:
        """PEFT's LoRA layer: result + B·A·dropout(x) × scaling, its input cast to the adapter's type."""
        assert self.adapters is not None  # noqa: S101
        tape, lora = self.tape, self.adapters.lora
        first = Weight(lora.rank * layer.inputs * layer.copies, self.recipe.adapter_bytes, trained=True)
        second = Weight(lora.rank * layer.outputs * layer.copies, self.recipe.adapter_bytes, trained=True)
        if quantised:
            result = tape.scale(result)
            own = tensor if tape.autocast else tape.to(tensor, first.bytes)
        else:
            own = tape.to(tensor, first.bytes)
        if lora.dropout > 0:
            own = self.dropout(own)
        low = self.product(own, first, layer.inputs, lora.rank)
        high = tape.scale(self.product(low, second, lora.rank, layer.outputs))
        if quantised and not tape.autocast:
            high = tape.to(high, result.bytes)
        total = tape.add(result, high)
        return total if quantised else tape.to(total, result.bytes)

    # --- Elementwise ---

    def dropout(self, tensor: Tensor) -> Tensor:
        """Keeps one byte an element: the mask."""
        return self.tape.operate((tensor,), tensor.width, tensor.bytes, side_bytes=tensor.width)

    def norm(self, tensor: Tensor, width: int, kind: NormKind, *, bias: bool = False) -> Tensor:
        """A norm over ``width``; the tensor may hold many of that width."""
        if kind == "layer":
            return self._layer_norm(tensor, width, bias=bias)
        tape = self.tape
        wide = tape.to(tensor, 4)
        groups = tensor.width.token / width
        square = tape.operate((wide,), wide.width, 4, saves=(wide,))
        mean = tape.scale(Tensor(square.storage, per_token(groups), 4, square.node))
        del square
        root = tape.operate((mean,), per_token(groups), 4, saves_output=True)
        del mean
        # T5 divides the input itself, the others its copy in fp32.
        divided = tensor if kind == "t5_rms" else wide
        flat = tape.operate((divided, root), wide.width, 4, saves=(divided, root))
        del wide, root, divided
        weight = self.parameter(width)
        if kind == "gemma_rms":
            factor = tape.to(weight.tensor(), 4)
            return tape.to(tape.multiply(flat, factor), tensor.bytes)
        if kind == "t5_rms":
            narrow = tape.to(flat, weight.bytes) if weight.bytes < 4 else flat
        else:
            narrow = tape.to(flat, tensor.bytes)
        del flat
        return tape.multiply(narrow, weight.tensor())

    def _layer_norm(self, tensor: Tensor, width: int, *, bias: bool) -> Tensor:
        """Keeps its input, mean and deviation; autocast computes and answers in fp32."""
        tape = self.tape
        wide = tape.to(tensor, 4) if tape.autocast else tensor
        weight, offset = self.parameter(width), self.parameter(width if bias else 0)
        side = per_token(2 * STATISTIC_BYTES * tensor.width.token / width)
        return tape.operate(
            (wide, weight.tensor(), offset.tensor()), wide.width, wide.bytes, saves=(wide,), side_bytes=side
        )

    def activation(self, tensor: Tensor, kind: ActivationKind) -> Tensor:
        """The MLP's activation function."""
        tape = self.tape
        if kind == "fused":
            return tape.operate((tensor,), tensor.width, tensor.bytes, saves=(tensor,))
        if kind == "relu":
            return tape.operate((tensor,), tensor.width, tensor.bytes, saves_output=True)
        if kind == "relu2":
            positive = tape.operate((tensor,), tensor.width, tensor.bytes, saves_output=True)
            return self.power(positive)
        if kind == "gelu_new":
            return self._gelu_new(tensor)
        if kind == "quick_gelu":
            gate = tape.operate((tape.scale(tensor),), tensor.width, tensor.bytes, saves_output=True)
            return tape.multiply(tensor, gate)
        if kind == "bloom":
            # One autograd function, whose backward computes the formula again from the input.
            return tape.operate((tensor,), tensor.width, tensor.bytes, saves=(tensor,))
        return self._xielu(tensor)

    def power(self, tensor: Tensor) -> Tensor:
        """xⁿ keeps x; autocast computes it in fp32."""
        wide = self.tape.to(tensor, 4) if self.tape.autocast else tensor
        return self.tape.operate((wide,), wide.width, wide.bytes, saves=(wide,))

    def _gelu_new(self, tensor: Tensor) -> Tensor:
        """0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), written out in Python."""
        tape = self.tape
        half = tape.scale(tensor)
        inner = tape.scale(tape.add(tensor, tape.scale(self.power(tensor))))
        bent = tape.operate((inner,), inner.width, inner.bytes, saves_output=True)
        del inner
        bent = tape.scale(bent)
        return tape.multiply(half, bent)

    def _xielu(self, tensor: Tensor) -> Tensor:
        """αp·x² + βx where x > 0, else (expm1(min(x, ε)) − x)·αn + βx, written out in Python."""
        tape = self.tape
        mask = tensor.width
        square = tape.multiply(tape.scale(tensor), tensor)
        right = tape.add(square, tape.scale(tensor))
        del square
        low = tape.operate((tensor,), tensor.width, tensor.bytes, side_bytes=tensor.width)
        grown = tape.operate((low,), tensor.width, tensor.bytes, saves_output=True)
        left = tape.add(tape.multiply(tape.add(grown, tensor), grown), tape.scale(tensor))
        return tape.operate((right, left), tensor.width, tensor.bytes, side_bytes=mask)

    # --- Attention ---

    def rotate(self, tensor: Tensor, size: int, share: float = 1.0) -> Tensor:
        """Rotary positions: x · cos + rotate_half(x) · sin, with cosines of ``size`` bytes."""
        tape = self.tape
        size = max(size, tensor.bytes)
        part = tensor.width.times(share)
        first = tape.operate((tensor,), part, size)
        half = tape.operate((tensor,), part.times(0.5), tensor.bytes)
        turned = tape.operate((half,), part, tensor.bytes)
        del half
        second = tape.operate((turned,), part, size)
        del turned
        total = tape.add(first, second)
        if share < 1.0:
            del first, second
            total = tape.operate((total, tensor), tensor.width, size)
        return total

    def fused_attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        heads: float,
        *,
        keys: float | None,
        repeats: bool,
        causal: bool,
    ) -> Tensor:
        """One kernel that keeps q, k, v, its output and a statistic a head (FlashAttention, arXiv 2205.14135)."""
        tape, size = self.tape, self.compute
        query, key, value = tape.to(query, size), tape.to(key, size), tape.to(value, size)
        if repeats and size == 4:
            # The fp32 kernel knows no shared heads: keys and values are copied for each.
            key = tape.operate((key,), query.width, size)
            value = tape.operate((value,), query.width, size)
        output = _scaled(query.width, value.width.token / key.width.token)
        both = 2 * (query.width.token + output.token)
        flops = Form(pair=both) if keys is None else Form(token=both * keys)
        back = flops.times(2.5)
        return tape.operate(
            (query, key, value), output, size, saves=(query, key, value), saves_output=True,
            side_bytes=per_token(STATISTIC_BYTES * heads), kind="causal" if causal else "attention",
            inner=query.width.token / heads, outer=heads, flops=flops, backward_flops=(back, Form(), Form()),
        )  # fmt: skip

    def batched_product(self, left: Tensor, right: Tensor, width: Form, flops: Form) -> Tensor:
        """A product of two activations; keeps both."""
        tape = self.tape
        size = tape.autocast or left.bytes
        left, right = tape.to(left, size), tape.to(right, size)
        return tape.operate(
            (left, right), width, size, saves=(left, right), kind="attention", inner=64, outer=64, flops=flops,
            backward_flops=(flops, flops),
        )

    def repeated(self, tensor: Tensor, width: Form) -> Tensor:
        """Shared heads copied for each query head; itself where there is nothing to share."""
        if tensor.width == width:
            return tensor
        return self.tape.operate((tensor,), width, tensor.bytes)

    def softmax(self, scores: Tensor, *, widens: bool = True) -> Tensor:
        """Keeps its output, in fp32 where the model's code or autocast asks for it."""
        wide = self.tape.to(scores, 4) if widens or self.tape.autocast else scores
        del scores
        return self.tape.operate((wide,), wide.width, wide.bytes, saves_output=True)


def _scaled(width: Form, factor: float) -> Form:
    return Form(width.fixed * factor, width.token * factor, width.pair * factor)
