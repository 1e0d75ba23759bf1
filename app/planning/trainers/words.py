"""The trainers' words for optimizers, attention and number types, and ours; pure."""

from collections.abc import Mapping

OPTIMIZERS: Mapping[str, str] = {
    "adamw": "adamw",
    "adamw_hf": "adamw",
    "adamw_torch": "adamw",
    "adamw_torch_fused": "adamw_fused",
    "adamw_apex_fused": "adamw_fused",
    "adamw_8bit": "adamw_8bit",
    "adamw_bnb_8bit": "adamw_8bit",
    "paged_adamw_8bit": "paged_adamw_8bit",
    "sgd": "sgd",
    "adafactor": "adafactor",
    "lion": "lion",
    "lion_32bit": "lion",
}

# Transformers gives its SGD no momentum, whatever is asked for.
OPTIMIZER_NAMES: Mapping[str, str] = {
    "adamw": "adamw_torch",
    "adamw_fused": "adamw_torch_fused",
    "adamw_8bit": "adamw_8bit",
    "paged_adamw_8bit": "paged_adamw_8bit",
    "sgd": "sgd",
    "adafactor": "adafactor",
    "lion": "lion_32bit",
}

ATTENTIONS: Mapping[str, str] = {
    "eager": "eager",
    "disabled": "eager",
    "off": "eager",
    "false": "eager",
    "sdpa": "sdpa",
    "fa2": "flash",
    "fa3": "flash",
    "flash_attn": "flash",
    "flash_attention": "flash",
    "flash_attention_2": "flash",
    "flash_attention_3": "flash",
    "kernels-community/flash-attn": "flash",
    "kernels-community/flash-attn2": "flash",
    "kernels-community/flash-attn3": "flash",
    "kernels-community/vllm-flash-attn3": "flash",
}

ATTENTION_NAMES: Mapping[str, str] = {"eager": "eager", "sdpa": "sdpa", "flash": "flash_attention_2"}

DTYPES: Mapping[str, str] = {
    "bfloat16": "bf16",
    "bf16": "bf16",
    "float16": "fp16",
    "fp16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "fp32": "fp32",
    "float": "fp32",
}

DTYPE_NAMES: Mapping[str, str] = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}

# What PEFT adapts where no module is named, by the model's type.
PEFT_TARGETS: Mapping[str, tuple[str, ...]] = {
    "bloom": ("query_key_value",),
    "chatglm": ("query_key_value",),
    "deberta-v2": ("query_proj", "value_proj"),
    "falcon": ("query_key_value",),
    "gemma": ("q_proj", "v_proj"),
    "gemma2": ("q_proj", "v_proj"),
    "gpt2": ("c_attn",),
    "gpt_bigcode": ("c_attn",),
    "gpt_neox": ("query_key_value",),
    "llama": ("q_proj", "v_proj"),
    "mistral": ("q_proj", "v_proj"),
    "mixtral": ("q_proj", "v_proj"),
    "phi": ("q_proj", "v_proj", "fc1", "fc2"),
    "phi3": ("qkv_proj",),
    "qwen2": ("q_proj", "v_proj"),
    "qwen3": ("q_proj", "v_proj"),
    "t5": ("q", "v"),
}


def dtype_of(name: str) -> str | None:
    """``torch.bfloat16`` as ``bf16``; None where it is no type of ours."""
    return DTYPES.get(name.lower().removeprefix("torch."))


def usual_weights(method: str, precision: str) -> str:
    """What an estimate holds the base weights in when nothing else is said."""
    if precision.endswith("-mixed") and method == "full":
        return "fp32"
    return precision.removesuffix("-mixed")
