"""Asking the user through the host, where it can: in both protocol eras, and with no effect before the answer.

The state that a modern host hands back is the call's own token: known to nobody else, good for this one call, and used
up by it. So it needs no seal to be trusted, and cannot be used a second time, on whichever server it arrives.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import mcp_types as types
import orjson
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from headgate.adapter.context import Session
from headgate.engine.gating import CONFIRMATION, QUOTA
from headgate.engine.stages import Question, Reply
from headgate.protocol.errors import AqlError, Denied
from headgate.protocol.results import Failure
from headgate.safety.grants import APPROVAL

__all__ = [
    "QUESTION",
    "Page",
    "after_page",
    "agreed",
    "ask_legacy",
    "can_be_asked",
    "can_open",
    "declined",
    "input_required",
    "not_waiting",
]

QUESTION: Final = "confirm"
"""The name of the one question, and of the one field of its form."""

_PAGE: Final = "page:"
"""How the state begins that a modern host hands back after it has opened a page."""
_APPROVAL: Final = re.compile(rf"{APPROVAL}[A-Za-z0-9]{{16}}\Z")
_CHALLENGE: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
"""What headgate makes: an adapter's own errors may name anything, and are no addresses."""
_QUOTA_PAUSE: Final = "RATE_LIMIT_QUOTA_PAUSE"

_WAITS: Final = "This waits for a person's decision, which is made in the console."
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


@dataclass(frozen=True, slots=True)
class Page:
    """The page of the console on which a person decides what a call waits for. That it was opened proves nothing."""

    url: str
    waits_for: str
    place: str
    """Where the approval belongs in the call, once there is one; nothing for a challenge, which no call carries."""

    @classmethod
    def of(cls, console: str, reply: Reply) -> "Page | None":
        """The page for an answer, if it waits for something that headgate itself has put before a person."""
        if _APPROVAL.match(reply.waits_for):
            is_quota = orjson.loads(reply.text)["error"]["code"] == _QUOTA_PAUSE
            return cls(f"{console}/approvals/{reply.waits_for}", reply.waits_for, QUOTA if is_quota else CONFIRMATION)
        if _CHALLENGE.match(reply.waits_for):
            return cls(f"{console}/codes/{reply.waits_for}", reply.waits_for, "")
        return None

    def is_news(self, arguments: object, session: Session) -> bool:
        """Whether its user has not seen it yet: who calls again with the approval only looks whether it was given."""
        if isinstance(arguments, dict) and self.waits_for in str(arguments):
            return False
        name = f"{_PAGE}{self.waits_for}"
        if session.lasting:
            is_news = name not in session.announced
            session.announced.add(name)
            return is_news
        return True

    def required(self) -> dict[str, Any]:
        """The result that makes a modern host open the page, and call again."""
        page = {"mode": "url", "message": _WAITS, "url": self.url}
        return {
            "resultType": "input_required",
            "inputRequests": {QUESTION: {"method": "elicitation/create", "params": page}},
            "requestState": f"{_PAGE}{self.place}:{self.waits_for}",
        }

    async def open(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """Have a legacy host open the page. Whatever it answers, nothing follows from it."""
        with suppress(MCPError):
            await ctx.session.elicit_url(_WAITS, self.url, self.waits_for, ctx.request_id)


def after_page(state: str, arguments: object) -> tuple[bool, object]:
    """Whether a modern host has opened a page by this state, and its call again: under the approval that it waited for.

    The state is only a convenience, and gives no right to anything: whoever knows the id can write it into the call.
    """
    if not state.startswith(_PAGE):
        return False, arguments
    place, _, waited_for = state.removeprefix(_PAGE).partition(":")
    if not isinstance(arguments, dict) or place not in (CONFIRMATION, QUOTA):
        return True, arguments
    return True, {**arguments, place: waited_for}


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


def not_waiting() -> Reply:
    """The answer to a host that brings the answer to a question that nobody waits for here."""
    error = AqlError("NOT_FOUND_RESOURCE", "The question is not known any more: call the operation anew").error
    return Reply(orjson.dumps(Failure(error).wire()).decode(), True, False, "")
