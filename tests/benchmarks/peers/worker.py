"""Runs one peer on requests from standard input; for the interpreter that has the peers, it knows nothing of ours.

Each line in is a request of the JSON API with its model's configuration inline; each line out is
``{"allocated": …, "process": …, "seconds": …}`` or ``{"refused": "…"}``; a peer with one figure answers it twice.
"""

import contextlib
import io
import json
import sys
import time
from typing import Any

GIB = 2**30
MIB = 2**20
FITCHECK_GPUS = {"t4": 15_360, "a100-sxm-80": 81_920, "a100-sxm-40": 40_960, "rtx-3090": 24_576, "rtx-4090": 24_576}


class Refused(Exception):
    """The peer cannot say this."""


def sizes(config: dict[str, Any]) -> dict[str, int]:
    """The figures that all peers ask for, under the names of any family."""

    def first(*names: str) -> int:
        for name in names:
            if isinstance(config.get(name), int):
                return int(config[name])
        raise Refused(f"no {names[0]}")

    hidden = first("hidden_size", "n_embd", "d_model")
    heads = first("num_attention_heads", "n_head", "n_heads")
    found = {
        "hidden_size": hidden,
        "num_hidden_layers": first("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
        "num_attention_heads": heads,
        "vocab_size": first("vocab_size", "padded_vocab_size"),
    }
    found["intermediate_size"] = config.get("intermediate_size") or config.get("ffn_dim") or 4 * hidden
    found["num_key_value_heads"] = config.get("num_key_value_heads") or heads
    return found


def fitcheck(request: dict[str, Any], parameters: int) -> tuple[float, float]:
    """Its own configuration reader decides what it takes."""
    from fitcheck import config_parser  # noqa: PLC0415
    from fitcheck.estimator import TrainingConfig, estimate  # noqa: PLC0415
    from fitcheck.gpu_db import GpuSpec  # noqa: PLC0415

    if request.get("parallelism", "none") != "none":
        raise Refused("sharding")
    config = {name: value for name, value in request["model"]["config"].items() if value is not None}
    config_parser._reject_unsupported(config, "model")
    fields = config_parser._parse_fields(config)
    derived = config_parser._count_params(fields)
    if abs(derived / parameters - 1) > 0.05:
        raise Refused("not shaped like LLaMA")
    model = config_parser.ModelConfig(name="model", num_params=parameters, **vars(fields))
    lora = request.get("lora") or {}
    targets = lora.get("target_modules", "all-linear")
    if targets == "all-linear":
        targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    precision = request.get("precision", "bf16-mixed").split("-")[0]
    training = TrainingConfig(
        precision=precision,
        quantization="nf4" if request["method"] == "qlora" else "none",
        double_quant=bool((request.get("qlora") or {}).get("double_quantization", True))
        and request["method"] == "qlora",
        optimizer={"adamw_fused": "adamw", "sgd_momentum": "sgd"}.get(request["optimizer"], request["optimizer"]),
        batch_size=request.get("micro_batch_size", 1),
        seq_len=request["sequence_length"],
        lora_rank=None if request["method"] == "full" else lora.get("rank", 8),
        lora_targets=targets,
        grad_checkpoint=bool(request.get("gradient_checkpointing")),
        flash_attn=request.get("attention") != "eager",
        grad_accum_steps=request.get("gradient_accumulation_steps", 1),
    )
    memory = FITCHECK_GPUS.get(request["gpu"], 81_920)
    report = estimate(model, training, GpuSpec(request["gpu"], memory, memory))
    return (report.total_mib - report.overhead_mib) * MIB, report.total_mib * MIB


def ftuneai(request: dict[str, Any], parameters: int) -> float:
    """Its Estimator takes names; the parts below it take the sizes."""
    from ftuneai.core.memory import MemoryEstimator  # noqa: PLC0415
    from ftuneai.core.models import (  # noqa: PLC0415
        FineTuneMethod,
        LoRATarget,
        ModelSpec,
        OptimizerType,
        Quantization,
        ShardingStrategy,
        TrainingConfig,
    )

    shape = sizes(request["model"]["config"])
    sharding = {"none": "none", "ddp": "none"}.get(request.get("parallelism", "none"))
    if sharding is None:
        sharding = {"zero2": "zero_2", "zero3": "zero_3", "fsdp": "fsdp"}.get(request["parallelism"], "")
        known = {one.value for one in ShardingStrategy}
        sharding = sharding if sharding in known else sharding.replace("_", "")
        if sharding not in known:
            raise Refused("sharding")
    spec = ModelSpec(
        name="model", parameters=parameters, hidden_size=shape["hidden_size"], num_layers=shape["num_hidden_layers"],
        num_attention_heads=shape["num_attention_heads"], num_kv_heads=shape["num_key_value_heads"],
        intermediate_size=shape["intermediate_size"], vocab_size=shape["vocab_size"], max_seq_length=4096,
    )  # fmt: skip
    lora = request.get("lora") or {}
    targets = lora.get("target_modules", "all-linear")
    target = "all_linear" if targets == "all-linear" or len(targets) > 4 else "attention_all"
    target = "attention" if targets != "all-linear" and len(targets) <= 2 else target
    optimizer = {"adamw_fused": "adamw", "adamw_8bit": "adam_8bit", "sgd_momentum": "sgd"}
    config = TrainingConfig(
        model="model", method=FineTuneMethod(request["method"]),
        quantization=Quantization("4bit" if request["method"] == "qlora" else "none"),
        batch_size=request.get("micro_batch_size", 1), seq_length=request["sequence_length"],
        gradient_checkpointing=bool(request.get("gradient_checkpointing")),
        optimizer=OptimizerType(optimizer.get(request["optimizer"], request["optimizer"])),
        lora_rank=lora.get("rank", 8), lora_target=LoRATarget(target),
        flash_attention=request.get("attention") != "eager", sharding=ShardingStrategy(sharding),
        num_gpus=int(request.get("gpu_count", 1)),
    )  # fmt: skip
    return float(MemoryEstimator(spec, config).estimate().total_gb) * GIB


def gpu_estimator(request: dict[str, Any], parameters: int) -> float:
    """Knows parameters, batch, length and precision of full fine-tuning."""
    from gpu_estimator.estimator import GPUEstimator  # noqa: PLC0415

    if request["method"] != "full":
        raise Refused("adapters")
    if request.get("parallelism", "none") != "none":
        raise Refused("sharding")
    answer = GPUEstimator().estimate(
        model_params=parameters, batch_size=request.get("micro_batch_size", 1),
        sequence_length=request["sequence_length"], precision=request["precision"].split("-")[0],
        optimizer="sgd" if request["optimizer"].startswith("sgd") else "adamw",
        gradient_checkpointing=bool(request.get("gradient_checkpointing")), gpu_memory_gb=80,
    )  # fmt: skip
    return float(answer.total_memory_gb) * GIB


def hf_vram_calc(request: dict[str, Any], parameters: int) -> float:
    """A factor on the weights for full training, and a formula for LoRA."""
    from hf_vram_calc.calculator import VRAMCalculator  # noqa: PLC0415
    from hf_vram_calc.config import ConfigManager  # noqa: PLC0415

    if request.get("parallelism", "none") != "none":
        raise Refused("sharding")
    calculator = VRAMCalculator(ConfigManager())
    dtype = {"fp32": "fp32", "fp16": "fp16", "bf16": "bf16"}[request["precision"].split("-")[0]]
    if request["method"] == "qlora":
        dtype = "int4"
    weights = calculator.calculate_model_memory(parameters, dtype)
    if request["method"] == "full":
        return float(calculator.calculate_training_memory(weights)) * GIB
    rank = (request.get("lora") or {}).get("rank", 8)
    hidden = sizes(request["model"]["config"])["hidden_size"]
    return float(calculator.calculate_lora_memory(weights, parameters, rank, original_dim=hidden)) * GIB


PEERS = {"fitcheck": fitcheck, "ftuneai": ftuneai, "gpu-estimator": gpu_estimator, "hf-vram-calc": hf_vram_calc}


def main() -> None:
    """Reads lines until there are no more."""
    peer = PEERS[sys.argv[1]]
    for line in sys.stdin:
        task = json.loads(line)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                found = peer(task["request"], task["parameters"])
                started = time.perf_counter()
                peer(task["request"], task["parameters"])
                spent = time.perf_counter() - started
            allocated, process = found if isinstance(found, tuple) else (found, found)
            answer: dict[str, Any] = {"allocated": allocated, "process": process, "seconds": spent}
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is its refusal
            answer = {"refused": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
