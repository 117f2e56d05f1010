"""Calls that a server works on: how much time they have left, and whose user may be asked for them."""

import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError

from headgate.adapter.context import Caller, Context, UserAnswer, UserQuestion

__all__ = ["Calls", "Pending"]

_CURRENT: Final["ContextVar[Pending | None]"] = ContextVar("headgate_pending_call", default=None)
"""The call that is sent from here. Over HTTP its answer, and the questions before that, come back to the same place."""
_LINGERING_SECONDS: Final = 600.0
"""How long a server may still ask something for a call that nobody waits for any more."""


@dataclass(eq=False)
class Pending:
    """A call that is under way, and whose user may be asked for it."""

    context: Context
    patience: anyio.CancelScope
    seconds: float
    status: int = 0
    """The HTTP status from 400 on that it was answered with."""
    in_session: bool = False
    _questions: int = 0

    @property
    def user(self) -> tuple[str, Caller]:
        """Whose call it is."""
        return self.context.session.id, self.context.caller

    async def progressed(self, progress: float, total: float | None, message: str | None) -> None:
        """Give the call its time anew, since the server has shown that it is alive, and tell whoever waits."""
        self._extend()
        if math.isfinite(progress):  # what is no number cannot be passed on
            await self.context.progress(progress, total if total is None or math.isfinite(total) else None, message)

    def _extend(self) -> None:
        if not self._questions:
            self.patience.deadline = anyio.current_time() + self.seconds

    async def answer(self, wanted: Mapping[str, Any]) -> types.ElicitResult:
        """The answer to one thing that a modern server wants to know; only a user's word is to be had here."""
        if wanted.get("method") != "elicitation/create":
            raise MCPError(types.INVALID_REQUEST, "the server asks for what cannot be given here")
        return await self.ask(wanted.get("params") or {})

    async def ask(self, params: Mapping[str, Any]) -> types.ElicitResult:
        """Ask the user, for whom there is as much time as he needs."""
        self._questions += 1
        self.patience.deadline = math.inf
        try:
            return _result(await self.context.ask_user(_question(params)))
        finally:
            self._questions -= 1
            self._extend()


def _question(params: Mapping[str, Any]) -> UserQuestion:
    return UserQuestion(
        str(params.get("message", "")), params.get("requestedSchema") or {}, str(params.get("url") or "")
    )


def _result(answer: UserAnswer | None) -> types.ElicitResult:
    if answer is None:
        return types.ElicitResult(action="cancel")
    content = dict(answer.content) if answer.content is not None else None
    return types.ElicitResult(action=answer.action, content=content)


@dataclass
class Calls:
    """The calls over one connection."""

    _under_way: list[Pending] = field(default_factory=list)
    _left: dict[tuple[str, Caller], float] = field(default_factory=dict)
    """Whose calls were given up, and until when the server may still work on them all the same."""

    @asynccontextmanager
    async def under_way(self, pending: Pending) -> AsyncIterator[Pending]:
        """Note a call for as long as the block lasts."""
        self._under_way.append(pending)
        token = _CURRENT.set(pending)
        try:
            yield pending
        except anyio.get_cancelled_exc_class():
            self._left[pending.user] = anyio.current_time() + _LINGERING_SECONDS
            raise
        finally:
            _CURRENT.reset(token)
            self._under_way.remove(pending)

    def current(self) -> Pending | None:
        """The call that this is done for, where the connection tells."""
        return _CURRENT.get()

    async def elicited(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Have the user asked whose call this is for. If that cannot be told, nobody is asked."""
        del context  # which tells of the question, not of the call that it comes from
        pending = self.current() or self._only_one()
        if pending is None or pending not in self._under_way:
            return types.ElicitResult(action="cancel")
        return await pending.ask(params.model_dump(mode="json", by_alias=True))

    def _only_one(self) -> Pending | None:
        """The call that a question must be about: the latest, if all that may still be worked on are one user's."""
        now = anyio.current_time()
        self._left = {user: until for user, until in self._left.items() if until > now}
        users = {pending.user for pending in self._under_way} | self._left.keys()
        return self._under_way[-1] if self._under_way and len(users) == 1 else None
