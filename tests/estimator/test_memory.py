"""The peak is the largest moment; hand-computed sizes and properties of LLaMA-7B."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.estimator import Card, Job, Lora, Recipe, RecipeError, estimate, read_architecture
from app.estimator.adapters import adapters_of
from app.estimator.architecture import Architecture
from app.estimator.compiled import compiled, units
from app.estimator.model import run_step
from app.estimator.tape import Tape, Tensor
from tests.estimator.configurations import EVERY_KIND, FLUX, LLAMA_7B, SD15, SDXL

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
    # 12 bytes for each token and word, above what forward saved: what a longer sentence adds, its checkpoints (2h in
    # each of 32 blocks), the last norm's fp32 copy (4h) and the head's input (2h) taken off.
    def peak_at(tokens: int) -> int:
        recipe = Recipe("lora", lora=QV, gradient_checkpointing=True, sequence_length=tokens)
        return estimate(Job(LLAMA, recipe)).step.moments["loss_backward"]

    grown = peak_at(1512) - peak_at(512)
    assert grown / 1000 - 32 * 2 * 4096 - 4 * 4096 == pytest.approx(12 * 32_000, abs=8)


def test_a_llama_block_keeps_what_its_operators_keep() -> None:
    # Pure bf16, flash: 16h + 4dq + 4dk + 8i a token, 4a + 8 for statistics: what one more layer adds to forward.
    def forward(layers: int) -> int:
        read = read_architecture(LLAMA_7B | {"num_hidden_layers": layers})
        return estimate(Job(read, Recipe("full", "bf16", sequence_length=1024))).step.moments["forward"]

    layer = 4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096
    token = 16 * 4096 + 8 * 4096 + 8 * 11008 + 4 * 32 + 8
    assert forward(31) - forward(30) == 6 * layer + 1024 * token


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
    def saved(*, checkpoints: bool) -> float:
        plan = compiled(SMALL, changed(recipe, gradient_checkpointing=checkpoints, lora=None))
        return plan.saved.at(recipe.micro_batch_size * recipe.sequence_length, recipe.sequence_length)

    assert saved(checkpoints=True) <= saved(checkpoints=False)


@given(RECIPES, st.sampled_from(["hidden_size", "intermediate_size", "num_hidden_layers", "vocab_size"]))
def test_more_parameters_never_take_less(recipe: Recipe, field: str) -> None:
    larger = {"hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 5, "vocab_size": 1500}[field]
    assert peak(recipe, read_architecture(LLAMA_7B | SMALLER | {field: larger})) >= peak(recipe, SMALL)


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
    assert lora["gradients"] <= max(full["gradients"], lora["weights"])


def test_a_loop_that_keeps_its_outputs_holds_the_logits_to_the_end_of_the_step() -> None:
    recipe = Recipe("lora", "bf16", lora=QV, gradient_checkpointing=True, sequence_length=1024)
    dropped = estimate(Job(LLAMA, recipe)).step.moments
    kept = estimate(Job(LLAMA, changed(recipe, keeps_outputs=True))).step.moments
    for moment in ("loss_backward", "backward", "optimizer_step"):
        assert kept[moment] - dropped[moment] == pytest.approx(2 * 1024 * 32_000, rel=0.01)


def test_a_fused_loss_never_makes_the_logits() -> None:
    recipe = Recipe("lora", "bf16", lora=QV, gradient_checkpointing=True, sequence_length=4096)
    plain, fused = (
        estimate(Job(LLAMA, changed(recipe, fused_loss=fuses))).step.moments["loss_backward"] for fuses in (False, True)
    )
    assert plain - fused == pytest.approx(12 * 4096 * 32_000, rel=0.2)


@pytest.mark.parametrize("name", EVERY_KIND)
@pytest.mark.parametrize("method", ["full", "lora", "qlora"])
def test_every_kind_of_model_is_estimated_under_every_recipe(name: str, method: Any) -> None:
    read = read_architecture(EVERY_KIND[name])
    sizes = []
    for checkpointing in (False, True):
        for attention in ("eager", "sdpa", "flash"):
            for precision in ("fp32", "bf16", "bf16-mixed"):
                recipe = Recipe(
                    method, precision, gradient_checkpointing=checkpointing, attention=attention, sequence_length=128,
                    lora=None if method == "full" else Lora(rank=4, dropout=0.1),
                )  # fmt: skip
                answer = estimate(Job(read, recipe, card=A10))
                assert sum(answer.step.components.values()) == answer.step.peak_bytes
                assert all(size >= 0 for size in answer.step.components.values())
                assert answer.time.flops_per_step > 0
                assert answer.time.seconds_per_step is not None
                sizes.append(answer.step.peak_bytes)
    assert min(sizes) > 0


@pytest.mark.parametrize("config", [SD15, FLUX])
def test_images_grow_with_the_square_of_their_side(config: dict[str, Any]) -> None:
    def saved(pixels: int) -> int:
        recipe = Recipe("full", "bf16", micro_batch_size=4, image_size=pixels)
        step = estimate(Job(read_architecture(config), recipe)).step
        return step.moments["forward"] - step.components["weights"] - step.components["optimizer_states"]

    # Flux's words, as many as an eighth of its patches at 1,024 pixels, do not grow.
    assert saved(1024) / saved(512) == pytest.approx(4, rel=0.3)


def test_frozen_encoders_of_a_diffusion_model_are_on_the_card() -> None:
    weights = estimate(Job(read_architecture(SD15), Recipe("full", "bf16"))).step.components["weights"]
    assert weights == 2 * (859_520_964 + 123_060_480 + 83_653_863)


@settings(deadline=None, max_examples=40)
@given(RECIPES, st.sampled_from(["llama", "qwen2", "bert", "t5", "moe"]))
def test_equal_layers_are_counted_as_if_each_were_computed(recipe: Recipe, name: str) -> None:
    """The stack's shortcut against every layer written out."""
    config = EVERY_KIND[name] | {
        "hidden_size": 64, "d_model": 64, "intermediate_size": 96, "d_ff": 96, "num_hidden_layers": 7, "num_layers": 7,
        "num_attention_heads": 4, "num_key_value_heads": 4, "num_heads": 4, "d_kv": 16, "vocab_size": 200,
    }  # fmt: skip
    read = read_architecture(config)
    check_stacks(read, recipe)


@settings(deadline=None, max_examples=15)
@given(RECIPES, st.sampled_from([SDXL, FLUX]))
def test_equal_blocks_of_a_diffusion_model_are_counted_as_if_each_were_computed(
    recipe: Recipe, config: dict[str, Any]
) -> None:
    check_stacks(read_architecture(config), recipe)


def check_stacks(read: Architecture, recipe: Recipe) -> None:
    recipe = changed(recipe, lora=None if recipe.method == "full" else Lora(rank=2))
    adapters = adapters_of(read, recipe)
    short = run_step(read, recipe, adapters)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Tape, "stack", every_layer)
        long = run_step(read, recipe, adapters)
    tokens, length = units(read, recipe, recipe.sequence_length)
    for phase in ("forward", "loss_forward", "loss_backward", "backward"):
        largest = [max(one.at(tokens, length) for one in tape.peaks[phase]) for tape in (short, long)]
        assert largest[0] == pytest.approx(largest[1], rel=1e-6)
    work = [sum(one.times * one.flops.at(tokens, length) for one in tape.works) for tape in (short, long)]
    assert work[0] == pytest.approx(work[1], rel=1e-9)


def every_layer(self: Tape, _name: str, count: int, layer: Any, tensor: Tensor, **_: Any) -> Tensor:
    for _place in range(count):
        tensor = layer(tensor)
    return tensor


def test_a_fuller_card_leaves_less_slack_but_never_none() -> None:
    recipe = Recipe("lora", lora=QV, gradient_checkpointing=True, micro_batch_size=8, sequence_length=2048)
    roomy = estimate(Job(LLAMA, recipe, card=Card("x", 80 * 1024**3, 2e12, 20e12, 300e12))).footprint
    tight = estimate(Job(LLAMA, recipe, card=Card("x", 1024**3, 2e12, 20e12, 300e12))).footprint
    assert roomy.reserved_bytes is not None
    assert tight.reserved_bytes is not None
    assert tight.reserved_bytes < roomy.reserved_bytes
    assert tight.fits is False
