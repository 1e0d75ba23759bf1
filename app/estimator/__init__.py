"""The estimator: memory, time and cost of a fine-tuning job from its architecture. Pure: numbers in, numbers out.

>>> from app.estimator import Job, Lora, Recipe, estimate, read_architecture
>>> llama = read_architecture({
...     "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
...     "num_attention_heads": 32, "vocab_size": 32000, "max_position_embeddings": 2048,
...     "tie_word_embeddings": False,
... })
>>> llama.parameters
6738415616
>>> recipe = Recipe("lora", lora=Lora(rank=8, target_modules=("q_proj", "v_proj")), gradient_checkpointing=True)
>>> answer = estimate(Job(llama, recipe))
>>> answer.trainable_parameters
4194304
>>> answer.step.peak_phase
'loss_backward'
"""

from app.estimator.adapters import place_adapters
from app.estimator.architecture import Architecture
from app.estimator.config import read_architecture
from app.estimator.cost import billed_hours, cost_of, expected_hours
from app.estimator.errors import ConfigError, EstimatorError, RecipeError
from app.estimator.estimate import Estimate, Job, checkpoint_seconds, estimate
from app.estimator.explain import Explanation, explain
from app.estimator.largest import Largest, largest_that_fits
from app.estimator.memory import MOMENTS
from app.estimator.recipe import Card, Cluster, Lora, Price, Recipe, Spot, Workload

ESTIMATOR_VERSION = "2.2"

__all__ = [
    "ESTIMATOR_VERSION",
    "MOMENTS",
    "Architecture",
    "Card",
    "Cluster",
    "ConfigError",
    "Estimate",
    "EstimatorError",
    "Explanation",
    "Job",
    "Largest",
    "Lora",
    "Price",
    "Recipe",
    "RecipeError",
    "Spot",
    "Workload",
    "billed_hours",
    "checkpoint_seconds",
    "cost_of",
    "estimate",
    "expected_hours",
    "explain",
    "largest_that_fits",
    "place_adapters",
    "read_architecture",
]
