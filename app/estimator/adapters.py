"""Which linear layers carry adapters, and how large those are."""

from dataclasses import dataclass
from functools import lru_cache

from app.estimator.architecture import Architecture, Linear
from app.estimator.errors import RecipeError
from app.estimator.recipe import Lora, Recipe


@dataclass(frozen=True, slots=True)
class Adapters:
    """The adapted layers of the blocks, and the head as a layer where it has an adapter, too."""

    lora: Lora
    linears: frozenset[Linear]
    on_head: Linear | None
    elements: int
    trained_head: int

    @property
    def parameters(self) -> int:
        """Trained elements: rank × (inputs + outputs) a layer (LoRA, arXiv 2106.09685), and a new head's own."""
        return self.elements + self.trained_head

    def on(self, linear: Linear) -> bool:
        """Whether a layer carries an adapter."""
        return linear in self.linears


def adapters_of(architecture: Architecture, recipe: Recipe) -> Adapters | None:
    """The adapters that a recipe trains; none in full fine-tuning. Raises RecipeError."""
    return None if recipe.method == "full" else place_adapters(architecture, recipe.lora or Lora())


@lru_cache(maxsize=512)
def place_adapters(architecture: Architecture, lora: Lora) -> Adapters:
    """Raises RecipeError for a target that the model does not have."""
    head_name = architecture.head.name
    names = {linear.name for linear in architecture.linears} | {head_name}
    if lora.target_modules == "all-linear":
        targets = {linear.name for linear in architecture.linears if linear.role not in ("router", "shared_router")}
    else:
        targets = set(lora.target_modules)
    missing = sorted(targets - names)
    if missing or not targets:
        raise RecipeError(
            "lora.target_modules", "no_such_module", missing=", ".join(missing), known=", ".join(sorted(names))
        )
    chosen = frozenset(linear for linear in architecture.linears if linear.name in targets)
    elements = 0
    for block in architecture.blocks:
        for linear in block.linears:
            if linear in chosen:
                elements += block.layers * lora.rank * (linear.inputs + linear.outputs) * linear.copies
    on_head = None
    if head_name in targets:
        on_head = Linear(head_name, architecture.hidden, architecture.head.outputs, "o")
        elements += lora.rank * (on_head.inputs + on_head.outputs)
    # PEFT trains a new classification head beside the adapters.
    own_head = architecture.head_weights + architecture.head.outputs
    trained = own_head if architecture.head.kind in ("classification", "span") else 0
    return Adapters(lora, chosen, on_head, elements, trained)
