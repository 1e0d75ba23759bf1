"""What several cards share out: sizes by hand for LLaMA-7B, and the order of the ways to share."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.estimator import Cluster, Job, Lora, Recipe, estimate, read_architecture
from app.estimator.adapters import adapters_of
from app.estimator.sharding import Lasting, lasting_bytes
from tests.estimator.configurations import LLAMA_7B
from tests.estimator.test_memory import SMALL, changed

LLAMA = read_architecture(LLAMA_7B)
P = 6_738_415_616
FULL = Recipe("full", "bf16-mixed", gradient_checkpointing=True)
QV = Lora(rank=8, target_modules=("q_proj", "v_proj"))
WAYS = ("zero1", "zero2", "zero3", "fsdp")


def kept(recipe: Recipe, parallelism: Any, count: int = 4, architecture: Any = LLAMA) -> Lasting:
    return lasting_bytes(architecture, recipe, adapters_of(architecture, recipe), Cluster(count, parallelism))


def test_zero_keeps_sixteen_bit_weights_and_shares_fp32_masters_and_states() -> None:
    one, two, three = (kept(FULL, way) for way in ("zero1", "zero2", "zero3"))
    assert (one.weights, two.weights, three.weights) == (2 * P, 2 * P, round(2 * P / 4))
    assert (one.gradients, two.gradients, three.gradients) == (2 * P, round(2 * P / 4), round(2 * P / 4))
    assert {one.optimizer_states, two.optimizer_states, three.optimizer_states} == {12 * P // 4}


def test_fsdp_shares_everything_in_the_type_that_it_is_held_in() -> None:
    mixed, pure = kept(FULL, "fsdp"), kept(changed(FULL, precision="bf16"), "fsdp")
    assert (mixed.weights, mixed.gradients, mixed.optimizer_states) == (P, P, 2 * P)
    assert (pure.weights, pure.gradients, pure.optimizer_states) == (P // 2, P // 2, P)
    # Twenty bytes a parameter at the optimizer's step, shared by four, as on one card.
    step = estimate(Job(LLAMA, FULL, cluster=Cluster(4, "fsdp"))).step
    assert step.moments["optimizer_step"] == pytest.approx(20 * P / 4, rel=1e-6)


def test_data_parallel_cards_keep_everything_and_gradients_twice() -> None:
    alone, together = kept(FULL, "none", 1), kept(FULL, "ddp")
    assert together.weights == alone.weights
    assert together.passing == together.gradients == 4 * P


def test_a_frozen_base_is_shared_by_stage_three_and_fsdp_alone() -> None:
    lora = changed(FULL, method="lora", lora=QV)
    assert kept(lora, "zero2").weights == 2 * P + 2 * 4_194_304
    assert kept(lora, "zero3").weights == pytest.approx((2 * P + 2 * 4_194_304) / 4, abs=1)
    assert kept(lora, "fsdp").weights == pytest.approx((2 * P + 4 * 4_194_304) / 4, abs=1)


def test_with_frozen_weights_fsdp_holds_the_gradients_of_the_blocks_inputs() -> None:
    lora = Recipe("lora", "bf16", lora=QV, gradient_checkpointing=True, sequence_length=4096)
    alone = estimate(Job(LLAMA, lora)).step
    shared = estimate(Job(LLAMA, lora, cluster=Cluster(2, "fsdp"))).step
    lasting = kept(lora, "fsdp", 2)
    base = lasting.weights + lasting.optimizer_states
    alone_base = alone.components["weights"] + alone.components["optimizer_states"]
    more = (shared.moments["backward"] - base - lasting.passing) - (alone.moments["backward"] - alone_base)
    assert more == pytest.approx(32 * 4096 * 4096 * 2, rel=0.05)


@pytest.mark.parametrize("way", WAYS)
def test_offloaded_states_live_in_the_hosts_memory(way: Any) -> None:
    here, away = kept(FULL, way), kept(changed(FULL, offload="optimizer"), way)
    assert away.optimizer_states == away.step == 0
    assert away.host >= here.optimizer_states
    everything = kept(changed(FULL, offload="all"), way)
    assert everything.weights == (0 if way in ("zero3", "fsdp") else here.weights)
    assert everything.host >= away.host


def test_without_sharding_states_can_be_offloaded_too() -> None:
    here, away = kept(FULL, "none", 1), kept(changed(FULL, offload="all"), "none", 1)
    assert (away.optimizer_states, away.host) == (0, here.optimizer_states)
    job = Job(LLAMA, changed(FULL, offload="optimizer"))
    assert estimate(job).host_ram_bytes > estimate(Job(LLAMA, FULL)).host_ram_bytes


def test_in_fp32_there_is_nothing_to_master() -> None:
    assert kept(changed(FULL, precision="fp32"), "zero1").optimizer_states == 8 * P // 4


@given(
    st.sampled_from(["full", "lora", "qlora"]), st.sampled_from(["bf16-mixed", "bf16", "fp32"]), st.integers(2, 64)
)
def test_from_stage_to_stage_less_is_kept(method: Any, precision: Any, count: int) -> None:
    recipe = Recipe(method, precision, lora=None if method == "full" else QV)
    one, two, three = (kept(recipe, way, count, SMALL) for way in ("zero1", "zero2", "zero3"))
    assert one.weights >= two.weights >= three.weights
    assert one.gradients >= two.gradients >= three.gradients
    assert one.optimizer_states >= two.optimizer_states >= three.optimizer_states


@given(st.sampled_from(WAYS), st.integers(1, 64))
def test_more_cards_never_keep_more_each(way: Any, count: int) -> None:
    few, many = kept(FULL, way, count, SMALL), kept(FULL, way, count + 1, SMALL)
    assert few.weights >= many.weights
    assert few.gradients >= many.gradients
    assert few.optimizer_states >= many.optimizer_states


@pytest.mark.parametrize("way", ["none", "ddp", *WAYS])
def test_parts_sum_to_the_whole_whatever_is_shared(way: Any) -> None:
    for method in ("full", "lora", "qlora"):
        for offload in ("none", "optimizer", "all"):
            recipe = Recipe(method, lora=None if method == "full" else QV, offload=offload)
            step = estimate(Job(LLAMA, recipe, cluster=Cluster(2, way))).step
            assert sum(step.components.values()) == step.peak_bytes == max(step.moments.values())
            assert min(step.components.values()) >= 0
