"""What people call the ids of the catalogue: providers, GPUs, regions; and the same as filters of the templates."""

from collections.abc import Callable, Mapping

from jinja2 import pass_context
from jinja2.runtime import Context

from app.catalog.gpus import find_gpu
from app.catalog.hosted.packaged import hosted_provider_names
from app.i18n import BABEL_LOCALE, Message, translate

# Where a price list names no region but the part of the world in which it holds.
_REGIONS = {
    "any": Message("any region"),
    "cn": Message("China"),
    "cn-mainland": Message("mainland China"),
    "us": Message("United States"),
}


def provider_name(provider: str, locale: str) -> str:
    """Its name in ``en`` or ``zh_CN``; one that the catalogue does not know goes by what it was entered as."""
    return hosted_provider_names().get(provider, {}).get(locale, provider)


def gpu_name(gpu: str) -> str:
    """Its name, else the id."""
    found = find_gpu(gpu)
    return gpu if found is None else found.name


def region_name(region: str) -> Message | str:
    """The provider's own name of it, or words for a part of the world."""
    return _REGIONS.get(region, region)


@pass_context
def _provider(context: Context, provider: str) -> str:
    return provider_name(provider, BABEL_LOCALE[context["language"]])


@pass_context
def _region(context: Context, region: str) -> str:
    return translate(region_name(region), context["language"])


FILTERS: Mapping[str, Callable[..., str]] = {
    "provider_name": _provider,
    "gpu_name": gpu_name,
    "region_name": _region,
}
