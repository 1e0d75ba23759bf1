"""Operations by closed form, time by what binds, cost by expectation."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.estimator import Card, Cluster, Job, Lora, Price, Recipe, Spot, Workload, estimate, read_architecture
from app.estimator.cost import job_cost
from app.estimator.odds import Hours
from tests.estimator.configurations import LLAMA_7B, SD15

LLAMA = read_architecture(LLAMA_7B)
QV = Lora(rank=8, target_modules=("q_proj", "v_proj"))
RECIPE = Recipe("lora", lora=QV, gradient_checkpointing=True, gradient_accumulation_steps=4)
A10 = Card("a10", 24_146_608_128, 600e9, 31.2e12, 125e12, 125e12)
DENSE = 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008) + 4096 * 32_000


def test_forward_and_backward_of_a_full_step() -> None:
    # Forward 2DT + 4·L·T·S·dq; backward twice the dense part and 2.5 times the attention's.
    tokens = 512
    dense, attention = 2 * DENSE * tokens, 4 * 32 * tokens * 512 * 4096
    flops = estimate(Job(LLAMA, Recipe("full"))).time.flops_per_step
    assert flops == 3 * dense + 3.5 * attention


def test_checkpointing_replays_neither_the_head_nor_the_last_linear_layer() -> None:
    without = estimate(Job(LLAMA, Recipe("full"))).time.flops_per_step
    with_it = estimate(Job(LLAMA, Recipe("full", gradient_checkpointing=True))).time.flops_per_step
    blocks = 2 * 32 * (4 * 4096 * 4096 + 2 * 4096 * 11008) * 512
    assert with_it - without == blocks + 4 * 32 * 512 * 512 * 4096


def test_the_samples_steps_are_counted_from_its_tokens() -> None:
    time = estimate(Job(LLAMA, RECIPE, Workload(train_tokens=300_000_000), A10)).time
    assert (time.tokens_per_step, time.steps) == (2048, 146_485)


def test_without_a_card_only_operations_are_known() -> None:
    time = estimate(Job(LLAMA, RECIPE, Workload(train_tokens=1))).time
    assert time.flops_per_step > 0
    assert (time.tokens_per_second, time.seconds_per_step, time.steps, time.hours, time.bound_by) == (None,) * 5


def test_the_longest_sample_drives_memory_and_the_mean_drives_time() -> None:
    long = estimate(Job(LLAMA, RECIPE, Workload(samples=100, mean_tokens=100, longest_tokens=512), A10))
    short = estimate(Job(LLAMA, RECIPE, Workload(samples=100, mean_tokens=100, longest_tokens=100), A10))
    assert long.step.peak_bytes > short.step.peak_bytes
    assert long.time.seconds_per_step == short.time.seconds_per_step


def test_two_cards_see_twice_the_tokens() -> None:
    recipe = Recipe("lora", lora=QV, micro_batch_size=4)
    one = estimate(Job(LLAMA, recipe, card=A10)).time
    two = estimate(Job(LLAMA, recipe, card=A10, cluster=Cluster(2, "ddp"))).time
    assert one.tokens_per_second is not None
    assert two.tokens_per_second is not None
    assert two.tokens_per_step == 2 * (one.tokens_per_step or 0)
    assert one.tokens_per_second < two.tokens_per_second <= 2 * one.tokens_per_second


def test_full_gradients_over_pcie_bind() -> None:
    slow = Card("x", 80 * 1024**3, 2e12, 20e12, 300e12, pcie_bytes_per_second=1e9)
    recipe = Recipe("full", "bf16", sequence_length=64)
    assert estimate(Job(LLAMA, recipe, card=slow, cluster=Cluster(8, "ddp"))).time.bound_by == "interconnect"


def test_cost_is_hours_and_lost_hours_times_the_price() -> None:
    price = Price(Decimal("3.20"), "CNY", "spot")
    answer = estimate(
        Job(LLAMA, RECIPE, Workload(train_tokens=300_000_000), A10, price=price, spot=Spot(0.02), budget=Decimal(10**6))
    )
    assert answer.cost is not None
    assert answer.cost.spot is not None
    hours = (answer.time.hours or 0) + answer.cost.spot.expected_lost_hours
    assert float(answer.cost.amount) == pytest.approx(hours * 3.2)
    assert answer.cost.probability_within_budget == pytest.approx(1.0)


@given(st.integers(1, 2000), st.integers(1, 2000))
def test_a_larger_budget_is_never_less_likely(left: int, right: int) -> None:
    def odds(budget: int) -> float:
        job = Job(
            LLAMA, RECIPE, Workload(train_tokens=300_000_000), A10, price=Price(Decimal("3.20"), "CNY"),
            budget=Decimal(budget),
        )  # fmt: skip
        cost = estimate(job).cost
        assert cost is not None
        assert cost.probability_within_budget is not None
        return cost.probability_within_budget

    low, high = sorted((left, right))
    assert 0 <= odds(low) <= odds(high) <= 1


def test_without_a_price_a_budget_or_spread_there_are_no_odds_between() -> None:
    workload, free = Workload(train_tokens=300_000_000), Price(Decimal(0), "CNY")
    assert estimate(Job(LLAMA, RECIPE, workload, A10)).cost is None

    def odds(budget: str, price: Price = free) -> float | None:
        cost = estimate(Job(LLAMA, RECIPE, workload, A10, price=price, budget=Decimal(budget))).cost
        assert cost is not None
        return cost.probability_within_budget

    assert odds("0") == 1.0
    assert odds("0", Price(Decimal(3), "CNY")) == 0.0
    price = Price(Decimal(2), "CNY")
    exact = [job_cost(Hours(10, 10, 10), price, None, Decimal(budget)).probability_within_budget for budget in (19, 20)]
    assert exact == [0.0, 1.0]
    nothing = job_cost(Hours(0, 0, 0), price, Spot(), Decimal(1))
    assert nothing.amount == 0
    assert nothing.probability_within_budget == 1.0
    assert job_cost(Hours(8, 10, 14), price, None, None).probability_within_budget is None


def with_link(rate: float | None, pcie: float = 24e9) -> Card:
    return Card("x", 80 * 1024**3, 2e12, 20e12, 300e12, 300e12, None, rate, pcie, "Ampere")


def seconds(cluster: Cluster, card: Card | None = None, **changes: Any) -> float:
    recipe = replace(Recipe("full", "bf16", gradient_checkpointing=True, sequence_length=256), **changes)
    found = estimate(Job(LLAMA, recipe, card=card or with_link(300e9), cluster=cluster)).time.seconds_per_step
    assert found is not None
    return found


@pytest.mark.parametrize("way", ["ddp", "zero1", "zero2", "zero3", "fsdp"])
def test_slower_links_take_longer_and_a_single_card_needs_none(way: Any) -> None:
    assert seconds(Cluster(8, way)) < seconds(Cluster(8, way), with_link(None))
    assert seconds(Cluster(1, way)) == seconds(Cluster(1, way), with_link(None))


def test_the_network_between_nodes_limits_fast_links() -> None:
    link = with_link(3e12)
    inside, across = seconds(Cluster(8, "fsdp", 8), link), seconds(Cluster(8, "fsdp", 2), link)
    assert inside < across


def test_gradients_travel_once_a_step_or_each_time() -> None:
    link = with_link(None)
    extra = {}
    for way in ("ddp", "zero2"):
        once, four = (
            seconds(Cluster(8, way), link, gradient_accumulation_steps=repeats)
            for repeats in (1, 4)
        )
        extra[way] = four - once
    assert extra["zero2"] > extra["ddp"]


def test_what_is_offloaded_comes_over_the_bus() -> None:
    here, states, everything = (
        seconds(Cluster(2, "fsdp"), offload=offload) for offload in ("none", "optimizer", "all")
    )
    assert here < states < everything


def test_slow_storage_binds() -> None:
    recipe = Recipe("lora", "bf16", lora=QV)
    fast = estimate(Job(LLAMA, recipe, card=A10, storage_bytes_per_second=1e9)).time
    slow = estimate(Job(LLAMA, recipe, card=A10, storage_bytes_per_second=10)).time
    assert (fast.bound_by == "storage", slow.bound_by) == (False, "storage")
    # 512 tokens of four bytes at ten bytes a second.
    assert slow.seconds_per_step == pytest.approx(204.8)
    images = estimate(Job(read_architecture(SD15), Recipe("lora", "bf16"), card=A10, storage_bytes_per_second=1e3)).time
    assert images.seconds_per_step == pytest.approx(32 * 64 * 64 / 1e3)
    assert images.tokens_per_second is images.tokens_per_step is None


def test_a_card_without_bf16_computes_it_at_its_fp32_rate() -> None:
    old = Card("x", 16 * 1024**3, 300e9, 8e12, None, 65e12, generation="Turing")
    long = Recipe("lora", "bf16", lora=QV, sequence_length=2048)
    narrow = estimate(Job(LLAMA, replace(long, precision="fp16"), card=old)).time.seconds_per_step
    emulated = estimate(Job(LLAMA, long, card=old)).time.seconds_per_step
    assert narrow is not None
    assert emulated is not None
    assert narrow < emulated


def test_a_known_card_may_reach_less_than_its_generation() -> None:
    def speed(gpu_id: str) -> float:
        card = Card(gpu_id, 48 * 1024**3, 864e9, 91e12, 362e12, 362e12, generation="Ada")
        found = estimate(Job(LLAMA, Recipe("lora", "bf16", lora=QV, sequence_length=4096), card=card)).time
        assert found.tokens_per_second is not None
        return found.tokens_per_second

    assert speed("l40s") < speed("some-ada")


@pytest.mark.parametrize(
    ("workload", "packing", "steps"),
    [
        (Workload(train_tokens=10_000), False, 20),
        (Workload(samples=10, epochs=3.0), False, 30),
        (Workload(samples=10, epochs=2.0, mean_tokens=256), True, 10),
        (Workload(), False, None),
        (None, False, None),
    ],
)
def test_steps_come_from_tokens_or_samples(workload: Workload | None, packing: bool, steps: int | None) -> None:
    recipe = Recipe("lora", lora=QV, packing=packing)
    assert estimate(Job(LLAMA, recipe, workload, A10)).time.steps == steps


def test_loading_and_saving_take_as_long_as_the_storage_needs() -> None:
    workload = Workload(samples=1)
    fast, slow = (
        estimate(Job(LLAMA, RECIPE, workload, A10, storage_bytes_per_second=rate)).time.hours for rate in (2e9, 1e8)
    )
    assert fast is not None
    assert slow is not None
    weights = 2 * 6_738_415_616 + 4 * 4_194_304
    assert (slow - fast) * 3600 == pytest.approx(2 * weights * (1e-8 - 0.5e-9), rel=1e-3)


@given(st.integers(1, 8), st.integers(64, 4096), st.sampled_from(["full", "lora", "qlora"]), st.booleans())
def test_more_work_never_takes_less_time(batch: int, length: int, method: str, checkpointing: bool) -> None:
    recipe = Recipe(
        method, "bf16", micro_batch_size=batch, sequence_length=length, gradient_checkpointing=checkpointing,  # type: ignore[arg-type]
        lora=None if method == "full" else QV,
    )  # fmt: skip

    def time(changed: Recipe) -> float:
        found = estimate(Job(LLAMA, changed, card=A10)).time.seconds_per_step
        assert found is not None
        return found

    assert time(recipe) <= time(replace(recipe, micro_batch_size=batch + 1))
    assert time(recipe) <= time(replace(recipe, sequence_length=length + 1))
    assert time(replace(recipe, gradient_checkpointing=False)) <= time(replace(recipe, gradient_checkpointing=True))
