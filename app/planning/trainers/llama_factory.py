"""LLaMA-Factory's YAML, for ``llamafactory-cli train``."""

from app.i18n import Message
from app.planning.inputs import LARGEST_WORKLOAD
from app.planning.trainers.adapters import (
    ALL_LINEAR,
    other_than_tuning,
    read_dropout,
    read_rank,
    read_targets,
)
from app.planning.trainers.draft import Draft, Plan
from app.planning.trainers.hugging_face import (
    IGNORED,
    put_precision,
    read_amount,
    read_batch,
    read_clipping,
    read_length,
    read_optimizer,
)
from app.planning.trainers.parallelism import FSDP_IGNORED, read_parallelism
from app.planning.trainers.reading import Reading
from app.planning.trainers.trainer import Trainer
from app.planning.trainers.words import ATTENTIONS
from app.planning.trainers.writing import fsdp_words, put_deepspeed, put_learning, put_optimizer, torchrun

USUAL_LENGTH = 2048
USUAL_BATCH = 8
USUAL_EPOCHS = 3.0

_ATTENTIONS = {**ATTENTIONS, "auto": "sdpa", "true": "flash"}
_ATTENTION_NAMES = {"flash": "fa2", "sdpa": "sdpa", "eager": "disabled"}
_PRECISIONS = {"bf16-mixed": "bf16", "fp16-mixed": "fp16", "bf16": "pure_bf16", "fp16": "fp16"}
_DEEPSPEED = {
    ("zero2", "none"): "examples/deepspeed/ds_z2_config.json",
    ("zero2", "optimizer"): "examples/deepspeed/ds_z2_offload_config.json",
    ("zero3", "none"): "examples/deepspeed/ds_z3_config.json",
    ("zero3", "all"): "examples/deepspeed/ds_z3_offload_config.json",
}


def _read(reading: Reading) -> None:
    reading.read_model("model_name_or_path")
    _read_stage(reading)
    _read_method(reading)
    read_length(reading, "cutoff_len", default=USUAL_LENGTH)
    read_batch(reading, USUAL_BATCH)
    read_optimizer(reading)
    read_clipping(reading)
    _read_savings(reading)
    _read_precision(reading)
    read_parallelism(reading, starts_one_a_gpu=True)
    read_amount(reading, "num_train_epochs", USUAL_EPOCHS)
    _read_samples(reading)


def _read_stage(reading: Reading) -> None:
    stage = reading.word("stage")
    if stage not in (None, "sft", "pt"):
        reading.refuse("stage", other_than_tuning(str(stage)))


def _read_method(reading: Reading) -> None:
    kind = reading.word("finetuning_type")
    bits = reading.whole("quantization_bit", high=64)
    if kind not in (None, "lora", "full"):
        reading.refuse("finetuning_type")
    elif bits is not None and (kind == "full" or not _is_nf4(reading, bits)):
        reading.refuse("quantization_bit")
    elif bits is not None:
        reading.put("method", "qlora")
        reading.put("qlora.double_quantization", reading.flag("double_quantization"))
    else:
        reading.put_or_default("method", kind, "lora")
    if kind in (None, "lora"):
        _read_lora(reading)


def _is_nf4(reading: Reading, bits: int) -> bool:
    method = reading.word("quantization_method") or "bnb"
    kind = reading.word("quantization_type") or "nf4"
    return bits == 4 and method.lower() in ("bnb", "bitsandbytes") and kind == "nf4"


def _read_lora(reading: Reading) -> None:
    read_rank(reading, "lora_rank")
    read_targets(reading, "lora_target")
    read_dropout(reading, "lora_dropout")


def _read_savings(reading: Reading) -> None:
    disabled = reading.flag("disable_gradient_checkpointing")
    reading.put_or_default("gradient_checkpointing", None if disabled is None else not disabled, True)
    reading.put("attention", reading.choose(_ATTENTIONS, "flash_attn"))
    packing = [flag for flag in (reading.flag("packing"), reading.flag("neat_packing")) if flag is not None]
    # Pre-training packs unless it is told not to.
    reading.put_or_default(
        "packing", any(packing) if packing else None, True if reading.word("stage") == "pt" else None
    )
    reading.put("fused_loss", reading.flag("enable_liger_kernel"))


def _read_precision(reading: Reading) -> None:
    """Without a word the base stays as it was published, and what is trained is held in fp32."""
    pure, bf16, fp16 = (reading.flag(key) for key in ("pure_bf16", "bf16", "fp16"))
    plain = "fp32" if reading.fields.get("method") == "full" else "bf16"
    mixed = "bf16-mixed" if bf16 else "fp16-mixed" if fp16 else plain
    said = (pure, bf16, fp16) != (None, None, None)
    put_precision(reading, "bf16" if pure else mixed, None, said=said)


def _read_samples(reading: Reading) -> None:
    """``max_samples`` counts for each of several data sets."""
    samples = reading.whole("max_samples", high=LARGEST_WORKLOAD)
    if samples is None or "samples" in reading.fields.get("workload", {}):
        return
    if len(reading.words("dataset") or []) > 1:
        told = Message(
            "The file limits the samples of each data set; how many they are together is not known."
        )
        reading.refuse("max_samples", told)
    else:
        reading.put("workload.samples", samples)


def _draft(plan: Plan) -> Draft:
    draft = Draft(unsaid=list(plan.unsaid))
    draft.put(model_name_or_path=plan.model, stage="sft", do_train=True)
    _put_method(draft, plan)
    draft.note(
        Message("Put your own data set and template here; data/dataset_info.json lists the data sets.")
    )
    draft.put(dataset="YOUR_DATASET", template="default", cutoff_len=plan.length, packing=plan.packing)
    draft.put(output_dir="output", save_strategy="epoch", logging_steps=10, plot_loss=True, report_to="none")
    put_learning(draft, plan)
    draft.put(per_device_train_batch_size=plan.batch, gradient_accumulation_steps=plan.accumulation)
    draft.put(num_train_epochs=plan.epochs, max_grad_norm=plan.max_grad_norm)
    put_optimizer(draft, plan)
    _put_precision(draft, plan)
    draft.put(
        flash_attn=_ATTENTION_NAMES[plan.attention], disable_gradient_checkpointing=not plan.checkpointing
    )
    draft.put(enable_liger_kernel=plan.fused_loss)
    _put_parallelism(draft, plan)
    return draft


def _put_method(draft: Draft, plan: Plan) -> None:
    draft.put(finetuning_type="full" if plan.is_full else "lora")
    if plan.is_full:
        return
    every = plan.targets == ALL_LINEAR
    draft.put(
        lora_rank=plan.rank, lora_target="all" if every else ",".join(plan.targets), lora_dropout=plan.dropout
    )
    draft.miss("lora.target_modules", not every and any("," in name or " " in name for name in plan.targets))
    if plan.method == "qlora":
        draft.put(quantization_bit=4, quantization_method="bnb", double_quantization=plan.double_quantization)


def _put_precision(draft: Draft, plan: Plan) -> None:
    name = _PRECISIONS.get(plan.precision)
    draft.miss("precision", plan.precision == "fp16" or (plan.precision == "fp32" and not plan.is_full))
    draft.put(**({"bf16": False, "fp16": False} if name is None else {name: True}))


def _put_parallelism(draft: Draft, plan: Plan) -> None:
    """Whether there are several processes is told to the command, not to the file."""
    if plan.parallelism == "fsdp":
        draft.put(fsdp=fsdp_words(draft, plan))
    else:
        put_deepspeed(draft, plan, _DEEPSPEED)
        draft.miss("parallelism", plan.parallelism == "ddp" or (plan.parallelism == "none" and plan.gpus > 1))


def _command(plan: Plan) -> str:
    return f"{torchrun(plan)}llamafactory-cli train llama-factory.yaml"


LLAMA_FACTORY = Trainer(
    id="llama-factory",
    name="LLaMA-Factory",
    filename="llama-factory.yaml",
    media_type="application/yaml",
    marks=frozenset(
        """
        finetuning_type stage template dataset_dir cutoff_len lora_rank lora_target quantization_bit
        double_quantization quantization_method flash_attn pure_bf16 disable_gradient_checkpointing
        enable_liger_kernel neat_packing max_samples
""".split()
    ),
    ignored=IGNORED
    | FSDP_IGNORED
    | frozenset(
        """
        dataset dataset_dir template eval_dataset val_size eval_strategy eval_steps per_device_eval_batch_size
        plot_loss preprocessing_num_workers preprocessing_batch_size overwrite_cache tokenized_path train_on_prompt
        mask_history media_dir streaming buffer_size mix_strategy interleave_probs ignore_pad_token_for_loss
        tool_format quantization_type use_fast_tokenizer split_special_tokens low_cpu_mem_usage print_param_status
        hf_hub_token ms_hub_token om_hub_token use_swanlab swanlab_project swanlab_workspace swanlab_run_name
        swanlab_mode swanlab_api_key enable_thinking include_effective_tokens_per_second loraplus_lr_ratio
        compute_accuracy predict_with_generate create_new_adapter disable_shuffling image_max_pixels
        image_min_pixels video_max_pixels video_min_pixels
""".split()
    ),
    cannot_say=(
        "gpu_count",
        "gpus_per_node",
        "weights_dtype",
        "lora.adapter_dtype",
        "optimizer_state_dtype",
        "keeps_outputs",
    ),
    read=_read,
    draft=_draft,
    command=_command,
)
