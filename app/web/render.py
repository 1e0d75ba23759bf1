"""The one function that renders a template, whole or one block of it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2_fragments import render_block

from app import __version__
from app.i18n import translations
from app.web.filters import FILTERS
from app.web.flash import take_flashes
from app.web.language import language_of
from app.web.static_files import packaged_folder, static_path

THEME_COOKIE = "tuneledger_theme"
THEMES = ("auto", "light", "dark")


def _environment(language: str) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(packaged_folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n", "jinja2.ext.do"],
    )
    install: Any = environment.install_gettext_translations  # type: ignore[attr-defined]
    install(translations(language), newstyle=True)
    environment.filters.update(FILTERS)
    return environment


# One environment a language: Jinja compiles the language's functions into a template.
_ENVIRONMENTS = {language: _environment(language) for language in ("zh-CN", "en")}


def add_filters(filters: Mapping[str, Callable[..., Any]]) -> None:
    """Gives the templates filters of a feature's own."""
    for environment in _ENVIRONMENTS.values():
        environment.filters.update(filters)


def wants_fragment(request: Request) -> bool:
    """Whether htmx asks for a part of the page; a boosted link or a history restore asks for the whole."""
    return request.headers.get("hx-request") == "true" and request.headers.get("hx-request-type") != "full"


def render(
    request: Request,
    template: str,
    *,
    block: str | None = None,
    status: int = 200,
    headers: dict[str, str] | None = None,
    **context: Any,
) -> Response:
    """The page; with ``block``, a request by htmx gets that block alone."""
    fragment = block if wants_fragment(request) else None
    html = render_text(request, template, fragment, context)
    answer_headers = {"Vary": "HX-Request, HX-Request-Type, Accept-Language, Cookie"} | (headers or {})
    response = HTMLResponse(html, status, answer_headers)
    take_flashes(request, response)
    return response


def render_text(request: Request, template: str, block: str | None, context: dict[str, Any]) -> str:
    """The HTML of a template or of one block of it."""
    language = language_of(request)
    environment = _ENVIRONMENTS[language]
    whole = _base_context(request, language, is_fragment=block is not None) | context
    if block is not None:
        return render_block(environment, template, block, **whole)
    return environment.get_template(template).render(**whole)


def _base_context(request: Request, language: str, *, is_fragment: bool) -> dict[str, Any]:
    theme = request.cookies.get(THEME_COOKIE)
    return {
        "request": request,
        "actor": getattr(request.state, "actor", None),
        "language": language,
        "theme": theme if theme in THEMES else "auto",
        "nav": "",
        # Whether a block alone is rendered, for htmx.
        "is_fragment": is_fragment,
        "flashes": getattr(request.state, "flashes", None) or take_flashes(request, None),
        "url_for": partial(_path_for, request),
        "version": __version__,
    }


def _path_for(request: Request, name: str, **path: Any) -> str:
    """A route's path; absolute addresses would be wrong behind a proxy that does not say its own."""
    if name == "static":
        return static_path(path["path"])
    return str(request.app.url_path_for(name, **path))


def see_other(request: Request, route: str, **path: Any) -> RedirectResponse:
    """The answer to a form that was accepted: 303 to a page, so that a reload repeats nothing."""
    return RedirectResponse(_path_for(request, route, **path), 303)
