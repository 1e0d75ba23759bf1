# mypy: ignore-errors
"""Computes exact training steps for the tests: real model code and autograd on tensors that have sizes but no data.

``python tests/accuracy/exact_steps.py < requests.jsonl > steps.jsonl``, with an interpreter that has torch,
transformers and peft (they are no requirement of the tests: ``tests/estimator/exact_steps.json`` holds what this gave).
Each line in is ``{"config": {…}, "request": {…}}`` in the JSON API's words; each line out is the peak of every moment
in bytes, as the CUDA allocator would count it (blocks of 512), and the step's operations.

Tensors are fake CPU tensors; what CUDA's autocast and kernels do otherwise than the CPU's is put in their place: its
list of fp32 operators, fused attention, and the one-byte mask of dropout.
"""

import contextlib
import gc
import json
import sys
import weakref
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
import transformers
import transformers.masking_utils
from peft import LoraConfig
from peft.tuners.lora.layer import Linear as PeftLinear
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
BLOCK = 512
# Kinds whose code has no fused attention in transformers.
ONLY_EAGER = ("bloom", "gemma2", "mpt", "deberta-v2")
WIDENED_BY_AUTOCAST = frozenset(
    """layer_norm group_norm native_layer_norm pow __pow__ __rpow__ rsqrt softmax log_softmax cross_entropy nll_loss
    mse_loss l1_loss smooth_l1_loss sum prod cumsum cumprod exp expm1 log log1p norm softplus cosh sinh reciprocal tan
    acos asin __rdiv__ __rtruediv__ binary_cross_entropy_with_logits""".split()
)


class Memory(TorchDispatchMode):
    """Counts live storages; ``peaks`` holds the largest sum in each phase."""

    def __init__(self) -> None:
        super().__init__()
        self.live = 0
        self.sizes: dict[int, int] = {}
        self.phase = "before"
        self.peaks: dict[str, int] = {}
        self.collects = False

    def begin(self, phase: str) -> None:
        self.phase = phase
        self._mark()

    def _mark(self) -> None:
        self.peaks[self.phase] = max(self.peaks.get(self.phase, 0), self.live)

    def _free(self, key: int) -> None:
        self.live -= self.sizes.pop(key, 0)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.collects and self.phase == "backward" and "mm" in str(func):
            # Checkpoint frames are in cycles here, which real tensors do not wait for.
            gc.collect()
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                if storage._cdata not in self.sizes:
                    size = -(-storage.nbytes() // BLOCK) * BLOCK
                    self.sizes[storage._cdata] = size
                    self.live += size
                    weakref.finalize(storage, self._free, storage._cdata)
                    self._mark()
        return out


class CudaAutocast(TorchFunctionMode):
    """What CUDA's autocast computes in fp32."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in WIDENED_BY_AUTOCAST and torch.is_autocast_enabled("cpu"):
            args = tuple(_widened(one) for one in args)
            kwargs = {name: _widened(one) for name, one in kwargs.items()}
        return func(*args, **kwargs)


def _widened(value: Any) -> Any:
    narrow = isinstance(value, torch.Tensor) and value.dtype in (torch.bfloat16, torch.float16)
    return value.float() if narrow else value


@contextlib.contextmanager
def autocast(dtype: torch.dtype) -> Any:
    """CUDA's autocast on CPU tensors."""
    with CudaAutocast(), torch.autocast("cpu", dtype=dtype):
        yield


def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """CUDA's choice: flash for 16 bits without a mask, else the memory-efficient kernel, which shares no heads."""
    if torch.is_autocast_enabled("cpu"):
        q, k, v = (one.to(torch.get_autocast_dtype("cpu")) for one in (q, k, v))
    if q.dtype != torch.float32 and attn_mask is None:
        return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, dropout_p, is_causal, False, scale=scale)[0]
    if enable_gqa and q.shape[1] != k.shape[1]:
        k, v = (one.repeat_interleave(q.shape[1] // k.shape[1], 1) for one in (k, v))
    kernel = torch.ops.aten._scaled_dot_product_efficient_attention
    return kernel(q, k, v, attn_mask, True, dropout_p, is_causal, scale=scale)[0]


def dropout(x, p=0.5, training=True, inplace=False):
    """CUDA's kernel, which keeps a mask of one byte an element."""
    return torch.native_dropout(x, p, training)[0] if training and p > 0 else x


class FourBitProduct(torch.autograd.Function):
    """bitsandbytes' product: the weight is expanded each time and not kept."""

    @staticmethod
    def forward(ctx, x, packed, shape, compute, bias):
        ctx.shape, ctx.compute = shape, compute
        return F.linear(x, torch.empty(shape, dtype=x.dtype), bias)

    @staticmethod
    def backward(ctx, g):
        return g @ torch.empty(ctx.shape, dtype=ctx.compute).to(g.dtype), None, None, None, None


class FourBit(nn.Module):
    """NF4 with double quantisation."""

    def __init__(self, linear: nn.Linear, compute: torch.dtype) -> None:
        super().__init__()
        count = linear.weight.numel()
        self.shape, self.compute, self.bias = tuple(linear.weight.shape), compute, linear.bias
        self.out_features, self.in_features = self.shape
        self.weight = nn.Parameter(torch.empty((count + 1) // 2, 1, dtype=torch.uint8), requires_grad=False)
        self.constants = torch.empty(count // 64, dtype=torch.uint8)
        self.scales = torch.empty(count // 64 // 256 + 1)

    def forward(self, x):
        bias = None if self.bias is None else self.bias.to(self.compute)
        return FourBitProduct.apply(x.to(self.compute), self.weight, self.shape, self.compute, bias).to(x.dtype)


class FourBitLora(nn.Module):
    """PEFT's layer over a 4-bit one."""

    def __init__(self, base: FourBit, rank: int, dtype: torch.dtype, share: float) -> None:
        super().__init__()
        self.base = base
        self.first = nn.Linear(base.in_features, rank, bias=False, dtype=dtype)
        self.second = nn.Linear(rank, base.out_features, bias=False, dtype=dtype)
        self.dropout = nn.Dropout(share) if share else nn.Identity()
        self.weight = base.weight

    def forward(self, x):
        result = self.base(x).clone()
        converts = not torch.is_autocast_enabled("cpu")
        y = x.to(self.first.weight.dtype) if converts else x
        y = self.second(self.first(self.dropout(y))) * 2.0
        return result + (y.to(result.dtype) if converts else y)


def build(config: dict[str, Any], request: dict[str, Any]) -> tuple[nn.Module, torch.dtype]:
    """The model with weights in the type that the recipe says, and the type of matrix products."""
    read = AutoConfig.for_model(**config)
    name = (config.get("architectures") or [""])[0]
    compute = request["precision"].split("-")[0]
    held = "fp32" if request["method"] == "full" and request["precision"].endswith("-mixed") else compute
    wanted = "eager" if config["model_type"] in ONLY_EAGER or request["attention"] == "eager" else "sdpa"
    torch.set_default_dtype(TYPES[request.get("weights_dtype") or held])
    try:
        if hasattr(transformers, name):
            model = getattr(transformers, name)._from_config(read, attn_implementation=wanted)
        else:
            kind = AutoModelForSeq2SeqLM if getattr(read, "is_encoder_decoder", False) else AutoModelForCausalLM
            model = kind.from_config(read, attn_implementation=wanted)
    finally:
        torch.set_default_dtype(torch.float32)
    model.config.use_cache = False
    return model, TYPES[compute]


def add_adapters(model: nn.Module, request: dict[str, Any], compute: torch.dtype) -> None:
    """PEFT's own layers, and ours over 4-bit ones."""
    PeftLinear._move_adapter_to_device_of_base_layer = lambda *_args, **_named: None
    lora = request.get("lora") or {}
    targets, rank, share = lora.get("target_modules", "all-linear"), lora.get("rank", 8), lora.get("dropout", 0.0)
    dtype = torch.float32 if lora.get("adapter_dtype", "fp32") == "fp32" else compute
    head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    for parent in list(model.modules()):
        if isinstance(parent, PeftLinear | FourBitLora):
            continue
        for name, child in list(parent.named_children()):
            is_fused = type(child).__name__ == "Conv1D"
            if child is head or not (isinstance(child, nn.Linear | FourBit) or is_fused):
                continue
            if targets != "all-linear" and name not in targets:
                continue
            if isinstance(child, FourBit):
                layer: nn.Module = FourBitLora(child, rank, dtype, share)
            else:
                conf = LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=share, fan_in_fan_out=is_fused)
                layer = PeftLinear(child, "default", config=conf, r=rank, lora_alpha=2 * rank)
                for part in (layer.lora_A, layer.lora_B):
                    for key, old in list(part.items()):
                        part[key] = nn.Linear(old.in_features, old.out_features, bias=False, dtype=dtype)
                for weight in layer.base_layer.parameters():
                    weight.requires_grad_(requires_grad=False)
            setattr(parent, name, layer)


def four_bits(model: nn.Module, compute: torch.dtype, *, widens: bool) -> None:
    """Blocks' linear layers in NF4; the rest in fp32 as PEFT's k-bit preparation leaves it."""
    head = model.get_output_embeddings()
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and child is not head:
                setattr(parent, name, FourBit(child, compute))
    for weight in model.parameters():
        if widens and weight.dtype in (torch.bfloat16, torch.float16):
            weight.data = weight.data.float()


def optimizer_of(name: str, weights: list[nn.Parameter]) -> torch.optim.Optimizer:
    """PyTorch's foreach optimizers."""
    if name == "sgd":
        return torch.optim.SGD(weights, lr=0.1, foreach=True)
    if name == "sgd_momentum":
        return torch.optim.SGD(weights, lr=0.1, momentum=0.9, foreach=True)
    return torch.optim.AdamW(weights, lr=1e-4, foreach=True)


def inputs_of(config: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """Sentences of the full length, and labels for the head."""
    shape = (request["micro_batch_size"], request["sequence_length"])
    name = (config.get("architectures") or [""])[0]
    given: dict[str, Any] = {"input_ids": torch.zeros(shape, dtype=torch.long)}
    ends = torch.zeros(shape[:1], dtype=torch.long)
    if "SequenceClassification" in name:
        given["labels"] = ends
    elif "QuestionAnswering" in name:
        given |= {"start_positions": ends, "end_positions": ends.clone()}
    else:
        given["labels"] = torch.zeros(shape, dtype=torch.long)
    if config["model_type"] == "t5":
        given["use_cache"] = False
    return given


class HeadInput(torch.autograd.Function):
    """The place before the head: its gradient's arrival begins the rest of backward."""

    memory: Memory

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        HeadInput.memory.begin("backward")
        return g


def head_of(model: nn.Module) -> nn.Module:
    """The layer that makes logits, classes or spans."""
    for name in ("score", "classifier", "qa_outputs"):
        if getattr(model, name, None) is not None:
            return getattr(model, name)
    return model.cls.predictions.decoder if hasattr(model, "cls") else model.get_output_embeddings()


def step(config: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """The second of two steps, when the optimizer's states exist."""
    memory = HeadInput.memory = Memory()
    mixed, method = request["precision"].endswith("-mixed"), request["method"]
    with FakeTensorMode(), memory, torch.device("cpu"):
        model, compute = build(config, request)
        model.train()
        for weight in model.parameters():
            weight.requires_grad_(method == "full")
        if method == "qlora":
            four_bits(model, compute, widens=mixed)
        if method != "full":
            add_adapters(model, request, compute)
        if request["gradient_checkpointing"]:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            memory.collects = True
            if method != "full":
                model.enable_input_require_grads()
        gc.collect()
        gc.freeze()
        weights = [weight for weight in model.parameters() if weight.requires_grad]
        optimizer = optimizer_of(request["optimizer"], weights)
        given = inputs_of(config, request)

        def before_head(_module: nn.Module, args: Any) -> Any:
            memory.begin("loss_forward")
            return (HeadInput.apply(args[0]), *args[1:]) if args[0].requires_grad else None

        head_of(model).register_forward_pre_hook(before_head)
        counter = FlopCounterMode(display=False)
        repeats = request.get("gradient_accumulation_steps", 1)
        for is_last in (False, True):
            with counter if is_last else contextlib.nullcontext():
                for _ in range(repeats):
                    memory.begin("forward")
                    with autocast(compute) if mixed else contextlib.nullcontext():
                        loss = model(**given).loss
                    memory.begin("loss_backward")
                    if repeats > 1:
                        loss = loss / repeats
                    with torch.autograd.set_multithreading_enabled(False):
                        loss.backward()
                    del loss
            memory.begin("optimizer_step")
            optimizer.step()
            memory.begin("after")
            optimizer.zero_grad()
    moments = {name: size for name, size in memory.peaks.items() if name not in ("before", "after")}
    return {
        "peak": max(moments.values()),
        "phase": max(moments, key=lambda name: moments[name]),
        "moments": moments,
        "flops": counter.get_total_flops(),
        "parameters": sum(weight.numel() for weight in model.parameters()),
    }


def main() -> None:
    """Lines in, lines out."""
    F.scaled_dot_product_attention = attention
    F.dropout = dropout
    # On fake tensors it would take any batch for packed sequences.
    transformers.masking_utils.find_packed_sequence_indices = lambda _positions: None
    for line in sys.stdin:
        task = json.loads(line)
        print(json.dumps(step(task["config"], task["request"])), flush=True)


if __name__ == "__main__":
    main()
