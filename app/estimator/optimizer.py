"""What optimizers keep for each trained element, and what they need while they work."""

from app.estimator.recipe import BYTES, Recipe

BLOCK_ELEMENTS = 256  # bitsandbytes' block-wise 8-bit states: one fp32 absmax for each


def state_bytes(recipe: Recipe, trainable: int, trainable_bytes: int) -> int:
    """Bytes of the states of ``trainable`` elements held in ``trainable_bytes`` each."""
    width = BYTES[recipe.optimizer_state_dtype] if recipe.optimizer_state_dtype else trainable_bytes
    if recipe.optimizer in ("adamw", "adamw_fused"):
        return 2 * width * trainable
    if recipe.optimizer == "adamw_8bit":
        return 2 * trainable + 2 * 4 * trainable // BLOCK_ELEMENTS
    if recipe.optimizer in ("sgd_momentum", "lion"):
        return width * trainable
    # Paged states live in unified memory and make room; factored ones and plain SGD keep next to nothing.
    return 0


def step_bytes(recipe: Recipe, trainable: int, trainable_bytes: int, largest_tensor: int) -> int:
    """Bytes that live only during the step: PyTorch's foreach AdamW makes one copy of what it updates."""
    if recipe.optimizer == "adamw":
        return trainable_bytes * trainable
    if recipe.optimizer in ("adafactor", "lion"):
        return 4 * largest_tensor
    return 0
