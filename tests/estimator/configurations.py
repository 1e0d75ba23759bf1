"""Configurations of well-known models, small enough to read."""

from typing import Any

LLAMA_7B: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "vocab_size": 32000,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
}
GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}
QWEN25_7B = {
    "model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, "tie_word_embeddings": False,
}  # fmt: skip
MIXTRAL = LLAMA_7B | {
    "model_type": "mixtral", "intermediate_size": 14336, "num_key_value_heads": 8, "num_local_experts": 8,
    "num_experts_per_tok": 2,
}  # fmt: skip
GEMMA_2B = {
    "model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "num_hidden_layers": 18,
    "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 256000,
}  # fmt: skip
QWEN15_MOE = {
    "model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632, "moe_intermediate_size": 1408,
    "shared_expert_intermediate_size": 5632, "num_hidden_layers": 24, "num_attention_heads": 16,
    "num_key_value_heads": 16, "num_experts": 60, "num_experts_per_tok": 4, "decoder_sparse_step": 1,
    "mlp_only_layers": [], "vocab_size": 151936, "tie_word_embeddings": False,
}  # fmt: skip
DEEPSEEK_V2_LITE = {
    "model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944, "moe_intermediate_size": 1408,
    "num_hidden_layers": 27, "first_k_dense_replace": 1, "num_attention_heads": 16, "num_key_value_heads": 16,
    "kv_lora_rank": 512, "q_lora_rank": None, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "vocab_size": 102400,
    "tie_word_embeddings": False,
}  # fmt: skip
DEEPSEEK_V3 = DEEPSEEK_V2_LITE | {
    "model_type": "deepseek_v3", "q_lora_rank": 768, "num_hidden_layers": 3, "attention_bias": False,
}  # fmt: skip
BERT_BASE = {
    "model_type": "bert", "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
    "num_attention_heads": 12, "vocab_size": 30522, "architectures": ["BertForMaskedLM"],
}  # fmt: skip
BERT_CLASSIFIER = BERT_BASE | {"architectures": ["BertForSequenceClassification"]}
BERT_READER = BERT_BASE | {"architectures": ["BertForQuestionAnswering"]}
DISTILBERT = {
    "model_type": "distilbert", "dim": 768, "hidden_dim": 3072, "n_layers": 6, "n_heads": 12, "vocab_size": 30522,
    "architectures": ["DistilBertForMaskedLM"],
}  # fmt: skip
DEBERTA = BERT_BASE | {
    "model_type": "deberta-v2", "vocab_size": 128100, "relative_attention": True, "position_buckets": 256,
    "norm_rel_ebd": "layer_norm", "position_biased_input": False, "type_vocab_size": 0,
    "architectures": ["DebertaV2ForSequenceClassification"],
}  # fmt: skip
T5_BASE = {
    "model_type": "t5", "d_model": 768, "d_kv": 64, "d_ff": 3072, "num_layers": 12, "num_heads": 12,
    "vocab_size": 32128, "feed_forward_proj": "relu",
}  # fmt: skip
FLAN_T5_BASE = T5_BASE | {"d_ff": 2048, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
WHISPER_SMALL = {
    "model_type": "whisper", "d_model": 768, "encoder_layers": 12, "decoder_layers": 12,
    "encoder_attention_heads": 12, "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072,
    "vocab_size": 51865, "num_mel_bins": 80, "max_source_positions": 1500, "max_target_positions": 448,
}  # fmt: skip
VIT_BASE = {
    "model_type": "vit", "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
    "num_attention_heads": 12, "image_size": 224, "patch_size": 16, "num_labels": 1000,
}  # fmt: skip
SD15 = {
    "_class_name": "UNet2DConditionModel", "block_out_channels": [320, 640, 1280, 1280],
    "down_block_types": ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"], "cross_attention_dim": 768,
    "attention_head_dim": 8, "sample_size": 64, "layers_per_block": 2, "in_channels": 4,
}  # fmt: skip
SDXL = SD15 | {
    "block_out_channels": [320, 640, 1280],
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "cross_attention_dim": 2048, "attention_head_dim": [5, 10, 20], "sample_size": 128,
    "transformer_layers_per_block": [1, 2, 10], "projection_class_embeddings_input_dim": 2816,
}  # fmt: skip
FLUX = {
    "_class_name": "FluxTransformer2DModel", "num_attention_heads": 24, "attention_head_dim": 128, "num_layers": 19,
    "num_single_layers": 38, "in_channels": 64, "joint_attention_dim": 4096, "pooled_projection_dim": 768,
    "guidance_embeds": True,
}  # fmt: skip
OPT_350M = {
    "model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
    "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 512, "do_layer_norm_before": False,
}  # fmt: skip
GEMMA_3 = {
    "model_type": "gemma3", "vision_config": {"hidden_size": 1152}, "text_config": {
        "model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912, "num_hidden_layers": 26,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 262144,
    },
}  # fmt: skip
GPTJ_6B = {
    "model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_positions": 2048, "vocab_size": 50400,
    "tie_word_embeddings": False,
}  # fmt: skip
EVERY_KIND = {
    "llama": LLAMA_7B, "gpt2": GPT2, "qwen2": QWEN25_7B, "mixtral": MIXTRAL, "gemma": GEMMA_2B, "moe": QWEN15_MOE,
    "mla": DEEPSEEK_V2_LITE, "mla-query": DEEPSEEK_V3, "bert": BERT_BASE, "bert-classifier": BERT_CLASSIFIER,
    "bert-reader": BERT_READER, "distilbert": DISTILBERT, "deberta": DEBERTA,
    "deberta-plain": DEBERTA | {"attention_probs_dropout_prob": 0.0}, "t5": T5_BASE, "flan-t5": FLAN_T5_BASE,
    "whisper": WHISPER_SMALL, "vit": VIT_BASE, "sd15": SD15, "sdxl": SDXL, "flux": FLUX, "opt-350m": OPT_350M,
    "gemma3": GEMMA_3, "gptj": GPTJ_6B,
}  # fmt: skip
