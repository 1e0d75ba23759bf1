"""How many GPUs a trainer's file is for and what they share, from its launcher, DeepSpeed's or FSDP's settings."""

import re
from collections.abc import Mapping

from app.planning.inputs import LARGEST_GPU_COUNT
from app.planning.trainers.reading import Reading

Sharding = tuple[str, str | None]

_STAGE = re.compile(r"(?:zero|stage|(?<![a-z])z)[-_]?(?:stage[-_]?)?([0-3])(?!\d)")
_BY_STAGE: Mapping[str, str] = {"0": "ddp", "1": "zero1", "2": "zero2", "3": "zero3"}
_LAUNCHED: Mapping[str, str] = {
    "single_gpu": "none",
    "multi_gpu": "ddp",
    "fsdp1": "fsdp",
    "fsdp2": "fsdp",
    "fsdp": "fsdp",
}
_FSDP_WORDS = frozenset("full_shard auto_wrap offload fsdp fsdp1 fsdp2 true 1".split())
_NO = ("false", "no", "none", "0")

FSDP_IGNORED = frozenset(
    f"{group}.{key}"
    for group in ("fsdp_config", "fsdp")
    for key in """
    activation_checkpointing auto_wrap_policy backward_prefetch backward_prefetch_policy cpu_ram_efficient_loading
    cpu_offload_pin_memory final_state_dict_type forward_prefetch limit_all_gathers min_num_params reshard_after_forward
    state_dict_type sync_module_states transformer_layer_cls_to_wrap use_orig_params version xla
    """.split()
    for key in (key, f"fsdp_{key}")
)


def read_parallelism(reading: Reading, *, starts_one_a_gpu: bool = False) -> None:
    """``starts_one_a_gpu``: without being told, the trainer starts a process on each GPU that it sees."""
    count = _read_gpus(reading, starts_one_a_gpu)
    found = _read_deepspeed(reading) or _read_fsdp(reading) or _read_accelerate(reading)
    reading.put("gpu_count", count)
    if found is not None:
        reading.put("parallelism", found[0])
        reading.put("offload", found[1])
    elif count is not None and count > 1:
        reading.put("parallelism", "ddp")


def _read_gpus(reading: Reading, starts_one_a_gpu: bool) -> int | None:
    nodes = _count(reading, "NNODES", "nnodes", "num_machines") or 1
    each = _count(reading, "NPROC_PER_NODE", "nproc_per_node", "num_gpus")
    total = _count(reading, "num_processes") or (each and each * nodes)
    seen = _read_visible(reading)
    if total is None and seen is not None and (seen == 1 or starts_one_a_gpu):
        total = seen * nodes
    elif total is None and seen is not None:
        reading.refuse("CUDA_VISIBLE_DEVICES")
    if total is not None and nodes > 1 and total % nodes == 0:
        reading.put("gpus_per_node", total // nodes)
    return None if total is None else min(total, LARGEST_GPU_COUNT)


def _count(reading: Reading, *keys: str) -> int | None:
    """``auto`` and ``1:4`` leave it to the machine."""
    found = reading.find(*keys)
    if found is not None and isinstance(found[1], str) and not found[1].strip().lstrip("-").isdigit():
        reading.refuse(found[0])
        return None
    return reading.whole(*keys, high=LARGEST_GPU_COUNT)


def _read_visible(reading: Reading) -> int | None:
    devices = reading.words("CUDA_VISIBLE_DEVICES")
    return len(devices) if devices else None


def _read_deepspeed(reading: Reading) -> Sharding | None:
    """By the name of its configuration, or by its own keys where they stand in the file."""
    stage = reading.word("deepspeed.zero_optimization.stage", "zero_stage")
    name = reading.word("deepspeed", "deepspeed_config_file")
    if stage is not None and stage in _BY_STAGE:
        return _BY_STAGE[stage], _device_offload(reading)
    if name is None or name.lower() in _NO:
        return None
    found = by_name(name)
    if found is None:
        reading.refuse("deepspeed" if "deepspeed" in reading.values else "deepspeed_config_file")
    return found


def _device_offload(reading: Reading) -> str | None:
    groups = ("deepspeed.zero_optimization.offload_{}.device", "offload_{}_device")
    params = reading.word(*(key.format("param") for key in groups))
    optimizer = reading.word(*(key.format("optimizer") for key in groups))
    if params in ("cpu", "nvme"):
        return "all"
    return "optimizer" if optimizer in ("cpu", "nvme") else None


def by_name(path: str) -> Sharding | None:
    """``ds_z3_offload_config.json`` as ZeRO-3 with everything offloaded."""
    name = re.split(r"[/\\]", path.lower())[-1].rpartition(".")[0] or re.split(r"[/\\]", path.lower())[-1]
    if name in _LAUNCHED:
        return _LAUNCHED[name], None
    stage = _STAGE.search(name)
    if stage is None:
        return ("fsdp", None) if "fsdp" in name else None
    offload = ("all" if stage[1] == "3" else "optimizer") if "offload" in name else None
    return _BY_STAGE[stage[1]], offload


def _read_fsdp(reading: Reading) -> Sharding | None:
    words = [word.lower() for word in reading.words("fsdp") or []] or _fsdp_by_keys(reading)
    offload = reading.flag(
        "fsdp_config.offload_params", "fsdp_config.fsdp_offload_params", "fsdp_offload_params"
    )
    if not words or words[0] in _NO or words == ["no_shard"]:
        return ("ddp", None) if words == ["no_shard"] else None
    if not set(words) <= _FSDP_WORDS:
        reading.refuse("fsdp")
        return None
    return "fsdp", "all" if offload or "offload" in words else None


def _fsdp_by_keys(reading: Reading) -> list[str]:
    """Axolotl's newer files have only the settings; Accelerate's command has a switch."""
    reading.find("fsdp_version")
    has_settings = any(key.startswith("fsdp_config.") for key in reading.values)
    return ["fsdp"] if reading.flag("use_fsdp") or (has_settings and "base_model" in reading.values) else []


def _read_accelerate(reading: Reading) -> Sharding | None:
    reading.flag("use_deepspeed", "multi_gpu")
    name = reading.word("accelerate_config", "config_file")
    if name is None:
        return ("ddp", None) if reading.flag("multi_gpu") else None
    found = by_name(name)
    if found is None:
        reading.refuse("accelerate_config" if "accelerate_config" in reading.values else "config_file")
    return found
