"""ms-swift's command line, for ``swift sft``."""

import math
import re

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
from app.planning.trainers.model_names import config_of, longest_tokens_of
from app.planning.trainers.parallelism import FSDP_IGNORED, read_parallelism
from app.planning.trainers.reading import Reading
from app.planning.trainers.trainer import Trainer
from app.planning.trainers.words import ATTENTION_NAMES, ATTENTIONS, DTYPE_NAMES, DTYPES, dtype_of
from app.planning.trainers.writing import fsdp_words, put_deepspeed, put_learning, put_optimizer, weights_held

USUAL_DROPOUT = 0.05
USUAL_EPOCHS = 3.0
# Without accumulation given, ms-swift accumulates up to this many samples a step.
USUAL_TOTAL_BATCH = 16

_SAMPLES = re.compile(r"#(\d{1,15})$")
_DEEPSPEED = {
    ("zero1", "none"): "zero1",
    ("zero2", "none"): "zero2",
    ("zero2", "optimizer"): "zero2_offload",
    ("zero3", "none"): "zero3",
    ("zero3", "all"): "zero3_offload",
}


def _read(reading: Reading) -> None:
    reading.read_model("model")
    _read_stage(reading)
    _read_method(reading)
    _read_length(reading)
    read_parallelism(reading)
    _read_batch(reading)
    read_optimizer(reading)
    read_clipping(reading)
    reading.put_or_default("gradient_checkpointing", reading.flag("gradient_checkpointing"), True)
    reading.put("attention", reading.choose(ATTENTIONS, "attn_impl"))
    reading.put("packing", reading.flag("packing"))
    reading.put("fused_loss", reading.flag("use_liger_kernel"))
    _read_precision(reading)
    read_amount(reading, "num_train_epochs", USUAL_EPOCHS)
    _read_samples(reading)


def _read_stage(reading: Reading) -> None:
    kind = reading.word("rlhf_type")
    if kind is not None or " rlhf" in reading.script:
        reading.refuse("rlhf_type", other_than_tuning(kind or "rlhf"))
    if reading.word("task_type") not in (None, "causal_lm"):
        reading.refuse("task_type")


def _read_method(reading: Reading) -> None:
    kind = reading.word("train_type", "tuner_type")
    bits = reading.whole("quant_bits", high=64)
    if kind not in (None, "lora", "full"):
        reading.refuse("train_type" if "train_type" in reading.values else "tuner_type")
    elif bits is not None and (kind == "full" or not _is_nf4(reading, bits)):
        reading.refuse("quant_bits")
    elif bits is not None:
        reading.put("method", "qlora")
        reading.put("qlora.double_quantization", reading.flag("bnb_4bit_use_double_quant"))
    else:
        reading.put_or_default("method", kind, "lora")
    if kind in (None, "lora"):
        _read_lora(reading)


def _is_nf4(reading: Reading, bits: int) -> bool:
    kind = reading.word("bnb_4bit_quant_type") or "nf4"
    return bits == 4 and (reading.word("quant_method") or "bnb") == "bnb" and kind == "nf4"


def _read_lora(reading: Reading) -> None:
    read_rank(reading, "lora_rank")
    read_targets(reading, "target_modules")
    read_dropout(reading, "lora_dropout", USUAL_DROPOUT)
    dtype = reading.choose(DTYPES, "lora_dtype")
    reading.put("lora.adapter_dtype", dtype and ("fp32" if dtype == "fp32" else "base"))


def _read_length(reading: Reading) -> None:
    usual = longest_tokens_of(reading.model_id)
    read_length(reading, "max_length", default=usual)
    if "sequence_length" not in reading.fields:
        told = Message("The file gives no length; the trainer takes the longest that the model allows.")
        reading.notes.append(told)


def _read_batch(reading: Reading) -> None:
    read_batch(reading, 1)
    each = reading.fields["micro_batch_size"] * reading.fields.get("gpu_count", 1)
    if "gradient_accumulation_steps" not in reading.fields | dict.fromkeys(reading.unknown):
        reading.put_or_default("gradient_accumulation_steps", None, math.ceil(USUAL_TOTAL_BATCH / each))


def _read_precision(reading: Reading) -> None:
    """The weights' type decides about autocast, unless that is said too."""
    dtype, bf16, fp16 = reading.choose(DTYPES, "torch_dtype"), reading.flag("bf16"), reading.flag("fp16")
    flagged = "bf16" if bf16 else "fp16" if fp16 else None
    weights = dtype or flagged or _own_dtype(reading) or "bf16"
    if bf16 is None and fp16 is None:
        flagged = "bf16" if weights == "bf16" else "fp16"
    said = bool(dtype) or bf16 is not None or fp16 is not None
    put_precision(reading, f"{flagged}-mixed" if flagged else weights, weights, said=said)


def _own_dtype(reading: Reading) -> str | None:
    config = config_of(reading.model_id)
    return dtype_of(str(config.get("torch_dtype") or config.get("dtype")))


def _read_samples(reading: Reading) -> None:
    """``data#500`` takes 500 samples of a data set."""
    found = reading.values.get("dataset")
    names = found if isinstance(found, list) else [found]
    counts = [_SAMPLES.search(str(name)) for name in names]
    total = sum(int(count[1]) for count in counts if count)
    if all(counts) and 1 <= total <= LARGEST_WORKLOAD and "samples" not in reading.fields.get("workload", {}):
        reading.put("workload.samples", total)


def _draft(plan: Plan) -> Draft:
    draft = Draft(unsaid=list(plan.unsaid))
    draft.note(Message("Put your own data set where PATH/TO/DATASET.jsonl stands."))
    draft.put(model=plan.model, use_hf=True, dataset="PATH/TO/DATASET.jsonl")
    _put_method(draft, plan)
    _put_precision(draft, plan)
    put_learning(draft, plan)
    draft.put(per_device_train_batch_size=plan.batch, gradient_accumulation_steps=plan.accumulation)
    draft.put(max_length=plan.length, num_train_epochs=plan.epochs, max_grad_norm=plan.max_grad_norm)
    put_optimizer(draft, plan)
    draft.put(gradient_checkpointing=plan.checkpointing, attn_impl=ATTENTION_NAMES[plan.attention])
    draft.put(packing=plan.packing, use_liger_kernel=plan.fused_loss)
    _put_parallelism(draft, plan)
    draft.put(output_dir="output", save_strategy="epoch", logging_steps=10, report_to="none")
    return draft


def _put_method(draft: Draft, plan: Plan) -> None:
    draft.put(train_type="full" if plan.is_full else "lora")
    if plan.is_full:
        return
    targets = [ALL_LINEAR] if plan.targets == ALL_LINEAR else list(plan.targets)
    draft.put(lora_rank=plan.rank, lora_dropout=plan.dropout, target_modules=targets)
    if plan.method == "qlora":
        draft.put(quant_method="bnb", quant_bits=4, bnb_4bit_use_double_quant=plan.double_quantization)
    if plan.adapter_dtype == "base":
        held = weights_held(draft, plan)
        draft.put(lora_dtype=DTYPE_NAMES[held])
        draft.miss("lora.adapter_dtype", held == "fp32")


def _put_precision(draft: Draft, plan: Plan) -> None:
    draft.put(torch_dtype=DTYPE_NAMES[weights_held(draft, plan)])
    draft.put(bf16=plan.precision == "bf16-mixed", fp16=plan.precision == "fp16-mixed")


def _put_parallelism(draft: Draft, plan: Plan) -> None:
    """Several processes without anything else are DDP."""
    if plan.parallelism == "fsdp":
        draft.put(fsdp=fsdp_words(draft, plan))
    else:
        put_deepspeed(draft, plan, _DEEPSPEED)
        draft.miss(
            "parallelism",
            (plan.parallelism == "ddp") != (plan.gpus > 1) and plan.parallelism in ("none", "ddp"),
        )


def _command(_plan: Plan) -> str:
    return "bash ms-swift.sh"


MS_SWIFT = Trainer(
    id="ms-swift",
    name="ms-swift",
    filename="ms-swift.sh",
    media_type="text/x-shellscript",
    marks=frozenset(
        """
        model train_type tuner_type attn_impl target_modules target_regex quant_bits quant_method lora_rank
        lora_dtype use_hf truncation_strategy split_dataset_ratio bnb_4bit_use_double_quant
""".split()
    ),
    ignored=IGNORED
    | FSDP_IGNORED
    | frozenset(
        """
        dataset val_dataset split_dataset_ratio use_hf model_type template system model_author model_name
        dataset_num_proc load_from_cache_file dataset_shuffle val_dataset_shuffle eval_strategy eval_steps
        per_device_eval_batch_size truncation_strategy loss_scale quant_method bnb_4bit_compute_dtype
        bnb_4bit_quant_type bnb_4bit_use_double_quant train_dataloader_shuffle tuner_backend
        custom_register_path external_plugins streaming shuffle_buffer_size interleave_prob stopping_strategy
        download_mode columns strict agent_template norm_bbox use_chat_template padding_side response_prefix
        max_new_tokens temperature top_k top_p add_version create_checkpoint_symlink check_model ignore_args_error
        load_args lora_bias custom_dataset_info predict_with_generate acc_strategy
""".split()
    ),
    cannot_say=("optimizer_state_dtype", "keeps_outputs"),
    read=_read,
    draft=_draft,
    command=_command,
)
