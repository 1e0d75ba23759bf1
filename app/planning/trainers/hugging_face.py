"""What LLaMA-Factory, ms-swift and TRL have from Transformers' ``TrainingArguments``, and Axolotl under other names."""

from app.i18n import Message
from app.planning.inputs import LARGEST_BATCH, LARGEST_WORKLOAD, LONGEST_SEQUENCE
from app.planning.trainers.reading import Reading
from app.planning.trainers.words import OPTIMIZERS, usual_weights

USUAL_OPTIMIZER = "adamw_fused"
USUAL_CLIPPING = 1.0
LARGEST_NORM = 10**9
MOST_EPOCHS = 100_000

# Keys of TrainingArguments and of the trainers that change neither memory nor time nor money in a way we count.
IGNORED = frozenset(
    """
    output_dir overwrite_output_dir logging_dir logging_steps logging_strategy logging_first_step
    logging_nan_inf_filter log_level log_level_replica log_on_each_node report_to run_name seed data_seed project
    trackio_space_id learning_rate lr_scheduler_type lr_scheduler_kwargs warmup_ratio warmup_steps weight_decay
    adam_beta1 adam_beta2 adam_epsilon label_smoothing_factor neftune_noise_alpha save_steps save_strategy
    save_total_limit save_safetensors save_only_model save_on_each_node resume_from_checkpoint
    restore_callback_states_from_checkpoint load_best_model_at_end metric_for_best_model greater_is_better
    dataloader_num_workers dataloader_pin_memory dataloader_drop_last dataloader_persistent_workers
    dataloader_prefetch_factor ddp_timeout ddp_backend ddp_find_unused_parameters ddp_bucket_cap_mb
    ddp_broadcast_buffers push_to_hub hub_model_id hub_strategy hub_token hub_private_repo hub_always_push
    hub_revision disable_tqdm remove_unused_columns label_names full_determinism do_train
    include_num_input_tokens_seen include_tokens_per_second skip_memory_metrics log_completions trust_remote_code
    cache_dir local_rank length_column_name ignore_data_skip average_tokens_across_devices main_process_port
    main_process_ip machine_rank node_rank master_addr master_port rdzv_backend rdzv_endpoint rdzv_id standalone
    gradient_checkpointing_kwargs dynamo_backend same_network lora_alpha use_rslora model_revision
""".split()
)


def read_batch(reading: Reading, default: int) -> None:
    """The micro-batch and how many of them make a step."""
    batch = reading.whole("per_device_train_batch_size", "per_gpu_train_batch_size", high=LARGEST_BATCH)
    reading.put_or_default("micro_batch_size", batch, default)
    reading.put(
        "gradient_accumulation_steps", reading.whole("gradient_accumulation_steps", high=LARGEST_BATCH)
    )


def read_length(reading: Reading, *keys: str, default: int | None) -> None:
    """The longest sequence."""
    reading.put_or_default("sequence_length", reading.whole(*keys, high=LONGEST_SEQUENCE), default)


def read_optimizer(reading: Reading, key: str = "optim") -> None:
    """The optimizer; one that we do not know is not replaced by the usual one."""
    optimizer = reading.choose(OPTIMIZERS, key)
    refused = key in reading.unknown
    reading.put_or_default("optimizer", optimizer, None if refused else USUAL_OPTIMIZER)


def read_clipping(reading: Reading) -> None:
    """Gradient clipping; zero means none."""
    norm = reading.number("max_grad_norm", high=LARGEST_NORM)
    if norm != 0:
        reading.put_or_default("max_grad_norm", norm, USUAL_CLIPPING)


def put_precision(reading: Reading, precision: str, weights: str | None, *, said: bool = True) -> None:
    """``weights`` where they are not what an estimate holds them in anyway; a quantised base has no type."""
    method = reading.fields.get("method")
    reading.put_or_default("precision", precision if said else None, precision)
    if method in ("full", "lora") and weights is not None and weights != usual_weights(method, precision):
        reading.put_or_default("weights_dtype", weights if said else None, weights)


def read_amount(reading: Reading, epochs_key: str, default_epochs: float) -> None:
    """Epochs, or the samples of a number of steps. Comes after the batch and the number of GPUs."""
    epochs = reading.number(epochs_key, high=MOST_EPOCHS)
    steps = reading.number("max_steps", low=-1, high=LARGEST_WORKLOAD)
    if steps is not None and steps > 0:
        _read_steps(reading, int(steps))
    elif epochs != 0:
        reading.put_or_default("workload.epochs", epochs, default_epochs)


def _read_steps(reading: Reading, steps: int) -> None:
    fields = reading.fields
    gpu_count = fields.get("gpu_count")
    samples = (
        steps
        * fields.get("micro_batch_size", 1)
        * fields.get("gradient_accumulation_steps", 1)
        * (gpu_count or 1)
    )
    if gpu_count is not None and samples <= LARGEST_WORKLOAD:
        fields["workload"] = {"samples": samples, "epochs": 1.0}
        return
    told = Message(
        "The file asks for %(steps)s steps; how many samples they are, the number of GPUs decides.",
        steps=steps,
    )
    reading.refuse("max_steps", told)
