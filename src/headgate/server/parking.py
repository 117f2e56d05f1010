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

from headgate.adapter.context import AskUser, Caller, Progress, UserAnswer, UserQuestion
from headgate.engine.stages import Reply
from headgate.server.asking import can_be_asked, can_open
from headgate.server.contexts import Context, caller_of, is_legacy

__all__ = ["ASKED", "Parking", "Shows", "answer_in", "ask_through"]

ASKED: Final = "asked:"
"""How the state begins that a modern host hands back with its user's answer."""
_QUESTION: Final = "answer"
_PATIENCE_SECONDS: Final = 600.0
_MOST_WAITING: Final = 50
"""Each of them is a request in work (Spec 9.3): more would leave no room for others."""

Run: TypeAlias = Callable[[AskUser, Progress], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Shows:
    """What the host of a call can show its user."""

    forms: bool
    pages: bool

    @classmethod
    def of(cls, ctx: Context) -> "Shows":
        """As the host has said."""
        legacy = is_legacy(ctx)
        return cls(can_be_asked(ctx, legacy=legacy), can_open(ctx, legacy=legacy))

    def __bool__(self) -> bool:
        return self.forms or self.pages

    def can_show(self, question: UserQuestion) -> bool:
        """Whether a question can be put."""
        return self.pages if question.url else self.forms


def ask_through(ctx: Context, shows: Shows) -> AskUser:
    """How the user of a legacy host is asked while its call is under way."""

    async def ask(question: UserQuestion) -> UserAnswer | None:
        if not shows.can_show(question):
            return None
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


def _future() -> "asyncio.Future[Any]":
    return asyncio.get_running_loop().create_future()


@dataclass
class _Call:
    """Work that may wait for answers."""

    ctx: Context
    """The latest of the requests that it is worked on for."""
    caller: Caller
    shows: Shows
    work: "asyncio.Task[Reply] | None" = None
    question: "asyncio.Future[UserQuestion]" = field(default_factory=_future)
    answer: "asyncio.Future[UserAnswer]" = field(default_factory=_future)
    expiry: asyncio.TimerHandle | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, question: UserQuestion) -> UserAnswer | None:
        """Put a question to the user, one after the other, and wait for what comes back with another request."""
        if not self.shows.can_show(question):
            return None
        async with self._turn:
            answer = self.answer
            self.question.set_result(question)
            return await answer

    async def report(self, current: float, total: float | None, message: str | None) -> None:
        """Tell the host how far the work is, through the request that waits for it now."""
        await self.ctx.session.report_progress(current, total, message)

    def take(self, ctx: Context, given: UserAnswer) -> None:
        """Give the work what it waits for; its next question is a new one."""
        waiting, self.ctx = self.answer, ctx
        self.question, self.answer = _future(), _future()
        if not waiting.done():  # the work may have stopped waiting
            waiting.set_result(given)

    def give_up(self) -> None:
        """End the work: nobody answers."""
        if self.work is not None:
            self.work.cancel()


@dataclass
class Parking:
    """The calls that wait for their users, each for the caller alone who began it."""

    _waiting: dict[str, _Call] = field(default_factory=dict)

    async def begin(self, ctx: Context, shows: Shows, run: Run) -> Reply | dict[str, Any]:
        """The reply to a call, or the result that makes the host ask its user first."""
        call = _Call(ctx, caller_of(ctx), shows)
        call.work = asyncio.ensure_future(run(call.ask, call.report))
        return await self._next(call)

    async def go_on(self, ctx: Context, state: str, answer: object) -> Reply | dict[str, Any] | None:
        """The same, after an answer; None if nothing of this caller's waits under this state."""
        call = self._waiting.get(state)
        if call is None or call.caller != caller_of(ctx):
            return None
        del self._waiting[state]
        if call.expiry is not None:
            call.expiry.cancel()
        call.take(ctx, _answer(answer))
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
        state = f"{ASKED}{secrets.token_urlsafe(24)}"
        self._waiting[state] = call
        call.expiry = asyncio.get_running_loop().call_later(_PATIENCE_SECONDS, self._expire, state)
        return {
            "resultType": "input_required",
            "inputRequests": {_QUESTION: {"method": "elicitation/create", "params": _params(call.question.result())}},
            "requestState": state,
        }

    def _expire(self, state: str) -> None:
        call = self._waiting.pop(state, None)
        if call is not None:
            if call.expiry is not None:
                call.expiry.cancel()
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
