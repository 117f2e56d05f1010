"""Asking the person on this side: whether something may be done, by whatever way the server asks."""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import anyio

from headgate.client.errors import AqlFailure, ConfirmationRequired, RateLimitFailure
from headgate.client.wires import OnQuestion

__all__ = ["ASKING_SECONDS", "Confirm", "Patience", "Question", "answering", "called", "question_of", "token_of"]

ASKING_SECONDS: Final = 600.0
"""How long a person may take who is asked during a call."""


class Patience:
    """How long an answer may take. The time that a person needs, who is asked meanwhile, is not counted."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._waiting: set[anyio.CancelScope] = set()

    @contextmanager
    def waiting(self) -> Iterator[anyio.CancelScope]:
        """Give up what is done inside when its time is over; the scope tells whether that was so."""
        with anyio.move_on_after(self.seconds) as scope:
            self._waiting.add(scope)
            try:
                yield scope
            finally:
                self._waiting.discard(scope)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Let nobody run out of time while a person is asked."""
        self._set(float("inf"))
        try:
            yield
        finally:
            self._set(anyio.current_time() + self.seconds)

    def _set(self, deadline: float) -> None:
        for scope in self._waiting:
            scope.deadline = deadline


@dataclass(frozen=True, slots=True)
class Question:
    """Something that a person must agree to."""

    message: str
    operation: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The parameters of the call, secrets as stars; none where the server asks by itself."""
    reasons: tuple[str, ...] = ()
    danger_level: str = ""
    expires_at: str | None = None


Confirm: TypeAlias = Callable[[Question], bool | Awaitable[bool]]
"""Whether the person agrees; a plain or an async function."""


async def called(function: Callable[..., Any], *values: object) -> Any:
    """What a function gives, be it plain or async."""
    given = function(*values)
    return await given if inspect.isawaitable(given) else given


def token_of(failure: AqlFailure) -> tuple[str, str] | None:
    """Where a token belongs and what it is, if a failure waits for nothing but somebody's word."""
    if isinstance(failure, ConfirmationRequired) and failure.token:
        return "confirmation_token", failure.token
    if isinstance(failure, RateLimitFailure) and failure.token:
        return "_quota_continue", failure.token
    return None


def question_of(failure: AqlFailure) -> Question:
    """The question in a failure."""
    operation, params = (failure.request.operation, failure.request.shown) if failure.request else ("", {})
    if not isinstance(failure, ConfirmationRequired):
        return Question(failure.message, operation, params)
    return Question(failure.question, operation, params, failure.reasons, failure.danger_level, failure.expires_at)


def answering(confirm: Confirm, patience: Patience) -> OnQuestion:
    """How a server that asks its user itself is answered: with a yes or a no, and never with more than that."""

    async def answer(asked: Mapping[str, Any]) -> Mapping[str, Any]:
        content = _yes(asked)
        if content is None:
            return {"action": "cancel"}
        with patience.asking():
            agreed = await called(confirm, Question(str(asked.get("message") or "")))
        return {"action": "accept", "content": content} if agreed is True else {"action": "decline"}

    return answer


def _yes(asked: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The form of a question filled in with yes; None if yes is no answer to it."""
    schema = asked.get("requestedSchema")
    if asked.get("mode", "form") != "form" or not isinstance(schema, Mapping):
        return None
    fields, required = schema.get("properties") or {}, schema.get("required") or []
    booleans = {name for name, field in fields.items() if isinstance(field, Mapping) and field.get("type") == "boolean"}
    return dict.fromkeys(sorted(booleans), True) if booleans >= set(required) else None
