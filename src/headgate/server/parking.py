"""Calls whose handler asks the user while it works.

A legacy host is simply asked. A modern one gets the question as its result, and sends the answer with a call of its
own: until then the work waits here, in this process, for as long as a person may need.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import mcp_types as types
from mcp.shared.exceptions import MCPError

from headgate.adapter.context import AskUser, Caller, UserAnswer, UserQuestion
from headgate.engine.stages import Reply
from headgate.server.contexts import Context

__all__ = ["ASKED", "Parking", "answer_in", "ask_through"]

ASKED: Final = "asked:"
"""How the state begins that a modern host hands back with its user's answer."""
_QUESTION: Final = "answer"
_PATIENCE_SECONDS: Final = 600.0
_MOST_WAITING: Final = 1000

Run: TypeAlias = Callable[[AskUser], Awaitable[Reply]]


def ask_through(ctx: Context) -> AskUser:
    """How the user of a legacy host is asked while its call is under way."""

    async def ask(question: UserQuestion) -> UserAnswer | None:
        try:
            if question.url:
                answer = await ctx.session.elicit_url(
                    question.message, question.url, secrets.token_urlsafe(12), ctx.request_id
                )
            else:
                answer = await ctx.session.elicit_form(question.message, dict(question.schema), ctx.request_id)
        except MCPError:
            return None
        return _answer(answer)

    return ask


def _answer(given: object) -> UserAnswer:
    """What a host says that its user said; anything that is no clear answer is none."""
    if not isinstance(given, types.ElicitResult):
        return UserAnswer("cancel")
    return UserAnswer(given.action, given.content if given.action == "accept" else None)


@dataclass
class _Call:
    """Work that may wait for answers."""

    caller: Caller
    id: str = field(default_factory=lambda: f"{ASKED}{secrets.token_urlsafe(24)}")
    work: "asyncio.Task[Reply] | None" = None
    question: "asyncio.Future[UserQuestion]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    answer: "asyncio.Future[UserAnswer]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    expiry: asyncio.TimerHandle | None = None

    async def ask(self, question: UserQuestion) -> UserAnswer | None:
        """Put a question to the user, and wait for what comes back with another request."""
        self.question.set_result(question)
        given = await self.answer
        loop = asyncio.get_running_loop()
        self.question, self.answer = loop.create_future(), loop.create_future()
        return given

    def give_up(self) -> None:
        """End the work: nobody answers."""
        if self.work is not None:
            self.work.cancel()


@dataclass
class Parking:
    """The calls that wait for their users, each for the caller alone who began it."""

    _waiting: dict[str, _Call] = field(default_factory=dict)

    async def begin(self, caller: Caller, run: Run) -> Reply | dict[str, Any]:
        """The reply to a call, or the result that makes the host ask its user first."""
        call = _Call(caller)
        call.work = asyncio.ensure_future(run(call.ask))
        return await self._next(call)

    async def go_on(self, caller: Caller, state: str, answer: object) -> Reply | dict[str, Any] | None:
        """The same, after an answer; None if nothing of this caller's waits under this state."""
        call = self._waiting.get(state)
        if call is None or call.caller != caller:
            return None
        del self._waiting[state]
        if call.expiry is not None:
            call.expiry.cancel()
        waiting, call.id = call.answer, f"{ASKED}{secrets.token_urlsafe(24)}"
        waiting.set_result(_answer(answer))
        await asyncio.sleep(0)  # so that the work has taken the answer, and the next question is a new one
        return await self._next(call)

    async def _next(self, call: _Call) -> Reply | dict[str, Any]:
        """Wait for the end of the work or for its next question, whichever comes first."""
        work = call.work
        if work is None:
            raise RuntimeError("this call was not begun")
        try:
            both: set[asyncio.Future[Any]] = {work, call.question}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            call.give_up()
            raise
        if work.done():
            return work.result()
        return self._parked(call)

    def _parked(self, call: _Call) -> dict[str, Any]:
        if len(self._waiting) >= _MOST_WAITING:
            self._expire(next(iter(self._waiting)))
        self._waiting[call.id] = call
        call.expiry = asyncio.get_running_loop().call_later(_PATIENCE_SECONDS, self._expire, call.id)
        return {
            "resultType": "input_required",
            "inputRequests": {_QUESTION: {"method": "elicitation/create", "params": _params(call.question.result())}},
            "requestState": call.id,
        }

    def _expire(self, state: str) -> None:
        call = self._waiting.pop(state, None)
        if call is not None:
            call.give_up()

    def close(self) -> None:
        """End everything that waits."""
        for state in list(self._waiting):
            self._expire(state)


def _params(question: UserQuestion) -> dict[str, Any]:
    if question.url:
        return {"mode": "url", "message": question.message, "url": question.url}
    return {"mode": "form", "message": question.message, "requestedSchema": dict(question.schema)}


def answer_in(responses: Any) -> object:
    """The answer in what a modern host sends."""
    return (responses or {}).get(_QUESTION)
