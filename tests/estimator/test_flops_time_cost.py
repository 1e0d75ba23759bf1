"""Operations by closed form, time by what binds, cost by expectation."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.estimator import Card, Cluster, Job, Lora, Price, Recipe, Spot, Workload, estimate, read_architecture
from app.estimator.cost import spot_figures
from tests.estimator.test_parameters import LLAMA_7B

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


def test_interruptions_cost_half_an_interval_a_restart_and_what_is_repeated() -> None:
    # 100 h of work, 200 checkpoints of 36 s are 2 h; 0.1 an hour × (0.25 + 0.15) h lost each = 4 % of all hours.
    figures = spot_figures(100, Spot(0.1, 30, 36, 9))
    total = 102 / (1 - 0.04)
    assert math.isclose(figures.expected_lost_hours, total - 100)
    assert math.isclose(figures.expected_interruptions, total * 0.1)
    # Young: √(2 × 0.01 h / 0.1) = 0.4472 h.
    assert figures.optimal_checkpoint_interval_minutes == pytest.approx(26.83, abs=0.01)


def test_without_interruptions_only_checkpoints_cost_time() -> None:
    figures = spot_figures(10, Spot(0, 60, 36, 10))
    assert math.isclose(figures.expected_lost_hours, 0.1)
    assert figures.optimal_checkpoint_interval_minutes is None


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
