"""Will it fit, how long, how much? The estimator alone, in a script or a notebook: it needs nothing but Python.

Run it from the top of the repository: ``python docs/examples/estimate.py``. Elsewhere, put that folder on PYTHONPATH;
no package has to be installed.
"""

from decimal import Decimal

from app.estimator import (
    Card,
    Cluster,
    Job,
    Lora,
    Price,
    Recipe,
    Workload,
    estimate,
    explain,
    largest_that_fits,
    read_architecture,
)

GIB = 1024**3

# Any config.json of the Hugging Face hub, as a dictionary: json.load(open("config.json")).
llama = read_architecture(
    {
        "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
        "num_attention_heads": 32, "vocab_size": 32000, "max_position_embeddings": 2048, "tie_word_embeddings": False,
    }
)  # fmt: skip
# What the driver reports of an A10, not the number on the box; rates of the datasheet, dense.
a10 = Card("a10", 23_028 * 1024**2, 600e9, 31.2e12, 125e12, 125e12, generation="Ampere")
print(f"{llama.parameters:,} parameters")

for recipe in (
    Recipe("full", "bf16", gradient_checkpointing=True),
    Recipe("lora", "bf16-mixed", lora=Lora(8, ("q_proj", "v_proj")), gradient_checkpointing=True),
    Recipe("qlora", "bf16-mixed", lora=Lora(16), gradient_checkpointing=True),
):
    job = Job(
        llama, recipe, Workload(train_tokens=50_000_000), a10, price=Price(Decimal("3.20"), "CNY"), budget=Decimal(300)
    )
    answer = estimate(job)
    shape, time, cost = answer.footprint, answer.time, answer.cost
    largest = largest_that_fits(job)
    print(
        f"\n{recipe.method}: {'fits' if shape.fits else 'does not fit'}, needs {shape.required_bytes / GIB:.1f} GiB of "
        f"{shape.capacity_bytes / GIB:.1f}; worst at {answer.step.peak_phase}\n"
        f"  {time.hours:.1f} h (80 %: {time.interval_hours[0]:.1f}–{time.interval_hours[1]:.1f}), bound by "
        f"{time.bound_by}; {cost.amount:.2f} {cost.currency}, within 300: {cost.probability_within_budget:.0%}\n"
        f"  largest micro-batch {largest.micro_batch_size}, longest samples {largest.sequence_length}"
    )

print("\nWhere the figures of the last one come from:")
for one in explain(job, answer):
    print(f"  {one.figure}: {one.formula}, from {one.source}")

print("\nThe same on two cards that share everything (FSDP):")
shared = estimate(Job(llama, Recipe("full", "bf16", gradient_checkpointing=True), card=a10, cluster=Cluster(2, "fsdp")))
print(f"  {shared.step.peak_bytes / GIB:.1f} GiB on each")
