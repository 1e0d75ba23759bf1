"""From a request to the estimator's job: the catalogue's model and card, and every default that is taken."""

from dataclasses import dataclass, field
from typing import Any

from app.catalog.gpus import Gpu, find_gpu
from app.catalog.known_models import find_model
from app.errors import FieldError, InvalidInput
from app.estimator import (
    Architecture,
    Card,
    Cluster,
    ConfigError,
    EstimatorError,
    Job,
    Lora,
    Price,
    Recipe,
    RecipeError,
    Spot,
    Workload,
    checkpoint_seconds,
    place_adapters,
    read_architecture,
)
from app.i18n import Message
from app.planning.inputs import EstimateInput, JobOptions, ModelConfigInput, SpotInput

TERA = 1e12
GIGA = 1e9
MEGA = 1e6
USUAL_LENGTH = 512
# Usable bytes a second of one direction of a PCIe slot, by generation and 16 lanes.
PCIE_BYTES_PER_SECOND = {"3.0": 12e9, "4.0": 24e9, "5.0": 48e9}


# A model's id in the catalogue, None for one by configuration, and its architecture.
ReadModel = tuple[str | None, Architecture]


@dataclass(slots=True)
class Prepared:
    """A job, whose names its parts have, and the defaults that were taken."""

    job: Job
    model_id: str | None
    gpu: Gpu | None
    host_ram_bytes: int | None = None
    regions: tuple[str, str] | None = None  # of the data and of the instance, where both are known
    assumptions: list[tuple[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class _Defaults:
    """Collects each default as it is taken."""

    taken: list[tuple[str, Any]] = field(default_factory=list)

    def of(self, name: str, given: Any, default: Any) -> Any:
        if given is not None:
            return given
        self.taken.append((name, default))
        return default


def prepare(wanted: EstimateInput, read: ReadModel | None = None) -> Prepared:
    """``read``: the model, where it was read before. Raises InvalidInput naming the field that cannot run."""
    defaults = _Defaults()
    model_id, architecture = read or read_model(wanted.model)
    recipe = _recipe(wanted, architecture, defaults)
    gpu = _gpu(wanted)
    cluster = _cluster(wanted, defaults)
    if recipe.lora is not None:
        try:
            place_adapters(architecture, recipe.lora)
        except RecipeError as error:
            raise invalid(error) from error
    job = Job(
        architecture=architecture,
        recipe=recipe,
        workload=_workload(wanted, recipe, defaults),
        card=None if gpu is None else card_of(gpu),
        cluster=cluster,
        price=None if wanted.price is None else Price(**wanted.price.model_dump()),
        spot=_spot(wanted, _billing(wanted), architecture, recipe, defaults),
        budget=wanted.budget,
        storage_bytes_per_second=None
        if wanted.storage_mb_per_second is None
        else wanted.storage_mb_per_second * MEGA,
    )
    regions = None
    if wanted.data_region and wanted.region:
        regions = (wanted.data_region, wanted.region)
    return Prepared(job, model_id, gpu, wanted.host_ram_bytes, regions, defaults.taken)


def is_image_model(name: str) -> bool:
    """Whether a model of the catalogue is asked for by the size of its images."""
    known = find_model(name)
    return known is not None and read_architecture(dict(known.config)).image_side > 0


def card_of(gpu: Gpu) -> Card:
    """The catalogue's GPU as the estimator's card, in bytes and operations a second."""
    return Card(
        gpu_id=gpu.id,
        usable_bytes=gpu.memory_bytes,
        bandwidth_bytes_per_second=float(gpu.bandwidth_gb_per_second) * GIGA,
        fp32_flops=float(gpu.fp32_tflops or gpu.fp16_tflops or 1) * TERA,
        bf16_flops=_rate(gpu.bf16_tflops) if gpu.supports_bf16 else None,
        fp16_flops=_rate(gpu.fp16_tflops),
        tf32_flops=_rate(gpu.tf32_tflops),
        interconnect_bytes_per_second=_own_links(gpu),
        pcie_bytes_per_second=PCIE_BYTES_PER_SECOND.get((gpu.pcie or "").split(" ")[0], 12e9),
        generation=gpu.architecture,
    )


def _rate(tflops: Any) -> float | None:
    return None if tflops is None else float(tflops) * TERA


def has_own_links(gpu: Gpu) -> bool:
    """A card in a slot has links only where somebody put a bridge on, which rented machines seldom have."""
    return bool(gpu.interconnect_gb_per_second) and "PCIe" not in gpu.form_factor


def _own_links(gpu: Gpu) -> float | None:
    """Bytes a second of one direction; the datasheet's figure is of both together."""
    if not has_own_links(gpu) or gpu.interconnect_gb_per_second is None:
        return None
    return gpu.interconnect_gb_per_second * GIGA / 2


def invalid(error: EstimatorError) -> InvalidInput:
    """The estimator's refusal as a wrong field."""
    return InvalidInput(FieldError(error.field, _words(error)))


def _words(error: EstimatorError) -> Message:
    params = error.params
    if error.reason == "required":
        return Message("This field is required.")
    if error.reason == "kind_not_read":
        return Message(
            "This kind of model is not known here. Known are: %(known)s.", known=params["known"]
        )
    if error.reason == "does_not_divide":
        return Message("The heads do not divide what they share.")
    if error.reason == "no_such_module":
        return Message(
            "The model has no layer called %(missing)s. It has: %(known)s.",
            missing=params["missing"] or "–",
            known=params["known"],
        )
    if error.reason == "not_with_full":
        return Message("Full fine-tuning has no adapters.")
    if error.reason == "not_an_object":
        return Message("This must be an object.")
    return Message("This must be a whole number greater than zero.")


def read_model(model: str | ModelConfigInput) -> ReadModel:
    """Raises InvalidInput naming the model, or the field of its configuration."""
    if isinstance(model, ModelConfigInput):
        config: object = model.config
        prefix, model_id = "model.config", None
    else:
        known = find_model(model)
        if known is None:
            raise InvalidInput.at("model", Message("There is no such model in the catalogue."))
        config, prefix, model_id = dict(known.config), "model", known.id
    try:
        return model_id, read_architecture(config)
    except ConfigError as error:
        error.field = f"{prefix}.{error.field}".rstrip(".") if model_id is None else "model"
        raise invalid(error) from error


def _recipe(wanted: EstimateInput, architecture: Architecture, defaults: _Defaults) -> Recipe:
    _refuse_wrong_size(wanted, architecture)
    lora = _lora(wanted, defaults)
    double = True
    if wanted.method == "qlora":
        given = wanted.qlora.double_quantization if wanted.qlora else None
        double = defaults.of("qlora.double_quantization", given, True)
    elif wanted.qlora is not None:
        raise InvalidInput.at("qlora", Message("Only QLoRA quantises the base."))
    recipe = Recipe(
        method=wanted.method,
        lora=lora,
        double_quantization=double,
        precision=defaults.of("precision", wanted.precision, "bf16-mixed"),
        optimizer=defaults.of("optimizer", wanted.optimizer, "adamw"),
        micro_batch_size=defaults.of("micro_batch_size", wanted.micro_batch_size, 1),
        gradient_accumulation_steps=defaults.of(
            "gradient_accumulation_steps", wanted.gradient_accumulation_steps, 1
        ),
        sequence_length=_length(wanted, architecture, defaults),
        gradient_checkpointing=defaults.of("gradient_checkpointing", wanted.gradient_checkpointing, False),
        attention=defaults.of("attention", wanted.attention, "sdpa"),
        weights_dtype=wanted.weights_dtype,
        optimizer_state_dtype=wanted.optimizer_state_dtype,
        max_grad_norm=wanted.max_grad_norm,
        fused_loss=defaults.of("fused_loss", wanted.fused_loss, False),
        packing=defaults.of("packing", wanted.packing, False),
        offload=defaults.of("offload", wanted.offload, "none"),
        image_size=_image_size(wanted, architecture, defaults),
        keeps_outputs=wanted.keeps_outputs or False,
    )
    if recipe.method == "qlora" and recipe.weights_dtype is not None:
        raise InvalidInput.at("weights_dtype", Message("A 4-bit base has no other type."))
    return recipe


def _refuse_wrong_size(wanted: EstimateInput, architecture: Architecture) -> None:
    """Sentences have a length, images a size."""
    if not architecture.image_side and wanted.image_size is not None:
        raise InvalidInput.at("image_size", Message("This model takes no image size."))
    if not architecture.counts_tokens and wanted.sequence_length is not None:
        raise InvalidInput.at("sequence_length", Message("An image model has no length; give its image size."))


def _length(wanted: EstimateInput, architecture: Architecture, defaults: _Defaults) -> int:
    if not architecture.counts_tokens:
        return USUAL_LENGTH
    longest = architecture.longest_tokens
    usual = USUAL_LENGTH if architecture.rotary or longest is None else min(USUAL_LENGTH, longest)
    length: int = defaults.of("sequence_length", wanted.sequence_length, usual)
    return length


def _image_size(wanted: EstimateInput, architecture: Architecture, defaults: _Defaults) -> int | None:
    if not architecture.image_side:
        return None
    size: int = defaults.of("image_size", wanted.image_size, architecture.image_side)
    return size


def _lora(wanted: EstimateInput, defaults: _Defaults) -> Lora | None:
    if wanted.method == "full":
        if wanted.lora is not None:
            raise InvalidInput.at("lora", Message("Full fine-tuning has no adapters."))
        return None
    given = wanted.lora
    targets = defaults.of("lora.target_modules", given and given.target_modules, "all-linear")
    return Lora(
        rank=defaults.of("lora.rank", given and given.rank, 8),
        target_modules="all-linear" if targets == "all-linear" else tuple(targets),
        dropout=defaults.of("lora.dropout", given and given.dropout, 0.0),
        adapter_dtype=defaults.of("lora.adapter_dtype", given and given.adapter_dtype, "fp32"),
    )


def _gpu(wanted: EstimateInput) -> Gpu | None:
    if wanted.gpu is None:
        return None
    gpu = find_gpu(wanted.gpu)
    if gpu is None:
        raise InvalidInput.at("gpu", Message("There is no such GPU in the catalogue."))
    return gpu


def _cluster(wanted: EstimateInput, defaults: _Defaults) -> Cluster:
    count = float(defaults.of("gpu_count", wanted.gpu_count, 1))
    if count > 1 and not count.is_integer():
        raise InvalidInput.at("gpu_count", Message("Give a whole number of GPUs, or a share of one."))
    parallelism = defaults.of("parallelism", wanted.parallelism, "none")
    per_node = 8
    if count > per_node or wanted.gpus_per_node is not None:
        per_node = defaults.of("gpus_per_node", wanted.gpus_per_node, 8)
    return Cluster(count, parallelism, per_node)


def _workload(wanted: EstimateInput, recipe: Recipe, defaults: _Defaults) -> Workload | None:
    given = wanted.workload
    if given is None:
        return None
    if given.samples is None:
        return Workload(train_tokens=given.train_tokens, **_lengths(wanted, recipe, defaults))
    epochs = defaults.of("workload.epochs", given.epochs, 1.0)
    return Workload(samples=given.samples, epochs=epochs, **_lengths(wanted, recipe, defaults))


def _lengths(wanted: EstimateInput, recipe: Recipe, defaults: _Defaults) -> dict[str, Any]:
    given = wanted.workload
    if given is None:
        return {}
    length = recipe.sequence_length
    if recipe.image_size is not None:
        return {}
    longest = defaults.of("workload.longest_tokens", given.longest_tokens, length)
    mean = defaults.of("workload.mean_tokens", given.mean_tokens, length)
    if mean > longest:
        raise InvalidInput.at("workload.mean_tokens", Message("The mean is longer than the longest."))
    return {"longest_tokens": longest, "mean_tokens": mean}


def spot_of(wanted: JobOptions, billing: str | None, job: Job) -> Spot | None:
    """The interruptions that the job counts with under that billing mode."""
    return _spot(wanted, billing, job.architecture, job.recipe, _Defaults())


def _billing(wanted: EstimateInput) -> str | None:
    return None if wanted.price is None else wanted.price.billing


def _spot(
    wanted: JobOptions, billing: str | None, architecture: Architecture, recipe: Recipe, defaults: _Defaults
) -> Spot | None:
    """Without interruptions given, a spot price assumes none, and says so."""
    if wanted.spot is None and billing != "spot":
        return None
    given, usual = wanted.spot or SpotInput(), Spot()
    seconds = given.checkpoint_seconds
    if seconds is None:
        rate = wanted.storage_mb_per_second
        saving = checkpoint_seconds(architecture, recipe, None if rate is None else rate * MEGA)
        seconds = defaults.of("spot.checkpoint_seconds", None, round(saving, 1))
    told = {
        name: defaults.of(f"spot.{name}", getattr(given, name), getattr(usual, name))
        for name in ("interruptions_per_hour", "checkpoint_interval_minutes", "restart_minutes")
    }
    return Spot(
        **told,
        checkpoint_seconds=seconds,
        notice_seconds=given.notice_seconds or 0.0,
        price_spread_percent=given.price_spread_percent or 0.0,
    )
