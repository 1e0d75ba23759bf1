"""TRL's YAML for ``trl sft``, and the arguments of any script with Transformers' Trainer."""

from app.i18n import Message
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
    read_batch,
    read_clipping,
    read_length,
    read_optimizer,
)
from app.planning.trainers.model_names import config_of
from app.planning.trainers.parallelism import FSDP_IGNORED, read_parallelism
from app.planning.trainers.reading import Reading
from app.planning.trainers.trainer import Trainer
from app.planning.trainers.words import ATTENTION_NAMES, ATTENTIONS, DTYPE_NAMES, DTYPES, dtype_of
from app.planning.trainers.writing import put_learning, put_optimizer, weights_held

USUAL_LENGTH = 1024
USUAL_BATCH = 8
USUAL_RANK = 16
USUAL_DROPOUT = 0.05
USUAL_EPOCHS = 3.0

# Any of these shows SFTConfig or ModelConfig, whose defaults are not those of TrainingArguments.
_SFT_KEYS = frozenset(
    """
    use_peft lora_r lora_target_modules load_in_4bit load_in_8bit use_bnb_nested_quant attn_implementation
    max_length max_seq_length packing dataset_text_field assistant_only_loss completion_only_loss dataset_name
    accelerate_config loss_type padding_free
""".split()
)
_LOSSES = {"chunked_nll": "fused", "nll": "whole"}
_ACCELERATE = {"none": "single_gpu", "ddp": "multi_gpu", "fsdp": "fsdp2"}


def _read(reading: Reading) -> None:
    is_sft = _is_sft(reading)
    reading.read_model("model_name_or_path")
    _read_method(reading, is_sft)
    read_length(
        reading, "max_length", "max_seq_length", "block_size", default=USUAL_LENGTH if is_sft else None
    )
    read_batch(reading, USUAL_BATCH)
    read_optimizer(reading)
    read_clipping(reading)
    checkpointing = reading.flag("gradient_checkpointing", "fsdp_config.activation_checkpointing")
    reading.put_or_default("gradient_checkpointing", checkpointing, True if is_sft else None)
    _read_savings(reading)
    _read_precision(reading, is_sft)
    read_parallelism(reading)
    read_amount(reading, "num_train_epochs", USUAL_EPOCHS)


def _is_sft(reading: Reading) -> bool:
    command = reading.script.split()
    if command[:1] == ["trl"] and command[1:2] != ["sft"]:
        reading.notes.append(other_than_tuning(" ".join(command[1:2])))
    return "sft" in reading.script.lower() or not _SFT_KEYS.isdisjoint(reading.values)


def _read_method(reading: Reading, is_sft: bool) -> None:
    """A script of one's own may adapt without saying so: only TRL's files tell that everything is trained."""
    adapts = reading.flag("use_peft")
    in_4bit, in_8bit = reading.flag("load_in_4bit"), reading.flag("load_in_8bit")
    if in_8bit or (in_4bit and not adapts):
        reading.refuse("load_in_8bit" if in_8bit else "load_in_4bit")
    elif adapts:
        reading.put("method", "qlora" if in_4bit else "lora")
    elif adapts is False or is_sft:
        reading.put_or_default("method", None if adapts is None else "full", "full")
    if adapts:
        _read_lora(reading)


def _read_lora(reading: Reading) -> None:
    read_rank(reading, "lora_r", USUAL_RANK)
    read_dropout(reading, "lora_dropout", USUAL_DROPOUT)
    if not read_targets(reading, "lora_target_modules"):
        take_peft_targets(reading)
    double = reading.flag("use_bnb_nested_quant")
    kind = reading.word("bnb_4bit_quant_type")
    if reading.fields.get("method") != "qlora":
        return
    if kind not in (None, "nf4"):
        reading.refuse("bnb_4bit_quant_type")
    reading.put_or_default("qlora.double_quantization", double, False)


def _read_savings(reading: Reading) -> None:
    """The loss is fused by Liger's kernels, or computed in chunks by TRL itself."""
    reading.put("attention", reading.choose(ATTENTIONS, "attn_implementation"))
    if reading.flag("use_flash_attention_2"):
        reading.put("attention", "flash")
    reading.put("packing", reading.flag("packing"))
    liger = reading.flag("use_liger_kernel", "use_liger")
    loss = reading.choose(_LOSSES, "loss_type")
    if liger is not None or loss is not None:
        reading.put("fused_loss", bool(liger) or loss == "fused")


def _read_precision(reading: Reading, is_sft: bool) -> None:
    bf16, fp16, launched = reading.flag("bf16"), reading.flag("fp16"), reading.word("mixed_precision")
    weights = _weights(reading)
    if bf16 is None and fp16 is None and launched in ("bf16", "fp16"):
        bf16, fp16 = launched == "bf16", launched == "fp16"
    said = bf16 is not None or fp16 is not None
    if bf16 is None and is_sft:
        bf16 = not fp16
    autocast = "bf16" if bf16 else "fp16" if fp16 else None
    put_precision(reading, f"{autocast}-mixed" if autocast else weights or "fp32", weights, said=said)


def _weights(reading: Reading) -> str | None:
    """``auto`` is the type that the model was published in; without a word it is fp32."""
    word = reading.word("torch_dtype", "dtype")
    if word == "auto":
        config = config_of(reading.model_id)
        return dtype_of(str(config.get("torch_dtype") or config.get("dtype")))
    return reading.choose(DTYPES, "torch_dtype", "dtype") if word is not None else "fp32"


def _draft(plan: Plan) -> Draft:
    draft = Draft(unsaid=list(plan.unsaid))
    draft.put(model_name_or_path=plan.model, dtype=DTYPE_NAMES[weights_held(draft, plan)])
    draft.put(attn_implementation=ATTENTION_NAMES[plan.attention])
    draft.note(Message("Put your own data set where PATH/TO/DATASET stands."))
    draft.put(dataset_name="PATH/TO/DATASET", max_length=plan.length, packing=plan.packing)
    _put_method(draft, plan)
    put_learning(draft, plan)
    draft.put(per_device_train_batch_size=plan.batch, gradient_accumulation_steps=plan.accumulation)
    draft.put(num_train_epochs=plan.epochs, max_grad_norm=plan.max_grad_norm)
    put_optimizer(draft, plan)
    draft.put(bf16=plan.precision == "bf16-mixed", fp16=plan.precision == "fp16-mixed")
    draft.put(gradient_checkpointing=plan.checkpointing)
    draft.put(**({"use_liger_kernel": True} if plan.fused_loss else {"loss_type": "nll"}))
    draft.put(output_dir="output", save_strategy="epoch", logging_steps=10, report_to="none")
    _put_parallelism(draft, plan)
    return draft


def _put_method(draft: Draft, plan: Plan) -> None:
    draft.put(use_peft=not plan.is_full)
    if plan.is_full:
        return
    targets = [ALL_LINEAR] if plan.targets == ALL_LINEAR else list(plan.targets)
    draft.put(
        lora_r=plan.rank, lora_alpha=2 * plan.rank, lora_dropout=plan.dropout, lora_target_modules=targets
    )
    if plan.method == "qlora":
        draft.put(load_in_4bit=True, bnb_4bit_quant_type="nf4", use_bnb_nested_quant=plan.double_quantization)


def _put_parallelism(draft: Draft, plan: Plan) -> None:
    """By the configurations for Accelerate that TRL brings."""
    is_split = plan.parallelism == "none" and plan.gpus > 1
    draft.miss("parallelism", is_split)
    draft.miss("offload", plan.offload != "none")
    name = "multi_gpu" if is_split else _ACCELERATE.get(plan.parallelism, plan.parallelism)
    draft.put(accelerate_config=name, num_processes=plan.gpus)
    if plan.nodes > 1:
        draft.put(num_machines=plan.nodes)


def _command(_plan: Plan) -> str:
    return "trl sft --config trl.yaml"


TRL = Trainer(
    id="trl",
    name="TRL",
    filename="trl.yaml",
    media_type="application/yaml",
    marks=_SFT_KEYS
    | frozenset(
        "model_name_or_path per_device_train_batch_size num_train_epochs max_steps optim fsdp deepspeed".split()
    )
    - {"dataset_name", "max_length", "packing", "load_in_4bit", "load_in_8bit"},
    ignored=IGNORED
    | FSDP_IGNORED
    | frozenset(
        """
        dataset_name dataset_config dataset_train_split dataset_test_split dataset_streaming dataset_text_field
        dataset_num_proc dataset_kwargs datasets eval_strategy evaluation_strategy eval_steps eval_packing do_eval
        do_predict per_device_eval_batch_size eval_accumulation_steps eval_on_start chat_template_path eos_token
        pad_token truncation_mode shuffle_dataset packing_strategy completion_only_loss assistant_only_loss
        lora_task_type train_file validation_file validation_split_percentage preprocessing_num_workers config_name
        tokenizer_name use_fast_tokenizer overwrite_cache token log_to group_by_length env model_code_revision
        num_cpu_threads_per_process zero3_save_16bit_model zero3_init_flag deepspeed_multinode_launcher rdzv_conf
        bnb_4bit_quant_type bnb_4bit_compute_dtype max_train_samples
""".split()
    )
    - {"group_by_length", "max_train_samples"},
    cannot_say=("lora.adapter_dtype", "optimizer_state_dtype", "keeps_outputs"),
    read=_read,
    draft=_draft,
    command=_command,
)
