"""Axolotl's YAML."""

from collections.abc import Mapping
from typing import Any

from app.i18n import Message
from app.planning.inputs import LARGEST_BATCH
from app.planning.trainers.adapters import (
    ALL_LINEAR,
    other_than_tuning,
    read_dropout,
    read_rank,
    read_targets,
    take_peft_targets,
)
from app.planning.trainers.draft import Draft, Plan
from app.planning.trainers.hugging_face import (
    IGNORED,
    put_precision,
    read_amount,
    read_clipping,
    read_length,
    read_optimizer,
)
from app.planning.trainers.parallelism import FSDP_IGNORED, read_parallelism
from app.planning.trainers.reading import Reading
from app.planning.trainers.trainer import Trainer
from app.planning.trainers.words import ATTENTIONS
from app.planning.trainers.writing import put_deepspeed, put_learning, put_optimizer

LIGER = "axolotl.integrations.liger.LigerPlugin"

_ATTENTION_FLAGS = {"flash_attention": "flash", "sdp_attention": "sdpa", "eager_attention": "eager"}
_OTHER_ATTENTIONS = ("xformers_attention", "flex_attention", "s2_attention", "sage_attention")
_PRECISION_KEYS: Mapping[str, Mapping[str, Any]] = {
    "bf16-mixed": {"bf16": True},
    "bf16": {"bf16": "full"},
    "fp16-mixed": {"bf16": False, "fp16": True},
}
_DEEPSPEED = {
    ("zero1", "none"): "deepspeed_configs/zero1.json",
    ("zero2", "none"): "deepspeed_configs/zero2.json",
    ("zero3", "none"): "deepspeed_configs/zero3_bf16.json",
    ("zero3", "all"): "deepspeed_configs/zero3_bf16_cpuoffload_all.json",
}


def _read(reading: Reading) -> None:
    reading.read_model("base_model")
    _read_stage(reading)
    _read_method(reading)
    read_length(reading, "sequence_len", default=None)
    reading.put("micro_batch_size", reading.whole("micro_batch_size", high=LARGEST_BATCH))
    reading.put(
        "gradient_accumulation_steps", reading.whole("gradient_accumulation_steps", high=LARGEST_BATCH)
    )
    read_optimizer(reading, "optimizer")
    read_clipping(reading)
    _read_checkpointing(reading)
    _read_attention(reading)
    _read_savings(reading)
    _read_precision(reading)
    read_parallelism(reading)
    read_amount(reading, "num_epochs", 1.0)


def _read_stage(reading: Reading) -> None:
    kind = reading.word("rl")
    if kind is not None:
        reading.refuse("rl", other_than_tuning(kind))


def _read_method(reading: Reading) -> None:
    adapter = (reading.word("adapter") or "none").lower()
    in_4bit, in_8bit = reading.flag("load_in_4bit"), reading.flag("load_in_8bit")
    if in_8bit or (in_4bit and adapter == "none"):
        reading.refuse("load_in_8bit" if in_8bit else "load_in_4bit")
    elif adapter == "none":
        reading.put("method", "full")
    elif adapter not in ("lora", "qlora"):
        reading.refuse("adapter")
    else:
        reading.put("method", "qlora" if in_4bit else adapter)
    if adapter in ("lora", "qlora"):
        _read_lora(reading)


def _read_lora(reading: Reading) -> None:
    read_rank(reading, "lora_r")
    read_dropout(reading, "lora_dropout")
    found = read_targets(reading, "lora_target_modules")
    if reading.flag("lora_target_linear"):
        reading.put("lora.target_modules", ALL_LINEAR)
    elif not found:
        take_peft_targets(reading)
    upcast = reading.flag("peft_autocast_adapter_dtype")
    reading.put("lora.adapter_dtype", {True: "fp32", False: "base", None: None}[upcast])
    double = reading.flag("bnb_config_kwargs.bnb_4bit_use_double_quant")
    if reading.fields.get("method") == "qlora":
        reading.put("qlora.double_quantization", double)


def _read_checkpointing(reading: Reading) -> None:
    """Besides true and false there are kinds that also move activations to the host, which is not counted here."""
    kind = (reading.word("gradient_checkpointing") or "").lower()
    by_fsdp = reading.flag(
        "fsdp_config.activation_checkpointing", "fsdp_config.fsdp_activation_checkpointing"
    )
    if kind in ("offload", "offload_disk", "unsloth"):
        reading.put("gradient_checkpointing", True)
        reading.refuse("gradient_checkpointing")
    elif kind:
        reading.put("gradient_checkpointing", reading.flag("gradient_checkpointing"))
    else:
        reading.put("gradient_checkpointing", by_fsdp)


def _read_attention(reading: Reading) -> None:
    reading.put("attention", reading.choose(ATTENTIONS, "attn_implementation"))
    for key, name in _ATTENTION_FLAGS.items():
        if reading.flag(key):
            reading.put("attention", name)
    for key in _OTHER_ATTENTIONS:
        if reading.flag(key):
            reading.refuse(key)


def _read_savings(reading: Reading) -> None:
    packing = reading.flag("sample_packing")
    reading.put("packing", packing)
    if reading.flag("pad_to_sequence_len") and not packing:
        reading.refuse("pad_to_sequence_len")
    fused = [reading.flag("liger_fused_linear_cross_entropy"), reading.flag("cut_cross_entropy")]
    reading.put("fused_loss", None if fused == [None, None] else any(fused))


def _read_precision(reading: Reading) -> None:
    """The base is held in the type that is computed in, whatever is trained."""
    bf16 = (reading.word("bf16") or "").lower()
    bfloat16, float16, fp16 = (reading.flag(key) for key in ("bfloat16", "float16", "fp16"))
    if bf16 not in ("", "auto", "full"):
        bf16 = "auto" if reading.flag("bf16") else "off"
    if bf16 == "full" or (bf16 in ("", "off") and (bfloat16 or float16)):
        put_precision(reading, "bf16" if bf16 == "full" or bfloat16 else "fp16", None)
    elif fp16 and bf16 in ("", "off"):
        put_precision(reading, "fp16-mixed", "fp16")
    elif bf16 == "off":
        put_precision(reading, "fp32", None)
    else:
        put_precision(reading, "bf16-mixed", "bf16", said=bool(bf16))


def _draft(plan: Plan) -> Draft:
    draft = Draft(unsaid=list(plan.unsaid))
    draft.put(base_model=plan.model)
    draft.note(Message("Put your own data set where PATH/TO/DATASET.jsonl stands."))
    draft.put(datasets=[{"path": "PATH/TO/DATASET.jsonl", "type": "chat_template"}], output_dir="output")
    _put_method(draft, plan)
    draft.put(sequence_len=plan.length, sample_packing=plan.packing)
    put_learning(draft, plan)
    draft.put(micro_batch_size=plan.batch, gradient_accumulation_steps=plan.accumulation)
    draft.put(num_epochs=plan.epochs, max_grad_norm=plan.max_grad_norm)
    put_optimizer(draft, plan, "optimizer")
    _put_precision(draft, plan)
    draft.put(gradient_checkpointing=plan.checkpointing)
    draft.put(**{key: True for key, name in _ATTENTION_FLAGS.items() if plan.attention == name})
    if plan.fused_loss:
        draft.put(plugins=[LIGER], liger_fused_linear_cross_entropy=True)
    draft.put(save_strategy="epoch", logging_steps=10)
    _put_parallelism(draft, plan)
    return draft


def _put_method(draft: Draft, plan: Plan) -> None:
    if plan.is_full:
        return
    draft.put(
        adapter=plan.method, load_in_4bit=plan.method == "qlora", lora_r=plan.rank, lora_alpha=2 * plan.rank
    )
    draft.put(lora_dropout=plan.dropout)
    if plan.targets == ALL_LINEAR:
        draft.put(lora_target_linear=True)
    else:
        draft.put(lora_target_modules=list(plan.targets))
    if plan.adapter_dtype == "base":
        draft.put(peft_autocast_adapter_dtype=False)
    if plan.method == "qlora":
        draft.put(bnb_config_kwargs={"bnb_4bit_use_double_quant": plan.double_quantization})


def _put_precision(draft: Draft, plan: Plan) -> None:
    draft.miss("weights_dtype", plan.method != "qlora" and plan.weights != plan.number)
    usual = {"bf16": False, "fp16": False} if plan.precision == "fp32" else {"bf16": False, "float16": True}
    draft.put(**_PRECISION_KEYS.get(plan.precision, usual))


def _put_parallelism(draft: Draft, plan: Plan) -> None:
    """Whether there are several processes is told to the command, not to the file."""
    if plan.parallelism != "fsdp":
        put_deepspeed(draft, plan, _DEEPSPEED)
        draft.miss("parallelism", plan.parallelism == "ddp" or (plan.parallelism == "none" and plan.gpus > 1))
        return
    draft.miss("offload", plan.offload == "optimizer")
    settings = {
        "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "state_dict_type": "FULL_STATE_DICT",
        "reshard_after_forward": True,
        "offload_params": plan.offload == "all",
    }
    draft.put(fsdp_version=2, fsdp_config=settings)


def _command(plan: Plan) -> str:
    machines = f" --num_machines {plan.nodes} --machine_rank 0" if plan.nodes > 1 else ""
    return f"accelerate launch --num_processes {plan.gpus}{machines} -m axolotl.cli.train axolotl.yaml"


AXOLOTL = Trainer(
    id="axolotl",
    name="Axolotl",
    filename="axolotl.yaml",
    media_type="application/yaml",
    marks=frozenset(
        """
        base_model micro_batch_size sequence_len num_epochs adapter sample_packing lora_target_linear
        flash_attention pad_to_sequence_len sdp_attention
""".split()
    ),
    ignored=IGNORED
    | FSDP_IGNORED
    | frozenset(
        """
        base_model_config tokenizer_type tokenizer_config model_type datasets test_datasets dataset_prepared_path
        val_set_size dataset_processes shuffle_merged_datasets chat_template chat_template_jinja special_tokens
        tokens default_system_message train_on_inputs strict debug plugins lora_fan_in_fan_out lora_model_dir
        lr_scheduler lr_scheduler_kwargs cosine_min_lr_ratio warmup_steps warmup_ratio evals_per_epoch eval_steps
        eval_strategy eval_table_size eval_max_new_tokens eval_sample_packing eval_batch_size saves_per_epoch
        early_stopping_patience auto_resume_from_checkpoints wandb_project wandb_entity wandb_watch wandb_name
        wandb_run_id wandb_log_model wandb_mode mlflow_tracking_uri mlflow_experiment_name use_wandb use_mlflow
        push_dataset_to_hub hf_use_auth_token is_llama_derived_model is_mistral_derived_model
        is_falcon_derived_model is_qwen_derived_model use_fast_tokenizer tokenizer_use_fast loraplus_lr_ratio
        embedding_lr save_first_step ddp_timeout bnb_config_kwargs tf32 revision_of_model
""".split()
    ),
    cannot_say=("gpu_count", "gpus_per_node", "optimizer_state_dtype", "keeps_outputs"),
    read=_read,
    draft=_draft,
    command=_command,
)
