"""A tape of a model's operators that knows which tensors live when, through forward and backward.

It behaves like PyTorch's autograd, with sizes in place of data: a tensor lives as long as a variable of the model's
code, or an operator that needs it for its backward pass, holds it; backward runs the operators in reverse, frees what
each one saved and adds up gradients. So a model is written down once, the way its code computes, and memory, operations
and traffic all follow from that.

Sizes are linear forms: bytes that are fixed, bytes a token of the micro-batch, and bytes a token and token of length
(attention scores). Equal layers are not repeated: of a stack of n, at most four are computed, and one of them counts
for all those between (``Tape.stack``).
"""

from collections.abc import Callable
from typing import NamedTuple


class Form(NamedTuple):
    """``fixed + token × tokens + pair × tokens × length``; elements or bytes."""

    fixed: float = 0.0
    token: float = 0.0
    pair: float = 0.0

    def times(self, factor: float) -> "Form":
        """All three coefficients multiplied."""
        return Form(self.fixed * factor, self.token * factor, self.pair * factor)

    def at(self, tokens: float, length: float) -> float:
        """The form's value."""
        return self.fixed + self.token * tokens + self.pair * tokens * length


def per_token(width: float) -> Form:
    """A tensor of tokens × width."""
    return Form(token=width)


class Peak(NamedTuple):
    """Bytes alive at one instant; gradients of weights apart from the rest of what is fixed."""

    fixed: float
    gradients: float
    token: float
    pair: float

    def at(self, tokens: float, length: float) -> float:
        """Bytes at a number of tokens of a length."""
        return self.fixed + self.gradients + self.token * tokens + self.pair * tokens * length


class Work(NamedTuple):
    """One kernel's work: so many ``times``, its operations, and the bytes that it reads and writes."""

    stage: str
    kind: str  # "dense" | "attention" | "causal" | "elementwise" | "expand"
    inner: float
    outer: float
    times: float
    flops: Form
    moved: Form


class Storage:
    """Memory that is given back when the last reference to it goes."""

    __slots__ = ("fixed", "gradients", "pair", "tag", "tape", "token")

    def __init__(self, tape: "Tape", fixed: float, token: float, pair: float) -> None:
        self.tape = tape
        self.tag = tape.tag
        self.fixed = fixed
        self.gradients = 0.0
        self.token = token
        self.pair = pair
        tape.grow(self)

    def __del__(self) -> None:
        self.tape.shrink(self)


class Tensor:
    """A value of the model's code. ``node`` is what computes its gradient; None where it needs none."""

    __slots__ = ("bytes", "node", "storage", "width")

    def __init__(self, storage: Storage | None, width: Form, size: int, node: "Node | Leaf | None") -> None:
        self.storage = storage
        self.width = width
        self.bytes = size
        self.node = node


class Leaf:
    """Where gradients end: a weight, or the input of a recomputed stretch."""

    __slots__ = ("buffer", "is_weight", "uses")

    def __init__(self, *, is_weight: bool) -> None:
        self.is_weight = is_weight
        self.buffer: Storage | None = None
        self.uses = 0


class Weight:
    """A parameter: ``elements`` of ``bytes`` each, trained or frozen."""

    __slots__ = ("bytes", "elements", "leaf", "trained")

    def __init__(self, elements: float, size: int, *, trained: bool) -> None:
        self.elements = elements
        self.bytes = size
        self.trained = trained
        self.leaf = Leaf(is_weight=True) if trained else None

    def tensor(self) -> Tensor:
        """The weight as an operator's input; its own memory is counted elsewhere."""
        return Tensor(None, Form(self.elements), self.bytes, self.leaf)


class Node:
    """One operator of the backward pass."""

    __slots__ = ("buffer", "edges", "gathers", "repeats", "rerun", "saved", "scratch", "shape", "tag", "turn", "works")

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.edges: list[tuple[Node | Leaf, Form | None]] = []  # None: the gradient is passed on as it is
        self.saved: list[Storage] = []
        self.scratch: Form | None = None
        self.buffer: Storage | None = None
        self.shape = (Form(), 0)  # of a stretch's input
        self.gathers = False  # gradients of parts, which are kept side by side
        self.repeats = 1.0
        self.works: list[Work] = []
        self.rerun: Callable[[Tensor], Tensor] | None = None
        self.turn = ""  # a phase that begins when this node runs


class Tape:
    """Records a model's forward pass and runs it backward; ``peaks``: candidates for each phase's largest instant.

    ``autocast``: bytes of the type that matrix products are cast to, 0 without autocast. ``carried``: gradients of an
    earlier micro-batch exist, so that new ones are added to them and vanish.
    """

    def __init__(self, *, autocast: int = 0, carried: bool = False) -> None:
        self.autocast = autocast
        self.carried = carried
        self.fixed = self.gradients = self.token = self.pair = 0.0
        self.tag = ""
        self.multiples: dict[str, float] = {"": 1.0}
        self.by_tag: dict[str, list[float]] = {"": [0.0, 0.0, 0.0, 0.0]}
        self.partners: dict[str, tuple[str, str, float]] = {}
        self.nodes: list[Node] = []
        self.saving = True
        self.recording = True
        self.risen = False
        self.phase = "forward"
        self.peaks: dict[str, list[Peak]] = {}
        self.works: list[Work] = []
        self.stage = "forward"
        self.repeats = 1.0
        self.cut = 0  # where the last operator that saved something stands among the works
        self.cast_cache: dict[Leaf, Tensor] = {}
        self.kept: list[Storage] = []
        self.after_forward = Peak(0.0, 0.0, 0.0, 0.0)

    # --- What lives ---

    def grow(self, storage: Storage) -> None:
        """A new storage."""
        multiple = self.multiples[storage.tag]
        self.fixed += multiple * storage.fixed
        self.token += multiple * storage.token
        self.pair += multiple * storage.pair
        mine = self.by_tag[storage.tag]
        mine[0] += storage.fixed
        mine[2] += storage.token
        mine[3] += storage.pair
        self.risen = True

    def shrink(self, storage: Storage) -> None:
        """A storage goes; what lived until now may have been a peak."""
        if self.risen:
            self._record()
        multiple = self.multiples[storage.tag]
        self.fixed -= multiple * storage.fixed
        self.gradients -= multiple * storage.gradients
        self.token -= multiple * storage.token
        self.pair -= multiple * storage.pair
        mine = self.by_tag[storage.tag]
        mine[0] -= storage.fixed
        mine[1] -= storage.gradients
        mine[2] -= storage.token
        mine[3] -= storage.pair

    def now(self) -> Peak:
        """Bytes alive at this instant."""
        return Peak(self.fixed, self.gradients, self.token, self.pair)

    def _record(self) -> None:
        self.risen = False
        if self.recording:
            self.peaks.setdefault(self.phase, []).append(self.now())

    def begin(self, phase: str) -> None:
        """The next phase; the instant between belongs to both."""
        self._record()
        self.phase = phase
        self._record()

    def _keep_as_gradient(self, storage: Storage) -> None:
        multiple = self.multiples[storage.tag]
        self.fixed -= multiple * storage.fixed
        self.gradients += multiple * storage.fixed
        mine = self.by_tag[storage.tag]
        mine[0] -= storage.fixed
        mine[1] += storage.fixed
        storage.gradients, storage.fixed = storage.fixed, 0.0
        self.kept.append(storage)

    # --- Forward ---

    def new(self, width: Form, size: float) -> Storage:
        """Memory for ``width`` elements of ``size`` bytes."""
        return Storage(self, width.fixed * size, width.token * size, width.pair * size)

    def operate(
        self,
        inputs: tuple[Tensor, ...],
        width: Form,
        size: int,
        *,
        saves: tuple[Tensor, ...] = (),
        saves_output: bool = False,
        side_bytes: Form | None = None,
        passes_on: bool = False,
        scratch: Form | None = None,
        backward_scratch: Form | None = None,
        kind: str = "elementwise",
        inner: float = 0.0,
        outer: float = 0.0,
        flops: Form | None = None,
        backward_flops: tuple[Form, ...] | None = None,
        saves_late: bool = False,
        in_place: bool = False,
    ) -> Tensor:
        """One operator: its output, what it keeps, and what its backward pass will do.

        ``side_bytes`` are kept beside the tensors (masks, statistics); ``passes_on``: the inputs' gradients are the
        output's own; ``backward_flops``: one for each input, like the forward's without it.
        """
        records = self.saving and any(one.node is not None for one in inputs)
        keeps = bool(saves) or saves_output or side_bytes is not None
        late = saves_late or saves_output
        if records and keeps and not late:
            self.cut = len(self.works)
        output = inputs[0].storage if in_place else self.new(width, size)
        if scratch is not None:
            spare = Storage(self, *scratch)
            del spare
        side = None if side_bytes is None else Storage(self, *side_bytes)
        moved = _moved(inputs, width, size)
        self.works.append(Work(self.stage, kind, inner, outer, self.repeats, flops or Form(), moved))
        if not records:
            return Tensor(output, width, size, None)
        if keeps and late:
            self.cut = len(self.works)
        node = Node(self.tag)
        for place, one in enumerate(inputs):
            if one.node is None:
                continue
            if isinstance(one.node, Leaf):
                one.node.uses += 1
            node.edges.append((one.node, None if passes_on else one.width.times(one.bytes)))
            if passes_on:
                continue
            back = (flops or Form()) if backward_flops is None else backward_flops[place]
            node.works.append(Work("backward", kind, inner, outer, self.repeats, back, moved))
        node.saved = [one.storage for one in saves if one.storage is not None]
        if saves_output and output is not None:
            node.saved.append(output)
        if side is not None:
            node.saved.append(side)
        if backward_scratch is not None:
            node.scratch = backward_scratch
        self.nodes.append(node)
        return Tensor(output, width, size, node)

    def to(self, tensor: Tensor, size: int) -> Tensor:
        """The tensor in a type of ``size`` bytes; itself where it has it."""
        return tensor if tensor.bytes == size else self.operate((tensor,), tensor.width, size)

    def add(self, left: Tensor, right: Tensor) -> Tensor:
        """A sum keeps nothing; types are widened, and a narrower part gets its gradient cast."""
        size = max(left.bytes, right.bytes)
        same = left.bytes == right.bytes and left.width == right.width
        return self.operate((left, right), left.width, size, passes_on=same)

    def multiply(self, left: Tensor, right: Tensor) -> Tensor:
        """A product keeps each factor for the other's gradient."""
        saves = (*((right,) if left.node is not None else ()), *((left,) if right.node is not None else ()))
        return self.operate((left, right), left.width, max(left.bytes, right.bytes), saves=saves)

    def scale(self, tensor: Tensor) -> Tensor:
        """A product with a number, a negation, a copy: keeps nothing."""
        return self.operate((tensor,), tensor.width, tensor.bytes)

    def weight(self, weight: Weight, size: int) -> Tensor:
        """A weight in the type of the product it is used in; autocast keeps casts of trained ones until it ends."""
        plain = weight.tensor()
        if weight.bytes == size:
            return plain
        if weight.leaf is None:
            return self.to(plain, size)
        if weight.leaf not in self.cast_cache:
            self.cast_cache[weight.leaf] = self.to(plain, size)
        return self.cast_cache[weight.leaf]

    def end_autocast(self) -> None:
        """Forgets the cached casts."""
        self.cast_cache = {}

    def note_expansion(self, expanded: Form, *, again: bool) -> None:
        """Work of expanding a 4-bit weight: half a byte is read for each two written; ``again`` for backward."""
        moved = expanded.times(1.25)
        self.works.append(Work(self.stage, "expand", 0, 0, self.repeats, Form(), moved))
        if again and self.saving:
            self.works.append(Work("backward", "expand", 0, 0, self.repeats, Form(), moved))

    def split(self, tensor: Tensor, *widths: float) -> tuple[Tensor, ...]:
        """Views of a tensor's parts; their gradients wait for one another and are put together."""
        node: Node | None = None
        if tensor.node is not None and self.saving:
            node = Node(self.tag)
            node.gathers = True
            node.edges.append((tensor.node, tensor.width.times(tensor.bytes)))
            self.nodes.append(node)
        return tuple(Tensor(tensor.storage, per_token(width), tensor.bytes, node) for width in widths)

    # --- Equal layers ---

    def stack(
        self,
        name: str,
        count: int,
        layer: Callable[[Tensor], Tensor],
        tensor: Tensor,
        *,
        first_differs: bool = False,
    ) -> Tensor:
        """``count`` equal layers, one after the other.

        Computed are the first one where it differs (no gradient arrives at it, or its input has another type), one that
        counts for all between, and the last two, between which the steady state can be seen.
        """
        singles = 1 if tensor.node is None or first_differs else 0
        many = count - singles > 3
        for place in range(count if not many else singles + 3):
            is_middle = many and place == singles
            self._enter(f"{name}/{place}", float(count - singles - 2) if is_middle else 1.0)
            self.recording = not many or place == singles + 2
            tensor = layer(tensor)
        if many:
            first, last = f"{name}/{singles}", f"{name}/{singles + 2}"
            self.partners[first] = (first, last, float(count - singles - 2))
        self.recording = True
        self._enter("", 1.0)
        return tensor

    def _enter(self, tag: str, multiple: float) -> None:
        self.tag = tag
        self.multiples.setdefault(tag, multiple)
        self.by_tag.setdefault(tag, [0.0, 0.0, 0.0, 0.0])
        self.repeats = multiple

    def _reach_backward(self, tag: str) -> None:
        """Once the first of many layers is reached, the last one stands for those between: its gradients are theirs."""
        self.tag = tag
        pair = self.partners.pop(tag, None)
        if pair is None:
            return
        first, last, multiple = pair
        for name, change in ((first, 1.0 - multiple), (last, multiple - 1.0)):
            self.multiples[name] += change
            mine = self.by_tag[name]
            self.fixed += change * mine[0]
            self.gradients += change * mine[1]
            self.token += change * mine[2]
            self.pair += change * mine[3]

    # --- Checkpointing ---

    def checkpoint(self, stretch: Callable[[Tensor], Tensor], tensor: Tensor) -> Tensor:
        """Computes a stretch without keeping anything but its input; backward computes it again."""
        if not self.saving:
            return stretch(tensor)
        self.saving = False
        output = stretch(tensor)
        self.saving = True
        if tensor.node is None:
            return output
        node = Node(self.tag)
        node.rerun, node.shape, node.repeats = stretch, (tensor.width, tensor.bytes), self.repeats
        node.edges.append((tensor.node, tensor.width.times(tensor.bytes)))
        node.saved.append(tensor.storage)  # type: ignore[arg-type]  # what layers are given has been computed
        self.nodes.append(node)
        return Tensor(output.storage, output.width, output.bytes, node)

    # --- Backward ---

    def mark(self, tensor: Tensor, phase: str) -> Tensor:
        """The tensor, whose gradient's arrival begins a phase."""
        if tensor.node is None:
            return tensor
        node = Node(self.tag)
        node.turn = phase
        node.edges.append((tensor.node, None))
        self.nodes.append(node)
        return Tensor(tensor.storage, tensor.width, tensor.bytes, node)

    def backward(self, loss: Tensor) -> None:
        """From the loss to every weight."""
        self.stage = "backward"
        node, width, size = loss.node, loss.width, loss.bytes
        del loss
        if node is not None:
            node.buffer = self.new(width, size)
        self._run(0)
        self._record()

    def _run(self, start: int) -> None:
        while len(self.nodes) > start:
            node = self.nodes.pop()
            if node.buffer is None:
                continue
            if node.tag != self.tag:
                self._reach_backward(node.tag)
            if node.turn:
                self.begin(node.turn)
            found = self._again(node) if node.rerun is not None else self._apply(node)
            for target, _ in node.edges:
                self._deliver(target, found.pop())

    def _apply(self, node: Node) -> list[Storage]:
        """The gradients for a node's inputs, the last one first; what the node kept goes."""
        gradient, node.buffer = node.buffer, None
        spare = None if node.scratch is None else Storage(self, *node.scratch)
        found = [gradient if form is None else Storage(self, *form) for _, form in node.edges]
        del spare, gradient
        self.works.extend(node.works)
        node.saved.clear()
        found.reverse()
        return found  # type: ignore[return-value]  # only nodes whose gradient has arrived are applied

    def _deliver(self, target: Node | Leaf, arrived: Storage) -> None:
        """Adds a gradient to what has arrived; a weight's is kept, or added to the one that is there."""
        if target.buffer is None:
            target.buffer = arrived
        elif isinstance(target, Node) and target.gathers:
            target.saved.append(arrived)
        else:
            target.buffer = Storage(self, arrived.fixed, arrived.token, arrived.pair)
        if isinstance(target, Leaf) and target.is_weight:
            target.uses -= 1
            if target.uses == 0:
                done, target.buffer = target.buffer, None
                if not self.carried:
                    self._keep_as_gradient(done)

    def _again(self, node: Node) -> list[Storage]:
        """Computes a checkpointed stretch again, as far as something keeps it; then runs it backward."""
        leaf = Leaf(is_weight=False)
        inside = Tensor(node.saved[0], *node.shape, leaf)
        start, self.cut = len(self.nodes), len(self.works)
        self.stage, self.repeats = "recomputed", node.repeats
        output = node.rerun(inside)  # type: ignore[misc]  # only nodes with a stretch come here
        del self.works[self.cut :], inside
        self.end_autocast()
        self.stage = "backward"
        last = output.node
        del output
        last.buffer, node.buffer = node.buffer, None  # type: ignore[union-attr]  # it was computed from its input
        self._run(start)
        node.saved.clear()
        return [leaf.buffer]  # type: ignore[list-item]  # for the same reason


def _moved(inputs: tuple[Tensor, ...], width: Form, size: int) -> Form:
    """Bytes that a kernel reads and writes when it touches each element once."""
    fixed, token, pair = width.fixed * size, width.token * size, width.pair * size
    for one in inputs:
        fixed += one.width.fixed * one.bytes
        token += one.width.token * one.bytes
        pair += one.width.pair * one.bytes
    return Form(fixed, token, pair)
