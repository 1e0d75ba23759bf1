"""Reads a Hugging Face ``config.json`` into an Architecture, by the kind of model that it names."""

from collections.abc import Mapping

from app.estimator.architecture import Architecture
from app.estimator.errors import ConfigError
from app.estimator.readers.decoders import FAMILIES, Family, read_decoder
from app.estimator.readers.diffusion import read_flux, read_unet
from app.estimator.readers.encoder_decoders import T5_KINDS, read_t5, read_whisper
from app.estimator.readers.encoders import ENCODERS, read_encoder
from app.estimator.readers.images import VISION_KINDS, read_vision

KINDS = tuple(sorted([*FAMILIES, *ENCODERS, *T5_KINDS, "whisper", *VISION_KINDS]))


def read_architecture(config: object) -> Architecture:
    """The architecture of a configuration. Raises ConfigError naming the field that is missing or wrong.

    A kind that is not known but is built like LLaMA (RMS norms, a gated MLP) is read as one, and ``unknown_fields``
    says so.
    """
    if not isinstance(config, Mapping):
        raise ConfigError("", "not_an_object")
    if config.get("_class_name") == "UNet2DConditionModel":
        return read_unet(config)
    if config.get("_class_name") == "FluxTransformer2DModel":
        return read_flux(config)
    model_type = config.get("model_type")
    if not isinstance(model_type, str):
        raise ConfigError("model_type", "required", known=", ".join(KINDS))
    if model_type in FAMILIES:
        return read_decoder(config, model_type, FAMILIES[model_type])
    if model_type in ENCODERS:
        return read_encoder(config, model_type)
    if model_type in T5_KINDS:
        return read_t5(config, model_type)
    if model_type == "whisper":
        return read_whisper(config, model_type)
    if model_type in VISION_KINDS:
        return read_vision(config, model_type)
    return _unknown_kind(config, model_type)


def _unknown_kind(config: Mapping[str, object], model_type: str) -> Architecture:
    inner = config.get("text_config")
    if isinstance(inner, Mapping) and isinstance(inner.get("model_type"), str):
        # Of a model that sees or hears, the language model that is inside.
        read = read_architecture(inner)
        others = [str(name) for name in config if str(name).endswith("_config") and name != "text_config"]
        return _with_unknown(read, "model_type", *others)
    if {"rms_norm_eps", "intermediate_size", "hidden_size"} <= set(config):
        return read_decoder(config, model_type, Family(), "model_type")
    raise ConfigError("model_type", "kind_not_read", known=", ".join(KINDS))


def _with_unknown(read: Architecture, *more: str) -> Architecture:
    values = {name: getattr(read, name) for name in Architecture.__dataclass_fields__}
    return Architecture(**values | {"unknown_fields": tuple(sorted({*read.unknown_fields, *more}))})
