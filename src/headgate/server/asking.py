"""Asking the user through the host, where it can: in both protocol eras, and with no effect before the answer.

The state that a modern host hands back is the call's own token: known to nobody else, good for this one call, and used
up by it. So it needs no seal to be trusted, and cannot be used a second time, on whichever server it arrives.
"""

from contextlib import suppress
from typing import Any, Final

import mcp_types as types
import orjson
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from headgate.engine.stages import Question, Reply
from headgate.protocol.errors import Denied
from headgate.protocol.results import Failure

__all__ = [
    "PAGE",
    "QUESTION",
    "agreed",
    "ask_legacy",
    "can_be_asked",
    "can_open",
    "declined",
    "input_required",
    "open_legacy",
    "page_required",
]

QUESTION: Final = "confirm"
"""The name of the one question, and of the one field of its form."""

PAGE: Final = "page:"
"""How the state begins that a modern host hands back after it has opened a page."""

_PAGE: Final = "This waits for a person's decision, which is made in the console."
_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        QUESTION: {"type": "boolean", "title": "Confirm", "description": "Whether this may be done.", "default": False}
    },
    "required": [QUESTION],
}


def can_be_asked(ctx: ServerRequestContext[Any, Any], *, legacy: bool) -> bool:
    """Whether the host has said that it can show its user a form, and there is a way to send one."""
    params = ctx.session.client_params
    elicitation = params.capabilities.elicitation if params else None
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return False
    return not legacy or ctx.session.can_send_request


def input_required(question: Question) -> dict[str, Any]:
    """The result that makes a modern host ask its user, and call again with the answer."""
    form = {"mode": "form", "message": question.text, "requestedSchema": _FORM}
    return {
        "resultType": "input_required",
        "inputRequests": {QUESTION: {"method": "elicitation/create", "params": form}},
        "requestState": question.token,
    }


def can_open(ctx: ServerRequestContext[Any, Any], *, legacy: bool) -> bool:
    """Whether the host has said that it can open a page for its user, and there is a way to ask it."""
    params = ctx.session.client_params
    elicitation = params.capabilities.elicitation if params else None
    return elicitation is not None and elicitation.url is not None and (not legacy or ctx.session.can_send_request)


def page_required(url: str, waits_for: str) -> dict[str, Any]:
    """The result that makes a modern host open a page, and call again. That it was opened proves nothing."""
    page = {"mode": "url", "message": _PAGE, "url": url}
    return {
        "resultType": "input_required",
        "inputRequests": {QUESTION: {"method": "elicitation/create", "params": page}},
        "requestState": f"{PAGE}{waits_for}",
    }


async def open_legacy(ctx: ServerRequestContext[Any, Any], url: str, waits_for: str) -> None:
    """Have a legacy host open a page. Whatever it answers, nothing follows from it."""
    with suppress(MCPError):
        await ctx.session.elicit_url(_PAGE, url, waits_for, ctx.request_id)


async def ask_legacy(ctx: ServerRequestContext[Any, Any], question: Question) -> bool | None:
    """Whether the user of a legacy host agrees; None if it could not be asked after all."""
    try:
        answer = await ctx.session.elicit_form(question.text, _FORM, ctx.request_id)
    except MCPError:
        return None
    return agreed(answer)


def agreed(answer: object) -> bool:
    """Whether an answer is a clear yes; everything else is a no."""
    if not isinstance(answer, types.ElicitResult) or answer.action != "accept":
        return False
    return (answer.content or {}).get(QUESTION) is True


def declined(reply: Reply) -> Reply:
    """The answer to a call that the user does not want."""
    error = Denied("the user declined").error
    text = orjson.dumps(Failure(error).wire()).decode()
    return reply._replace(text=text, question=None)
