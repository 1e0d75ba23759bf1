"""The files of LLaMA-Factory, ms-swift, Axolotl and TRL, read and written."""

import json
import subprocess
from typing import Any, get_args

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.errors import InvalidInput
from app.estimator.recipe import Attention, Method, Offload, Optimizer, Parallelism, Precision
from app.i18n import translate
from app.planning.inputs import EstimateInput
from app.planning.jobs import prepare
from app.planning.trainers import TRAINERS, TrainerRecipe, read_trainer_file, write_trainer_file
from app.planning.trainers.draft import plan_of
from app.planning.trainers.recognise import ALL
from app.planning.trainers.shell import training_command

LLAMA_FACTORY = """
### model
model_name_or_path: Qwen/Qwen2.5-7B
trust_remote_code: true

### method
stage: sft
do_train: true
finetuning_type: lora
lora_rank: 16
lora_target: q_proj,v_proj
lora_dropout: 0.1
quantization_bit: 4
double_quantization: false

### dataset
dataset: identity
template: qwen
cutoff_len: 4096
max_samples: 1000
overwrite_cache: true
preprocessing_num_workers: 16

### output
output_dir: saves/qwen/lora/sft
logging_steps: 10
save_steps: 500
plot_loss: true

### train
per_device_train_batch_size: 2
gradient_accumulation_steps: 8
learning_rate: 1.0e-4
num_train_epochs: 2.0
lr_scheduler_type: cosine
warmup_ratio: 0.1
bf16: true
optim: paged_adamw_8bit
flash_attn: fa2
enable_liger_kernel: true
neat_packing: true
deepspeed: examples/deepspeed/ds_z3_offload_config.json
use_galore: true
"""

MS_SWIFT = r"""
# 22GiB
export CUDA_VISIBLE_DEVICES=0,1
nproc_per_node=2
MODEL="Qwen/Qwen2.5-7B"
NPROC_PER_NODE=$nproc_per_node \
swift sft \
    --model "$MODEL" \
    --train_type lora \
    --torch_dtype bfloat16 \
    --dataset 'AI-ModelScope/alpaca-gpt4-data-zh#500' \
              swift/self-cognition#500 \
    --num_train_epochs 1 \
    --per_device_train_batch_size 1 \
    --lora_rank 8 \
    --lora_alpha 32 \
    --target_modules all-linear \
    --gradient_accumulation_steps $(expr 16 / $nproc_per_node) \
    --attn_impl flash_attn \
    --max_length=2048 \
    --deepspeed zero2_offload \
    --sequence_parallel_size 2 \
    --output_dir output
"""

AXOLOTL = """
base_model: NousResearch/Llama-3.2-1B
load_in_8bit: false
load_in_4bit: true
datasets:
  - path: teknium/GPT4-LLM-Cleaned
    type: alpaca
val_set_size: 0.1
output_dir: ./outputs/qlora-out
adapter: qlora
lora_r: 32
lora_alpha: 16
lora_dropout: 0.05
lora_target_linear: true
sequence_len: 2048
sample_packing: true
pad_to_sequence_len: true
wandb_project:
gradient_accumulation_steps: 4
micro_batch_size: 2
num_epochs: 1
optimizer: adamw_bnb_8bit
lr_scheduler: cosine
learning_rate: 2e-4
bf16: auto
tf32: false
gradient_checkpointing: true
flash_attention: true
warmup_ratio: 0.1
special_tokens:
  pad_token: "<|end_of_text|>"
fsdp_config:
  fsdp_offload_params: true
  fsdp_state_dict_type: FULL_STATE_DICT
"""

TRL = """
model_name_or_path: Qwen/Qwen2.5-0.5B
dataset_name: trl-lib/Capybara
learning_rate: 2.0e-4
max_steps: 100
per_device_train_batch_size: 2
gradient_accumulation_steps: 8
eos_token: "<|im_end|>"
use_peft: true
load_in_4bit: true
num_processes: 4
accelerate_config: zero3
output_dir: out
"""

TORCHRUN = r"""
torchrun --nnodes 2 --nproc_per_node=4 train.py \
    --model_name_or_path /data/models/llama-2-7b-hf/ \
    --per_device_train_batch_size 4 --bf16 True --optim adamw_torch \
    --fsdp "full_shard auto_wrap" --num_train_epochs 3 --tf32 False
"""


def read(text: str, filename: str = "") -> TrainerRecipe:
    return read_trainer_file(text, filename)


def read_fields(text: str) -> dict[str, Any]:
    return read(text).fields


def refusal_of(text: str, filename: str = "") -> tuple[str, str]:
    with pytest.raises(InvalidInput) as refused:
        read_trainer_file(text, filename)
    (error,) = refused.value.errors
    return error.field, translate(error.message, "en")


def told(recipe: TrainerRecipe) -> list[str]:
    return [translate(note, "en") for note in recipe.notes]


def test_a_file_of_llama_factory() -> None:
    recipe = read(LLAMA_FACTORY, "sft.yaml")
    assert recipe.trainer == "llama-factory"
    assert recipe.model_name == "Qwen/Qwen2.5-7B"
    assert recipe.fields == {
        "model": "qwen2.5-7b",
        "method": "qlora",
        "qlora": {"double_quantization": False},
        "lora": {"rank": 16, "target_modules": ["q_proj", "v_proj"], "dropout": 0.1},
        "precision": "bf16-mixed",
        "optimizer": "paged_adamw_8bit",
        "micro_batch_size": 2,
        "gradient_accumulation_steps": 8,
        "sequence_length": 4096,
        "gradient_checkpointing": True,
        "attention": "flash",
        "max_grad_norm": 1.0,
        "packing": True,
        "fused_loss": True,
        "parallelism": "zero3",
        "offload": "all",
        "workload": {"epochs": 2.0, "samples": 1000},
    }
    assert recipe.defaults == (("max_grad_norm", 1.0), ("gradient_checkpointing", True))
    assert recipe.unknown == ("use_galore",)
    assert {"output_dir", "logging_steps", "learning_rate", "template"} <= set(recipe.ignored)
    assert recipe.notes == ()


def test_what_llama_factory_takes_by_itself() -> None:
    recipe = read("model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: full\n")
    assert dict(recipe.defaults) == {
        "sequence_length": 2048,
        "micro_batch_size": 8,
        "optimizer": "adamw_fused",
        "max_grad_norm": 1.0,
        "gradient_checkpointing": True,
        "precision": "fp32",
        "workload.epochs": 3.0,
    }
    assert recipe.fields["workload"] == {"epochs": 3.0}


def test_a_script_of_ms_swift() -> None:
    recipe = read(MS_SWIFT, "train.sh")
    assert recipe.trainer == "ms-swift"
    assert recipe.fields == {
        "model": "qwen2.5-7b",
        "method": "lora",
        "lora": {"rank": 8, "target_modules": "all-linear", "dropout": 0.05},
        "precision": "bf16-mixed",
        "optimizer": "adamw_fused",
        "micro_batch_size": 1,
        "sequence_length": 2048,
        "gradient_checkpointing": True,
        "attention": "flash",
        "max_grad_norm": 1.0,
        "gpu_count": 2,
        "parallelism": "zero2",
        "offload": "optimizer",
        "workload": {"epochs": 1.0, "samples": 1000},
    }
    assert recipe.unknown == ("gradient_accumulation_steps", "sequence_parallel_size")
    assert told(recipe) == ["gradient_accumulation_steps is filled in elsewhere; its value is not known."]


def test_ms_swift_accumulates_to_sixteen_samples() -> None:
    script = "NPROC_PER_NODE=3 swift sft --model Qwen/Qwen2.5-7B --per_device_train_batch_size 2"
    recipe = read(script)
    # 16 / (2 samples × 3 GPUs), rounded up; the length is the model's own.
    assert recipe.fields["gradient_accumulation_steps"] == 3
    assert recipe.fields["sequence_length"] == 131072
    assert recipe.fields["parallelism"] == "ddp"
    assert ("gradient_accumulation_steps", 3) in recipe.defaults


@pytest.mark.parametrize(
    ("said", "precision", "weights"),
    [
        ("train_type: full\ntorch_dtype: bfloat16", "bf16-mixed", "bf16"),
        ("train_type: full\ntorch_dtype: float32\nbf16: true", "bf16-mixed", None),
        ("train_type: full\ntorch_dtype: float32", "fp16-mixed", None),
        ("train_type: lora\ntorch_dtype: float32\nbf16: true", "bf16-mixed", "fp32"),
        ("train_type: lora\ntorch_dtype: bfloat16\nbf16: false", "bf16", None),
        ("train_type: lora", "bf16-mixed", None),
    ],
)
def test_precision_of_ms_swift(said: str, precision: str, weights: str | None) -> None:
    fields = read_fields(f"model: Qwen/Qwen2.5-7B\n{said}\n")
    assert (fields["precision"], fields.get("weights_dtype")) == (precision, weights)


def test_a_file_of_axolotl() -> None:
    recipe = read(AXOLOTL, "qlora.yml")
    assert recipe.trainer == "axolotl"
    assert recipe.fields == {
        "model": "llama-3.2-1b",
        "method": "qlora",
        "lora": {"rank": 32, "target_modules": "all-linear", "dropout": 0.05},
        "precision": "bf16-mixed",
        "optimizer": "adamw_8bit",
        "micro_batch_size": 2,
        "gradient_accumulation_steps": 4,
        "sequence_length": 2048,
        "gradient_checkpointing": True,
        "attention": "flash",
        "max_grad_norm": 1.0,
        "packing": True,
        "parallelism": "fsdp",
        "offload": "all",
        "workload": {"epochs": 1.0},
    }
    assert recipe.defaults == (("max_grad_norm", 1.0),)
    assert recipe.unknown == ()


@pytest.mark.parametrize(
    ("said", "precision", "weights"),
    [
        ("bf16: true", "bf16-mixed", "bf16"),
        ("bf16: full", "bf16", None),
        ("bfloat16: true", "bf16", None),
        ("bf16: false\nfp16: true", "fp16-mixed", "fp16"),
        ("fp16: true", "fp16-mixed", "fp16"),
        ("float16: true", "fp16", None),
        ("bf16: false", "fp32", None),
        ("", "bf16-mixed", "bf16"),
    ],
)
def test_precision_of_axolotl(said: str, precision: str, weights: str | None) -> None:
    fields = read_fields(f"base_model: Qwen/Qwen2.5-7B\n{said}\n")
    assert (fields["precision"], fields.get("weights_dtype")) == (precision, weights)


def test_a_file_of_trl() -> None:
    recipe = read(TRL, "sft_config.yaml")
    assert recipe.trainer == "trl"
    assert recipe.fields == {
        "model": "qwen2.5-0.5b",
        "method": "qlora",
        "qlora": {"double_quantization": False},
        "lora": {"rank": 16, "dropout": 0.05, "target_modules": ["q_proj", "v_proj"]},
        "precision": "bf16-mixed",
        "optimizer": "adamw_fused",
        "micro_batch_size": 2,
        "gradient_accumulation_steps": 8,
        "sequence_length": 1024,
        "gradient_checkpointing": True,
        "max_grad_norm": 1.0,
        "gpu_count": 4,
        "parallelism": "zero3",
        # 100 steps of 2 samples, 8 times, on 4 GPUs.
        "workload": {"samples": 6400, "epochs": 1.0},
    }
    assert dict(recipe.defaults) == {
        "lora.rank": 16,
        "lora.dropout": 0.05,
        "lora.target_modules": ["q_proj", "v_proj"],
        "qlora.double_quantization": False,
        "sequence_length": 1024,
        "optimizer": "adamw_fused",
        "max_grad_norm": 1.0,
        "gradient_checkpointing": True,
        "precision": "bf16-mixed",
    }
    assert recipe.unknown == ()


def test_a_script_with_transformers_trainer() -> None:
    recipe = read(TORCHRUN)
    assert recipe.trainer == "trl"
    # A script of one's own may adapt without saying so: the method is not guessed.
    assert recipe.fields == {
        "model": "llama-2-7b",
        "precision": "bf16-mixed",
        "optimizer": "adamw",
        "micro_batch_size": 4,
        "max_grad_norm": 1.0,
        "gpu_count": 8,
        "gpus_per_node": 4,
        "parallelism": "fsdp",
        "workload": {"epochs": 3.0},
    }
    assert recipe.defaults == (("max_grad_norm", 1.0),)


@pytest.mark.parametrize(
    ("command", "trainer"),
    [
        ("trl sft --model_name_or_path gpt2 --use_peft", "trl"),
        (
            "accelerate launch --num_processes 2 --config_file zero2.yaml sft.py --model_name_or_path gpt2",
            None,
        ),
        ("accelerate launch --num_processes 2 sft.py --model_name_or_path gpt2", "trl"),
        ("FORCE_TORCHRUN=1 llamafactory-cli train --model_name_or_path gpt2 --stage sft", "llama-factory"),
        (
            "torchrun src/train.py --model_name_or_path gpt2 --finetuning_type lora --cutoff_len 99",
            "llama-factory",
        ),
        ("nohup swift sft --model gpt2 > log.txt 2>&1 &", "ms-swift"),
    ],
)
def test_commands_that_start_a_training(command: str, trainer: str | None) -> None:
    if trainer is None:
        command = command.replace("zero2.yaml", "zero2_config")
        assert read(command).fields["parallelism"] == "zero2"
    else:
        assert read(command).trainer == trainer


def test_json_is_read_too() -> None:
    written = json.dumps(yaml.safe_load(LLAMA_FACTORY))
    assert read(written, "args.json") == read(LLAMA_FACTORY)


@pytest.mark.parametrize(
    ("text", "unknown", "field"),
    [
        ("model_name_or_path: gpt2\nfinetuning_type: freeze\n", "finetuning_type", "method"),
        (
            "model_name_or_path: gpt2\nfinetuning_type: lora\nquantization_bit: 8\n",
            "quantization_bit",
            "method",
        ),
        ("model_name_or_path: gpt2\nstage: sft\noptim: galore_adamw\n", "optim", "optimizer"),
        ("model: gpt2\ntrain_type: adalora\n", "train_type", "method"),
        ("model: gpt2\nquant_bits: 4\nquant_method: hqq\n", "quant_bits", "method"),
        ("model: gpt2\nattn_impl: flex_attention\n", "attn_impl", "attention"),
        ("model: gpt2\ntask_type: embedding\n", "task_type", "parallelism"),
        ("model: gpt2\nmax_length: ${LENGTH}\n", "max_length", "packing"),
        ("model: gpt2\nNNODES: '1:4'\n", "NNODES", "gpu_count"),
        ("CUDA_VISIBLE_DEVICES=0,1 swift sft --model gpt2", "CUDA_VISIBLE_DEVICES", "gpu_count"),
        ("base_model: gpt2\nadapter: llama-adapter\n", "adapter", "method"),
        ("base_model: gpt2\ngradient_checkpointing: offload\n", "gradient_checkpointing", "parallelism"),
        (
            "base_model: gpt2\nsample_packing: false\npad_to_sequence_len: true\n",
            "pad_to_sequence_len",
            "offload",
        ),
        ("base_model: gpt2\nadapter: lora\nload_in_8bit: true\n", "load_in_8bit", "method"),
        (
            "base_model: gpt2\nxformers_attention: true\nmicro_batch_size: 1\n",
            "xformers_attention",
            "attention",
        ),
        ("base_model: gpt2\ndeepspeed: my.json\n", "deepspeed", "parallelism"),
        ("model_name_or_path: gpt2\nuse_peft: true\nload_in_8bit: true\n", "load_in_8bit", "method"),
        ("model_name_or_path: gpt2\nuse_peft: true\nfsdp: shard_grad_op\n", "fsdp", "parallelism"),
        ("model_name_or_path: gpt2\nuse_peft: true\nmax_steps: 50\n", "max_steps", "workload"),
    ],
)
def test_what_cannot_be_planned_is_unknown_and_said(text: str, unknown: str, field: str) -> None:
    recipe = read(text)
    assert unknown in recipe.unknown
    assert field not in recipe.fields
    assert any(unknown in note or "steps" in note for note in told(recipe))


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        ("model_name_or_path: gpt2\nstage: dpo\n", "dpo"),
        ("model: gpt2\ntrain_type: lora\nrlhf_type: kto\n", "kto"),
        ("swift rlhf --model gpt2", "rlhf"),
        ("base_model: gpt2\nrl: orpo\n", "orpo"),
        ("trl dpo --model_name_or_path gpt2", "dpo"),
    ],
)
def test_preference_training_is_told_apart(text: str, stage: str) -> None:
    assert f"Only supervised fine-tuning is planned here, not {stage}." in told(read(text))


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("Qwen/Qwen2.5-7B", "qwen2.5-7b"),
        ("qwen/qwen2.5-7b", "qwen2.5-7b"),
        ("/data/models/Qwen2___5-7B/", "qwen2.5-7b"),
        ("/cache/models--Qwen--Qwen2.5-7B/snapshots/5d8e171e", "qwen2.5-7b"),
        ("meta-llama/Llama-2-7b-hf", "llama-2-7b"),
        ("microsoft/phi-1_5", "phi-1.5"),
        ("Qwen/Qwen2.5-7B-Instruct", None),
        ("/", None),
    ],
)
def test_models_by_name_and_path(name: str, model: str | None) -> None:
    recipe = read(f"base_model: {name}\nmicro_batch_size: 1\n")
    assert recipe.model_name == name
    assert recipe.fields.get("model") == model
    assert (f"The catalogue does not know the model {name}." in told(recipe)) == (model is None)


@pytest.mark.parametrize(
    ("config", "parallelism", "offload"),
    [
        ("zero0", "ddp", None),
        ("deepspeed_configs/zero1.json", "zero1", None),
        ("ds_z2_config.json", "zero2", None),
        ("ds_z2_offload_config.json", "zero2", "optimizer"),
        ("ds_config_stage3.json", "zero3", None),
        ("deepspeed_configs/zero3_bf16_cpuoffload_all.json", "zero3", "all"),
    ],
)
def test_deepspeed_by_the_name_of_its_file(config: str, parallelism: str, offload: str | None) -> None:
    fields = read_fields(f"base_model: gpt2\ndeepspeed: {config}\n")
    assert (fields["parallelism"], fields.get("offload")) == (parallelism, offload)


def test_deepspeed_in_the_file_itself() -> None:
    zero = {"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}
    fields = read_fields(json.dumps({"base_model": "gpt2", "deepspeed": zero}))
    assert (fields["parallelism"], fields["offload"]) == ("zero2", "optimizer")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "CUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train --model_name_or_path gpt2 --stage sft",
            {"gpu_count": 2, "parallelism": "ddp"},
        ),
        ("CUDA_VISIBLE_DEVICES=3 swift sft --model gpt2", {"gpu_count": 1}),
        ("base_model: gpt2\nfsdp: no_shard\n", {"parallelism": "ddp"}),
        (
            "base_model: gpt2\nfsdp: [full_shard, auto_wrap, offload]\n",
            {"parallelism": "fsdp", "offload": "all"},
        ),
        (
            "accelerate launch --multi_gpu --num_processes 2 sft.py --max_length 9",
            {"gpu_count": 2, "parallelism": "ddp"},
        ),
        (
            "accelerate launch --use_deepspeed --zero_stage 3 --offload_param_device cpu sft.py --max_length 9",
            {"parallelism": "zero3", "offload": "all"},
        ),
        (
            "accelerate launch --mixed_precision fp16 train.py --model_name_or_path gpt2 --optim sgd",
            {"precision": "fp16-mixed", "optimizer": "sgd"},
        ),
        ("model_name_or_path: Qwen/Qwen2.5-7B\ndtype: auto\nuse_peft: true\n", {"precision": "bf16-mixed"}),
        (
            "model_name_or_path: gpt2\nuse_peft: true\nuse_flash_attention_2: true\nloss_type: chunked_nll\n",
            {"attention": "flash", "fused_loss": True, "weights_dtype": "fp32"},
        ),
        ("model_name_or_path: gpt2\nstage: pt\n", {"packing": True, "precision": "bf16"}),
        ("model_name_or_path: gpt2\nstage: sft\nflash_attn: disabled\n", {"attention": "eager"}),
        ("base_model: gpt2\nattn_implementation: sdpa\ncut_cross_entropy: true\n", {"fused_loss": True}),
    ],
)
def test_smaller_things_that_files_say(text: str, expected: dict[str, Any]) -> None:
    fields = read_fields(text)
    assert {name: fields.get(name) for name in expected} == expected


def test_layers_that_peft_chooses() -> None:
    known = read("base_model: gpt2\nadapter: lora\nmicro_batch_size: 1\n")
    assert known.fields["lora"]["target_modules"] == ["c_attn"]
    other = read("base_model: own/model\nadapter: lora\nmicro_batch_size: 1\n")
    assert "The file names no layers to adapt; PEFT chooses them by the kind of model." in told(other)


def test_samples_of_several_data_sets_are_not_added_up() -> None:
    recipe = read("model_name_or_path: gpt2\nstage: sft\ndataset: a,b\nmax_samples: 10\n")
    assert "max_samples" in recipe.unknown
    assert "samples" not in recipe.fields["workload"]


BOMB = "a: &a [1,2,3,4,5,6,7,8,9]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{','.join(['*' + before] * 9)}]}}\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
TOO_DEEP = "The file is nested too deeply or repeats itself too often."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The file must hold keys with values."),
        ("- a\n- b\n", "The file must hold keys with values."),
        ("just words", "The file must hold keys with values."),
        ("a: b\n  c: [\n", "This is not valid YAML: line 2, column 4."),
        ("a: \x07\n", "This is not valid YAML: line 1, column 4."),
        ("a: 1\n---\nb: 2\n", "This is not valid YAML: line 2, column 1."),
        ('{"a": 1,\n "b" 2}', "This is not valid JSON: line 2, column 6."),
        ("bf16: true\na: 1\nbf16: false\n", "The key bf16 stands there twice: line 3."),
        ("fsdp_config:\n  x: 1\n  x: 1\n", "The key x stands there twice: line 3."),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "The key c stands there twice."),
        ("a: !!timestamp foo\n", "A value of the file is not what its tag says."),
        ("a: !!python/object:os.system x\n", "This is not valid YAML: line 1, column 4."),
        ("a: " + "[" * 100 + "]" * 100, TOO_DEEP),
        ('{"a":' * 100 + "1" + "}" * 100, TOO_DEEP),
        ('{"a":' * 100_000, TOO_DEEP),
        ('{"a": ' + "9" * 10_000 + "}", TOO_DEEP),
        ("a: " + ":".join(["1"] * 100_000), TOO_DEEP),
        (BOMB, TOO_DEEP),
        (MERGES, TOO_DEEP),
        ("a: &a [*a]\n", TOO_DEEP),
        ("a: b\n" * 300_000, "The file is larger than 1 MiB."),
        ("é" * 600_000, "The file is larger than 1 MiB."),
        ("name: gpt2\nversion: 3\n", "This is no configuration of LLaMA-Factory, ms-swift, Axolotl or TRL."),
        ("trl sft --config x.yaml", "The script takes its settings from x.yaml; read that file instead."),
        (
            "llamafactory-cli train a/b.yaml",
            "The script takes its settings from a/b.yaml; read that file instead.",
        ),
    ],
)
def test_a_file_that_cannot_be_read(text: str, sentence: str) -> None:
    assert refusal_of(text) == ("file", sentence)


def test_a_script_that_cannot_be_read() -> None:
    assert refusal_of("echo hello\n", "run.sh") == ("file", "The script starts none of the trainers.")
    assert refusal_of("swift sft \\\n --model 'x\n", "run.sh") == ("file", "A quote is never closed: line 2.")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("micro_batch_size", "-1", "This must be at least 1."),
        ("micro_batch_size", "1e30", "This must be at most 65536."),
        ("micro_batch_size", "abc", "This must be a number."),
        ("micro_batch_size", "1.5", "This must be a whole number."),
        ("micro_batch_size", "[1, 2]", "This must be a number."),
        ("micro_batch_size", "true", "This must be a number."),
        ("micro_batch_size", ".inf", "This must be a number."),
        ("sequence_len", "0", "This must be at least 1."),
        ("lora_dropout", "1", "This must be at most 0.999999."),
        ("max_grad_norm", "-0.5", "This must be at least 0."),
        ("gradient_checkpointing", "maybe", "This must be true or false."),
        ("optimizer", "[a]", "This must be text."),
        ("lora_target_modules", "[[a]]", "This must be a list of words."),
    ],
)
def test_a_wrong_value_is_named_by_its_key(key: str, value: str, sentence: str) -> None:
    assert refusal_of(f"base_model: gpt2\nadapter: lora\n{key}: {value}\n") == (f"file.{key}", sentence)


def test_numbers_that_yaml_leaves_as_text_are_numbers() -> None:
    fields = read_fields("base_model: gpt2\nmicro_batch_size: 1e1\nmax_grad_norm: 5e-1\nnum_epochs: '2'\n")
    assert (fields["micro_batch_size"], fields["max_grad_norm"], fields["workload"]) == (
        10,
        0.5,
        {"epochs": 2.0},
    )


def test_no_clipping_is_no_clipping() -> None:
    assert "max_grad_norm" not in read_fields("base_model: gpt2\nmicro_batch_size: 1\nmax_grad_norm: 0\n")


def test_a_variable_that_doubles_itself_does_no_harm() -> None:
    script = "A=xxxxxxxxxx\n" + "A=$A$A\n" * 60 + "swift sft --model gpt2 --max_length 5 --system $A\n"
    assert read(script).fields["sequence_length"] == 5


def test_switches_that_are_off_do_not_matter() -> None:
    recipe = read("base_model: gpt2\nmicro_batch_size: 1\npeft_use_dora: false\nlora_mlp_kernel: true\n")
    assert recipe.unknown == ("lora_mlp_kernel",)


# --- Anything at all ---


def result_or_refusal(text: str, filename: str = "") -> TrainerRecipe | InvalidInput:
    """What can be stored and shown in either case."""
    try:
        recipe = read_trainer_file(text, filename)
    except InvalidInput as refused:
        return refused
    json.dumps(
        [recipe.fields, recipe.unknown, recipe.ignored, recipe.model_name], ensure_ascii=False
    ).encode()
    for note in recipe.notes:
        translate(note, "en").encode()
    assert_valid(recipe.fields)
    return recipe


def check(text: str, filename: str = "") -> None:
    answer = result_or_refusal(text, filename)
    if isinstance(answer, InvalidInput):
        assert all(error.field == "file" or error.field.startswith("file.") for error in answer.errors)
        assert all(translate(error.message, "zh-CN").encode() for error in answer.errors)


def assert_valid(fields: dict[str, Any]) -> None:
    """Everything that a file says is within the bounds of an estimate's body."""
    workload = {"samples": 1} | fields.get("workload", {})
    EstimateInput.model_validate({"model": "gpt2", "method": "full"} | fields | {"workload": workload})


@given(st.text(), st.sampled_from(["", "a.yaml", "a.json", "a.sh"]))
@example("{", "a.json")
@example("swift sft --model", "")
@example("base_model: \ud800\nmicro_batch_size: 1", "")
@settings(deadline=None, max_examples=300)
def test_any_text_is_read_or_refused(text: str, filename: str) -> None:
    check(text, filename)


@given(
    st.sampled_from([LLAMA_FACTORY, MS_SWIFT, AXOLOTL, TRL, TORCHRUN]),
    st.integers(0, 1500),
    st.integers(0, 40),
    st.text(max_size=12),
)
@settings(deadline=None, max_examples=300)
def test_a_damaged_file_is_read_or_refused(text: str, place: int, length: int, patch: str) -> None:
    check(text[:place] + patch + text[place + length :])


KEYS = sorted(
    {key for trainer in ALL for key in trainer.marks}
    | set(yaml.safe_load(AXOLOTL))
    | set(yaml.safe_load(TRL))
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(
        ["lora", "qlora", "full", "auto", "bf16", "zero3", "4", "2e-4", "${X}", "all-linear", "true"]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=8), VALUES, max_size=12))
@settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.too_slow])
def test_any_mapping_is_read_or_refused(content: dict[str, Any]) -> None:
    check(yaml.safe_dump(content))
    check(json.dumps(content))


# --- Writing ---

MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj", "gate_proj"]


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    method = draw(st.sampled_from(get_args(Method)))
    body: dict[str, Any] = {
        "model": draw(st.sampled_from(["qwen2.5-7b", "llama-2-7b", "gpt2"])),
        "method": method,
    }
    maybe = {
        "precision": st.sampled_from(get_args(Precision)),
        "optimizer": st.sampled_from(get_args(Optimizer)),
        "micro_batch_size": st.integers(1, 64),
        "gradient_accumulation_steps": st.integers(1, 64),
        "sequence_length": st.integers(1, 100_000),
        "gradient_checkpointing": st.booleans(),
        "attention": st.sampled_from(get_args(Attention)),
        "max_grad_norm": st.floats(1e-6, 1e6),
        "packing": st.booleans(),
        "fused_loss": st.booleans(),
        "gpu_count": st.sampled_from([0.5, 1.0, 2.0, 4.0, 8.0, 16.0]),
        "gpus_per_node": st.sampled_from([4, 8]),
        "parallelism": st.sampled_from(get_args(Parallelism)),
        "offload": st.sampled_from(get_args(Offload)),
        "workload": st.fixed_dictionaries(
            {"samples": st.just(100), "epochs": st.sampled_from([0.5, 1.0, 3.0])}
        ),
    }
    if method != "qlora":
        maybe["weights_dtype"] = st.sampled_from(["fp32", "bf16", "fp16"])
    if method != "full":
        body["lora"] = draw(adapters())
    if method == "qlora":
        body["qlora"] = {"double_quantization": draw(st.booleans())}
    return body | {name: draw(value) for name, value in maybe.items() if draw(st.booleans())}


def adapters() -> st.SearchStrategy[dict[str, Any]]:
    modules = st.lists(st.sampled_from(MODULES), min_size=1, unique=True)
    return st.fixed_dictionaries(
        {},
        optional={
            "rank": st.integers(1, 512),
            "target_modules": st.just("all-linear") | modules,
            "dropout": st.sampled_from([0.0, 0.05, 0.1]),
            "adapter_dtype": st.sampled_from(["fp32", "base"]),
        },
    )


def compared(body: dict[str, Any]) -> dict[str, Any]:
    """The body with the defaults of an estimate, flat."""
    wanted = EstimateInput.model_validate(body)
    plan = plan_of(wanted)
    return {
        "model": plan.model,
        "method": plan.method,
        "lora.rank": None if plan.is_full else plan.rank,
        "lora.target_modules": None if plan.is_full else plan.targets,
        "lora.dropout": None if plan.is_full else plan.dropout,
        "lora.adapter_dtype": None if plan.is_full else plan.adapter_dtype,
        "qlora.double_quantization": plan.method == "qlora" and plan.double_quantization,
        "precision": plan.precision,
        "weights_dtype": plan.method == "qlora" or plan.weights,
        "optimizer": plan.optimizer,
        "micro_batch_size": plan.batch,
        "gradient_accumulation_steps": plan.accumulation,
        "sequence_length": plan.length,
        "gradient_checkpointing": plan.checkpointing,
        "attention": plan.attention,
        "max_grad_norm": plan.max_grad_norm,
        "packing": plan.packing,
        "fused_loss": plan.fused_loss,
        "gpu_count": plan.gpus,
        "gpus_per_node": plan.gpus_a_node if plan.nodes > 1 else None,
        "parallelism": plan.parallelism,
        "offload": plan.offload,
        "workload.epochs": plan.epochs,
    }


@pytest.mark.parametrize("trainer", ALL, ids=TRAINERS)
@given(body=bodies())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_is_read_back(trainer: Any, body: dict[str, Any]) -> None:
    wanted = EstimateInput.model_validate(body)
    file = write_trainer_file(trainer.id, wanted)
    recipe = read_trainer_file(file.text, file.filename)
    assert recipe.trainer == trainer.id
    assert (recipe.unknown, recipe.defaults) == ((), ())
    unsaid = {*trainer.cannot_say, *trainer.draft(plan_of(wanted)).unsaid}
    back = recipe.fields | {"workload": recipe.fields["workload"] | {"samples": 1}}
    before, after = compared(body), compared(back)
    assert {name: value for name, value in after.items() if name not in unsaid} == {
        name: value for name, value in before.items() if name not in unsaid
    }
    assert all(name in file.text for name in unsaid)


@pytest.mark.parametrize("trainer", TRAINERS)
@given(
    model=st.text(min_size=1, max_size=40),
    names=st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=3),
)
@example("'; rm -rf / #", ["$(reboot)"])
@example("--help", ["--x", "a: b"])
@example("a\nb: c", ["\x85", "\u2028"])
@settings(deadline=None, max_examples=100)
def test_names_are_quoted(trainer: str, model: str, names: list[str]) -> None:
    body = EstimateInput(model=model, method="lora", lora={"target_modules": names})  # type: ignore[arg-type]
    file = write_trainer_file(trainer, body)
    if file.filename.endswith(".sh"):
        command = training_command(file.text)
        assert command is not None
        assert command.arguments["model"] == model
    else:
        content = yaml.safe_load(file.text)
        assert content[{"axolotl": "base_model"}.get(trainer, "model_name_or_path")] == model
        if trainer != "llama-factory":
            assert content["lora_target_modules"] == names


def test_a_shell_reads_the_script_as_we_do() -> None:
    body = EstimateInput(model='it\'s $HOME `x` "y"', method="full", gpu_count=4, parallelism="zero2")
    script = write_trainer_file("ms-swift", body).text
    shown = 'swift() { echo "$NPROC_PER_NODE"; printf "%s\\n" "$@"; }\n' + script
    said = subprocess.run(
        ["bash", "-c", shown], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert said[:4] == ["4", "sft", "--model", 'it\'s $HOME `x` "y"']
    assert said[said.index("--deepspeed") + 1] == "zero2"


def test_a_written_file_says_how_to_start_it_and_what_it_lacks() -> None:
    body = EstimateInput(
        model="qwen2.5-7b", method="lora", gpu_count=16, parallelism="zero1", optimizer="sgd_momentum"
    )
    text = write_trainer_file("llama-factory", body).text
    assert text.startswith(
        "# GPUs: 16. Start with: FORCE_TORCHRUN=1 NNODES=2 NODE_RANK=0 MASTER_ADDR=ADDRESS"
    )
    assert "# Start it on each of 2 machines, with the machine's own number.\n" in text
    assert "# Not as planned, because the trainer cannot do it: optimizer, parallelism.\n" in text
    assert "model_name_or_path: Qwen/Qwen2.5-7B\n" in text


def test_a_model_by_configuration_has_a_place_for_its_path() -> None:
    body = EstimateInput.model_validate({"model": {"config": {"model_type": "llama"}}, "method": "full"})
    for trainer in TRAINERS:
        assert "PATH/TO/MODEL" in write_trainer_file(trainer, body).text


def test_what_cannot_be_written() -> None:
    body = EstimateInput(model="sdxl", method="lora")
    with pytest.raises(InvalidInput) as refused:
        write_trainer_file("trl", body)
    assert refused.value.errors[0].field == "model"
    with pytest.raises(InvalidInput) as refused:
        write_trainer_file("torchtune", EstimateInput(model="gpt2", method="lora"))
    assert refused.value.errors[0].field == "trainer"


@pytest.mark.parametrize("text", [LLAMA_FACTORY, MS_SWIFT, AXOLOTL, TRL])
def test_what_is_read_can_be_estimated(text: str) -> None:
    fields = read_fields(text)
    fields["workload"].setdefault("samples", 1000)
    prepare(EstimateInput.model_validate(fields))
