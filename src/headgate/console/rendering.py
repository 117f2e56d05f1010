"""Pages, rendered from templates: every value in them is escaped, and one that is missing is an error."""

from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from headgate.console.words import (
    ago,
    caller_shown,
    json_shown,
    lasting,
    progress_shown,
    shown,
    stamp,
    subject,
    visible_lines,
    whole_json,
)
from headgate.executions.values import percentage, read_error
from headgate.safety.searching import actor

__all__ = ["rendered"]

_TEMPLATES: Final = Environment(
    loader=PackageLoader("headgate.console"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters.update(
    ago=ago,
    actor=actor,
    caller=caller_shown,
    error=read_error,
    json=json_shown,
    lasting=lasting,
    percentage=percentage,
    progress=progress_shown,
    stamp=stamp,
    subject=subject,
    visible=shown,
    visible_lines=visible_lines,
    whole_json=whole_json,
)


def rendered(template: str, *, status: int = 200, **values: object) -> Response:
    """A page, from a template and what stands in it."""
    return HTMLResponse(_TEMPLATES.get_template(template).render(**values), status)
