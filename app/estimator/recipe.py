"""How a model is trained, on how much data, on which card, at which price: the inputs of an estimate."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Method = Literal["full", "lora", "qlora"]
Precision = Literal["fp32", "bf16", "fp16", "bf16-mixed", "fp16-mixed"]
Optimizer = Literal[
    "adamw", "adamw_fused", "adamw_8bit", "paged_adamw_8bit", "sgd", "sgd_momentum", "adafactor", "lion"
]
Attention = Literal["eager", "sdpa", "flash"]
Parallelism = Literal["none", "ddp", "zero1", "zero2", "zero3", "fsdp"]
Offload = Literal["none", "optimizer", "all"]
AdapterType = Literal["fp32", "base"]
Dtype = Literal["fp32", "bf16", "fp16"]

BYTES: dict[str, int] = {"fp32": 4, "bf16": 2, "fp16": 2}


@dataclass(frozen=True, slots=True)
class Lora:
    """Low-rank adapters on linear layers, named as in the model, or on all of them but the head."""

    rank: int = 8
    target_modules: tuple[str, ...] | Literal["all-linear"] = "all-linear"
    dropout: float = 0.0
    adapter_dtype: AdapterType = "fp32"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the model is trained; API.md says what each word means."""

    method: Method
    precision: Precision = "bf16-mixed"
    optimizer: Optimizer = "adamw"
    micro_batch_size: int = 1
    gradient_accumulation_steps: int = 1
    sequence_length: int = 512
    gradient_checkpointing: bool = False
    attention: Attention = "sdpa"
    lora: Lora | None = None
    double_quantization: bool = True
    weights_dtype: Dtype | None = None
    optimizer_state_dtype: Dtype | None = None
    max_grad_norm: float | None = None
    fused_loss: bool = False
    packing: bool = False
    offload: Offload = "none"
    image_size: int | None = None
    keeps_outputs: bool = False

    @property
    def is_mixed(self) -> bool:
        """Whether autocast is on."""
        return self.precision.endswith("-mixed")

    @property
    def compute_bytes(self) -> int:
        """Bytes an element of matrix products."""
        return 4 if self.precision == "fp32" else 2

    @property
    def base_bytes(self) -> int:
        """Bytes an element of the weights that are not quantised."""
        if self.weights_dtype is not None:
            return BYTES[self.weights_dtype]
        if self.method == "qlora" and self.is_mixed:
            return 4  # embeddings, head and norms as PEFT's k-bit preparation leaves them
        if self.method == "full" and self.is_mixed:
            return 4
        return self.compute_bytes

    @property
    def adapter_bytes(self) -> int:
        """Bytes an element of the adapters."""
        if self.lora is None or self.lora.adapter_dtype == "fp32":
            return 4
        return self.compute_bytes if self.method == "qlora" else self.base_bytes


@dataclass(frozen=True, slots=True)
class Workload:
    """How much data: tokens in all, or samples with their mean and longest lengths."""

    train_tokens: int | None = None
    samples: int | None = None
    epochs: float = 1.0
    mean_tokens: float | None = None
    longest_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU. Rates are dense, in operations a second; None where the card lacks that kind of arithmetic."""

    gpu_id: str
    usable_bytes: int | None
    bandwidth_bytes_per_second: float
    fp32_flops: float
    bf16_flops: float | None = None
    fp16_flops: float | None = None
    tf32_flops: float | None = None
    interconnect_bytes_per_second: float | None = None
    pcie_bytes_per_second: float = 16e9
    generation: str = ""


@dataclass(frozen=True, slots=True)
class Cluster:
    """How many cards; a share below one is a slice of a card."""

    gpu_count: float = 1.0
    parallelism: Parallelism = "none"
    gpus_per_node: int = 8

    @property
    def whole_gpus(self) -> int:
        """Cards that each hold a copy of the model."""
        return max(1, int(self.gpu_count))

    @property
    def shards(self) -> bool:
        """Whether what is kept is shared out among cards; over a single one it works the same way."""
        return self.parallelism in ("zero1", "zero2", "zero3", "fsdp")

    @property
    def share(self) -> float:
        """The share of one card that there is."""
        return min(1.0, self.gpu_count)


@dataclass(frozen=True, slots=True)
class Price:
    """What the whole job pays an hour."""

    per_hour: Decimal
    currency: str
    billing: str = "on_demand"


@dataclass(frozen=True, slots=True)
class Spot:
    """Interruptions of a spot instance and what they cost; without a notice nothing is saved when one comes."""

    interruptions_per_hour: float = 0.0
    checkpoint_interval_minutes: float = 30.0
    checkpoint_seconds: float = 60.0
    restart_minutes: float = 10.0
    notice_seconds: float = 0.0
    price_spread_percent: float = 0.0

    @property
    def interval_hours(self) -> float:
        """Hours of work between two checkpoints."""
        return self.checkpoint_interval_minutes / 60

    @property
    def saving_hours(self) -> float:
        """Hours that a checkpoint takes."""
        return self.checkpoint_seconds / 3600

    @property
    def restart_hours(self) -> float:
        """Hours from a new instance's start to the first step."""
        return self.restart_minutes / 60
