"""Loading, evaluation, saving, merging; and the largest micro-batch and length that fit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.estimator import Card, Job, Lora, Recipe, Workload, estimate, largest_that_fits, read_architecture
from app.estimator.estimate import checkpoint_seconds
from tests.estimator.configurations import GPT2, LLAMA_7B, SD15
from tests.estimator.test_memory import changed

LLAMA = read_architecture(LLAMA_7B)
QV = Lora(rank=8, target_modules=("q_proj", "v_proj"))
LORA = Recipe("lora", "bf16", lora=QV, gradient_checkpointing=True)
GIB = 1024**3


def card(gigabytes: float, generation: str = "Ampere") -> Card:
    return Card("x", int(gigabytes * GIB), 600e9, 31.2e12, 125e12, 125e12, generation=generation)


def test_loading_holds_the_weights_and_the_matrix_that_is_under_way() -> None:
    others = estimate(Job(LLAMA, LORA, card=card(24))).footprint.other_bytes
    weights = 2 * 6_738_415_616 + 4 * 4_194_304
    assert others["loading"] == pytest.approx(1.036 * (weights + 2 * 4096 * 11008) + 924 * 1024**2, abs=16)


def test_four_bit_weights_are_made_from_sixteen_bit_ones() -> None:
    footprint = estimate(Job(LLAMA, changed(LORA, method="qlora"), card=card(24))).footprint
    small = estimate(Job(LLAMA, LORA, card=card(24))).footprint
    assert footprint.other_bytes["loading"] < small.other_bytes["loading"]
    assert set(footprint.other_bytes) == {"loading", "evaluation", "saving", "merging"}


def test_full_fine_tuning_merges_nothing() -> None:
    others = estimate(Job(LLAMA, Recipe("full", "bf16"), card=card(80))).footprint.other_bytes
    assert set(others) == {"loading", "evaluation", "saving"}


def test_a_moment_that_does_not_fit_is_named_though_the_step_would() -> None:
    # Evaluation makes logits of all tokens at once; the fused loss of training does not, so give it none.
    step_only = Recipe("lora", "bf16", lora=QV, gradient_checkpointing=True, sequence_length=8)
    required = estimate(Job(LLAMA, step_only, card=card(24))).footprint
    worst = max(required.other_bytes.values())
    assert required.required_bytes is not None
    assert worst > required.required_bytes
    between = (worst + required.required_bytes) / 2 / GIB
    tight = estimate(Job(LLAMA, step_only, card=card(between))).footprint
    assert tight.fits is False
    assert tight.too_large == [name for name, size in tight.other_bytes.items() if size > between * GIB]
    assert tight.headroom_bytes is not None
    assert tight.headroom_bytes < 0


def test_without_a_card_no_moment_is_required_and_nothing_is_the_largest() -> None:
    assert estimate(Job(LLAMA, LORA)).footprint.other_bytes == {}
    assert estimate(Job(LLAMA, LORA)).footprint.too_large == []
    assert largest_that_fits(Job(LLAMA, LORA)).micro_batch_size is None
    unknown = Card("x", None, 600e9, 31.2e12, 125e12)
    assert largest_that_fits(Job(LLAMA, LORA, card=unknown)).sequence_length is None
    assert estimate(Job(LLAMA, LORA, card=unknown)).footprint.fits is None


@settings(deadline=None, max_examples=30)
@given(st.floats(8, 80), st.sampled_from(["lora", "qlora"]), st.booleans())
def test_the_largest_fits_and_one_more_does_not(gigabytes: float, method: str, checkpointing: bool) -> None:
    recipe = changed(LORA, method=method, gradient_checkpointing=checkpointing)
    job = Job(LLAMA, recipe, Workload(samples=10, mean_tokens=100, longest_tokens=512), card(gigabytes))
    largest = largest_that_fits(job)
    assert largest.micro_batch_size is not None
    assert largest.sequence_length is not None

    def fits(batch: int, length: int) -> bool:
        sized = changed(recipe, micro_batch_size=batch, sequence_length=length)
        return bool(estimate(Job(LLAMA, sized, card=card(gigabytes))).footprint.fits)

    if largest.micro_batch_size:
        assert fits(largest.micro_batch_size, 512)
    assert not fits(largest.micro_batch_size + 1, 512)
    if largest.sequence_length:
        assert fits(1, largest.sequence_length)
    assert not fits(1, largest.sequence_length + 1)


def test_nothing_is_the_largest_where_not_even_the_weights_fit() -> None:
    found = largest_that_fits(Job(LLAMA, LORA, card=card(8)))
    assert (found.micro_batch_size, found.sequence_length) == (0, 0)


def test_learned_positions_and_the_search_itself_have_ends() -> None:
    small = read_architecture(GPT2)
    assert largest_that_fits(Job(small, Recipe("lora"), card=card(80))).sequence_length == 1024
    tiny = read_architecture(LLAMA_7B | {
        "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 8,
    })  # fmt: skip
    roomy = largest_that_fits(Job(tiny, Recipe("lora", sequence_length=1), card=card(1000)))
    assert (roomy.micro_batch_size, roomy.sequence_length) == (65_536, 1_048_576)


def test_images_have_a_largest_batch_and_no_length() -> None:
    found = largest_that_fits(Job(read_architecture(SD15), Recipe("lora", "bf16"), card=card(24)))
    assert found.micro_batch_size is not None
    assert found.micro_batch_size > 4
    assert found.sequence_length is None


def test_cards_of_unknown_generations_have_a_usual_context() -> None:
    sizes = {
        generation: estimate(Job(LLAMA, LORA, card=card(80, generation))).footprint.required_bytes
        for generation in ("Turing", "Ampere", "", "Hopper")
    }
    assert sizes["Ampere"] == sizes[""]
    assert sizes["Turing"] < sizes["Ampere"] < sizes["Hopper"]  # type: ignore[operator]


def test_it_is_tight_where_only_the_upper_end_of_the_interval_is_too_large() -> None:
    needed = estimate(Job(LLAMA, LORA, card=card(80))).footprint.interval_bytes
    assert needed is not None
    for gigabytes, is_tight in ((needed[1] / GIB * 1.05, False), (needed[1] / GIB * 0.98, True), (1, False)):
        assert estimate(Job(LLAMA, LORA, card=card(gigabytes))).footprint.is_tight is is_tight
    assert estimate(Job(LLAMA, LORA)).footprint.is_tight is False


def test_a_checkpoint_takes_what_is_trained_through_the_storage() -> None:
    # 4,194,304 adapter weights: 4 bytes each, and two states of 4 bytes, at 100 MB/s.
    pause = checkpoint_seconds(LLAMA, LORA, 1e12)
    assert checkpoint_seconds(LLAMA, LORA, 100e6) - pause == pytest.approx(12 * 4_194_304 / 100e6, rel=1e-3)
    assert pause < checkpoint_seconds(LLAMA, LORA) < checkpoint_seconds(LLAMA, Recipe("full", "bf16"))
