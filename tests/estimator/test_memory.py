"""The peak is the largest moment; hand-computed sizes and properties of LLaMA-7B."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.estimator import Card, Job, Lora, Recipe, RecipeError, estimate, read_architecture
from tests.estimator.test_parameters import LLAMA_7B

LLAMA = read_architecture(LLAMA_7B)
PARAMETERS = 6_738_415_616
QV = Lora(rank=8, target_modules=("q_proj", "v_proj"))
SMALLER = {
    "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 999,
}  # fmt: skip
SMALL = read_architecture(LLAMA_7B | SMALLER)
A10 = Card("a10", 24_146_608_128, 600e9, 31.2e12, 125e12, 125e12)


def peak(recipe: Recipe, architecture: Any = LLAMA) -> int:
    return estimate(Job(architecture, recipe)).step.peak_bytes


def test_full_fine_tuning_with_foreach_adamw_takes_twenty_bytes_a_parameter() -> None:
    step = estimate(Job(LLAMA, Recipe("full", gradient_checkpointing=True, sequence_length=128))).step
    assert step.peak_phase == "optimizer_step"
    assert step.moments["optimizer_step"] == 20 * PARAMETERS


def test_in_pure_bf16_it_takes_ten() -> None:
    recipe = Recipe("full", "bf16", gradient_checkpointing=True, sequence_length=128)
    assert estimate(Job(LLAMA, recipe)).step.moments["optimizer_step"] == 10 * PARAMETERS


def test_fused_adamw_makes_no_copy() -> None:
    recipe = Recipe("full", "bf16", "adamw_fused", gradient_checkpointing=True, sequence_length=128)
    assert estimate(Job(LLAMA, recipe)).step.moments["optimizer_step"] == 8 * PARAMETERS


def test_the_start_of_backward_holds_three_fp32_logits() -> None:
    # 12 bytes × 512 tokens × 32,000 words above what forward saved.
    step = estimate(Job(LLAMA, Recipe("lora", lora=QV, gradient_checkpointing=True))).step
    assert step.moments["loss_backward"] - step.moments["forward"] == 12 * 512 * 32_000


def test_a_llama_block_keeps_what_its_operators_keep() -> None:
    # Pure bf16, flash: 16h + 4dq + 4dk + 8i a token, 4a + 8 for statistics; then the last norm and the head's input.
    token = 32 * (16 * 4096 + 8 * 4096 + 8 * 11008 + 4 * 32 + 8) + 8 * 4096
    step = estimate(Job(LLAMA, Recipe("full", "bf16", sequence_length=1024))).step
    assert step.moments["forward"] == 6 * PARAMETERS + 1024 * token


def test_four_bit_weights_keep_embeddings_head_and_norms_in_fp32() -> None:
    weights = estimate(Job(LLAMA, Recipe("qlora", lora=QV))).step.components["weights"]
    quantised = 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008)
    rest = PARAMETERS - quantised
    assert weights == round(quantised * (0.5 + 1 / 64 + 4 / (64 * 256))) + 4 * rest + 4 * 4_194_304


def test_accumulation_carries_the_gradients_through_the_next_forward() -> None:
    once = estimate(Job(LLAMA, Recipe("full", "bf16", gradient_checkpointing=True))).step.moments
    twice = estimate(
        Job(LLAMA, Recipe("full", "bf16", gradient_checkpointing=True, gradient_accumulation_steps=2))
    ).step.moments
    for moment in ("forward", "loss_forward", "loss_backward"):
        assert twice[moment] - once[moment] == 2 * PARAMETERS
    assert twice["optimizer_step"] == once["optimizer_step"]


def test_lora_trains_rank_times_inputs_and_outputs() -> None:
    assert estimate(Job(LLAMA, Recipe("lora", lora=QV))).trainable_parameters == 32 * 2 * 8 * (4096 + 4096)


def test_a_layer_that_the_model_does_not_have_is_named() -> None:
    with pytest.raises(RecipeError) as caught:
        estimate(Job(LLAMA, Recipe("lora", lora=Lora(target_modules=("c_attn",)))))
    assert caught.value.field == "lora.target_modules"
    assert caught.value.params["missing"] == "c_attn"


def test_adapters_with_full_fine_tuning_are_refused() -> None:
    with pytest.raises(RecipeError):
        estimate(Job(LLAMA, Recipe("full", lora=QV)))


RECIPES = st.builds(
    Recipe,
    method=st.sampled_from(["full", "lora", "qlora"]),
    precision=st.sampled_from(["bf16-mixed", "fp16-mixed", "bf16", "fp32"]),
    optimizer=st.sampled_from(["adamw", "adamw_fused", "adamw_8bit", "sgd", "sgd_momentum", "adafactor", "lion"]),
    micro_batch_size=st.integers(1, 16),
    gradient_accumulation_steps=st.integers(1, 4),
    sequence_length=st.integers(16, 4096),
    gradient_checkpointing=st.booleans(),
    attention=st.sampled_from(["eager", "sdpa", "flash"]),
    fused_loss=st.booleans(),
)


def changed(recipe: Recipe, **changes: Any) -> Recipe:
    values = {name: getattr(recipe, name) for name in Recipe.__dataclass_fields__}
    return Recipe(**values | changes)


@given(RECIPES)
def test_more_batch_or_length_never_takes_less(recipe: Recipe) -> None:
    assert peak(changed(recipe, micro_batch_size=recipe.micro_batch_size + 1), SMALL) >= peak(recipe, SMALL)
    assert peak(changed(recipe, sequence_length=recipe.sequence_length + 1), SMALL) >= peak(recipe, SMALL)


@given(RECIPES, st.integers(1, 64))
def test_more_rank_never_takes_less(recipe: Recipe, rank: int) -> None:
    adapted = changed(recipe, method="lora", lora=Lora(rank=rank))
    assert peak(changed(adapted, lora=Lora(rank=rank + 1)), SMALL) >= peak(adapted, SMALL)


@given(RECIPES)
def test_checkpointing_never_raises_what_forward_saves(recipe: Recipe) -> None:
    without = estimate(Job(SMALL, changed(recipe, gradient_checkpointing=False))).step
    with_it = estimate(Job(SMALL, changed(recipe, gradient_checkpointing=True))).step
    kept = {step.peak_phase: step.components["activations"] for step in (without, with_it)}
    if len(kept) == 1 and without.peak_phase == "loss_backward":
        assert with_it.components["activations"] <= without.components["activations"]
    assert with_it.components["weights"] == without.components["weights"]


@given(RECIPES)
def test_parts_sum_to_the_whole(recipe: Recipe) -> None:
    answer = estimate(Job(SMALL, recipe, card=A10))
    assert sum(answer.step.components.values()) == answer.step.peak_bytes == max(answer.step.moments.values())
    total = answer.step.peak_bytes + answer.footprint.framework_bytes
    assert total == answer.footprint.required_bytes
    assert all(size >= 0 for size in answer.step.components.values())


@given(RECIPES)
def test_adapters_have_fewer_gradients_and_states_than_full(recipe: Recipe) -> None:
    full = estimate(Job(SMALL, changed(recipe, method="full"))).step.components
    lora = estimate(Job(SMALL, changed(recipe, method="lora", lora=QV))).step.components
    assert lora["optimizer_states"] <= full["optimizer_states"]


def test_a_fuller_card_leaves_less_slack_but_never_none() -> None:
    recipe = Recipe("lora", lora=QV, gradient_checkpointing=True, micro_batch_size=8, sequence_length=2048)
    roomy = estimate(Job(LLAMA, recipe, card=Card("x", 80 * 1024**3, 2e12, 20e12, 300e12))).footprint
    tight = estimate(Job(LLAMA, recipe, card=Card("x", 1024**3, 2e12, 20e12, 300e12))).footprint
    assert roomy.reserved_bytes is not None
    assert tight.reserved_bytes is not None
    assert tight.reserved_bytes < roomy.reserved_bytes
    assert tight.fits is False
