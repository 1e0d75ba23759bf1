"""Which linear layers carry adapters, and how large those are."""

from dataclasses import dataclass

from app.estimator.architecture import Architecture, Linear
from app.estimator.errors import RecipeError
from app.estimator.recipe import Lora


@dataclass(frozen=True, slots=True)
class Adapters:
    """The adapted layers of a block, and whether the head has an adapter, too."""

    lora: Lora
    linears: tuple[Linear, ...]
    on_head: bool
    block_parameters: int
    head_parameters: int

    def parameters(self, architecture: Architecture) -> int:
        """Elements of all adapters: rank × (inputs + outputs) a layer (LoRA, arXiv 2106.09685)."""
        return architecture.layers * self.block_parameters + self.head_parameters

    def on(self, linear: Linear) -> bool:
        """Whether a layer carries an adapter."""
        return linear in self.linears


def place_adapters(architecture: Architecture, lora: Lora) -> Adapters:
    """Raises RecipeError for a target that the model does not have."""
    head = architecture.head_name
    if lora.target_modules == "all-linear":
        targets = {linear.name for linear in architecture.linears}
    else:
        targets = set(lora.target_modules)
    names = {linear.name for linear in architecture.linears} | {head}
    missing = sorted(targets - names)
    if missing or not targets:
        raise RecipeError(
            "lora.target_modules",
            "no_such_module",
            missing=", ".join(missing),
            known=", ".join(sorted(names)),
        )
    chosen = tuple(linear for linear in architecture.linears if linear.name in targets)
    block = sum(lora.rank * (linear.inputs + linear.outputs) * linear.copies for linear in chosen)
    on_head = head in targets
    return Adapters(
        lora,
        chosen,
        on_head,
        block,
        lora.rank * (architecture.hidden + architecture.vocabulary) if on_head else 0,
    )
