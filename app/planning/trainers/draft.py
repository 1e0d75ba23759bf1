"""A plan with every default taken, and the file that is made of it."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from app.catalog.known_models import find_model
from app.errors import InvalidInput
from app.i18n import Message
from app.planning.inputs import EstimateInput, LoraInput
from app.planning.jobs import USUAL_LENGTH, is_image_model
from app.planning.trainers.words import usual_weights

NO_NAME = "PATH/TO/MODEL"
USUAL_RANK = 8
USUAL_GPUS_A_NODE = 8

LEARNING_RATES = {"full": 1e-5, "lora": 1e-4, "qlora": 1e-4}


@dataclass(frozen=True, slots=True)
class Plan:
    """What an estimate's body asks for, with the defaults that an estimate takes."""

    model: str
    method: str
    rank: int
    targets: list[str] | Literal["all-linear"]
    dropout: float
    adapter_dtype: str
    double_quantization: bool
    precision: str
    weights: str
    optimizer: str
    batch: int
    accumulation: int
    length: int
    checkpointing: bool
    attention: str
    max_grad_norm: float
    packing: bool
    fused_loss: bool
    gpus: int
    nodes: int
    parallelism: str
    offload: str
    epochs: float
    unsaid: tuple[str, ...]

    @property
    def is_full(self) -> bool:
        """Whether every weight is trained."""
        return self.method == "full"

    @property
    def is_mixed(self) -> bool:
        """Whether autocast is on."""
        return self.precision.endswith("-mixed")

    @property
    def number(self) -> str:
        """The type that it computes in."""
        return self.precision.removesuffix("-mixed")

    @property
    def gpus_a_node(self) -> int:
        """Processes that a machine starts."""
        return self.gpus // self.nodes


@dataclass(slots=True)
class Draft:
    """Settings in order, with comments between them; ``unsaid``: fields whose value the trainer has no word for."""

    lines: list[Message | tuple[str, Any]] = field(default_factory=list)
    unsaid: list[str] = field(default_factory=list)

    def put(self, **settings: Any) -> None:
        """Adds settings."""
        self.lines.extend(settings.items())

    def note(self, message: Message) -> None:
        """Adds a comment."""
        self.lines.append(message)

    def miss(self, name: str, missed: bool = True) -> None:
        """A field that could not be said."""
        if missed and name not in self.unsaid:
            self.unsaid.append(name)

    def put_or_miss(self, name: str, key: str, value: Any, instead: Any) -> None:
        """A setting whose value may have no word; ``instead``: the closest that there is."""
        self.miss(name, value is None)
        self.put(**{key: instead if value is None else value})


def plan_of(body: EstimateInput) -> Plan:
    """Raises InvalidInput for a model that none of the trainers trains."""
    lora = body.lora or LoraInput()
    precision = body.precision or "bf16-mixed"
    gpus = max(1, math.ceil(body.gpu_count or 1))
    nodes = _nodes(gpus, body.gpus_per_node)
    return Plan(
        model=_model_name(body),
        method=body.method,
        rank=lora.rank or USUAL_RANK,
        targets=lora.target_modules or "all-linear",
        dropout=lora.dropout or 0.0,
        adapter_dtype=lora.adapter_dtype or "fp32",
        double_quantization=body.qlora is None or body.qlora.double_quantization is not False,
        precision=precision,
        weights=body.weights_dtype or usual_weights(body.method, precision),
        optimizer=body.optimizer or "adamw",
        batch=body.micro_batch_size or 1,
        accumulation=body.gradient_accumulation_steps or 1,
        length=body.sequence_length or USUAL_LENGTH,
        checkpointing=body.gradient_checkpointing or False,
        attention=body.attention or "sdpa",
        max_grad_norm=body.max_grad_norm or 0.0,
        packing=body.packing or False,
        fused_loss=body.fused_loss or False,
        gpus=gpus,
        nodes=nodes or 1,
        parallelism=body.parallelism or "none",
        offload=body.offload or "none",
        epochs=(body.workload and body.workload.epochs) or 1.0,
        unsaid=_unsaid(body, nodes),
    )


def _model_name(body: EstimateInput) -> str:
    if not isinstance(body.model, str):
        return NO_NAME
    if is_image_model(body.model):
        raise InvalidInput.at("model", Message("This trainer trains language models only."))
    known = find_model(body.model)
    return body.model if known is None else known.hub_name


def _nodes(gpus: int, gpus_per_node: int | None) -> int | None:
    """None where the GPUs do not fill whole machines."""
    each = gpus_per_node or USUAL_GPUS_A_NODE
    if gpus <= each:
        return 1
    return gpus // each if gpus % each == 0 else None


def _unsaid(body: EstimateInput, nodes: int | None) -> tuple[str, ...]:
    """What no trainer can be told: a share of a card, machines of different sizes."""
    count = body.gpu_count or 1
    names = []
    if not float(count).is_integer():
        names.append("gpu_count")
    if nodes is None or (nodes == 1 and body.gpus_per_node is not None):
        names.append("gpus_per_node")
    return tuple(names)
