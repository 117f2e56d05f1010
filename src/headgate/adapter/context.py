"""What a handler may know of the request it serves: who calls, in which session, and how to speak back."""

import asyncio
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

import anyio.from_thread

from headgate.protocol.results import Notice, Severity

__all__ = [
    "ANONYMOUS",
    "AskUser",
    "Attempt",
    "Caller",
    "Context",
    "Progress",
    "Session",
    "UserAnswer",
    "UserQuestion",
]

_LOG: Final = logging.getLogger("headgate.handlers")
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]*\Z")

Progress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
"""Tells the client how far the work is: current, total, message."""


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """What the user of a host is asked: to fill in a form, or to open a page."""

    message: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    """The form, as a flat JSON Schema."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class UserAnswer:
    """What the user said; the content of a form only with ``accept``."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] | None = None


AskUser: TypeAlias = Callable[[UserQuestion], Awaitable[UserAnswer | None]]
"""Asks the user of whoever calls; None if its host cannot."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request, as far as the transport has proved it; only the label is the client's own word."""

    subject: str | None = None
    client_id: str | None = None
    scopes: frozenset[str] = frozenset()
    label: str | None = None

    @property
    def authenticated(self) -> bool:
        """Whether the transport has checked a credential."""
        return self.subject is not None or self.client_id is not None


ANONYMOUS: Final = Caller()


@dataclass(slots=True, eq=False)
class Session:
    """One MCP connection and what lives as long as it (Spec 2.3): nothing here survives its end.

    ``confirmed`` is what was confirmed for the rest of it, ``agents`` who has worked in it under the safety loop. One
    that is not ``lasting`` is a single request's. One that is its authenticated caller's own has no other bounds than
    the caller, on however many servers.
    """

    id: str = field(default_factory=lambda: f"sess_{secrets.token_urlsafe(12)}")
    state: dict[str, object] = field(default_factory=dict)
    announced: set[str] = field(default_factory=set)
    confirmed: set[str] = field(default_factory=set)
    agents: set[str] = field(default_factory=set)
    lasting: bool = True
    is_callers_own: bool = False
    ended: bool = False

    def end(self) -> None:
        """Forget everything that must not outlive the connection (Spec 2.3.3)."""
        self.state.clear()
        self.announced.clear()
        self.confirmed.clear()
        self.agents.clear()
        self.ended = True


class _Done:
    """What a plain function gets where others would await."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


_DONE: Final = _Done()


class Attempt(Protocol):
    """Long work that is under way, as its handler sees it."""

    id: str
    number: int

    def report(self, current: float | None, total: float | None, message: str | None) -> None:
        """Note how far the work is."""
        ...

    @property
    def is_to_stop(self) -> bool:
        """Whether somebody wants its end."""
        ...


class Context:
    """Given to a handler that has a parameter of this type.

    ``attempt`` is there where a call only starts the work; ``is_async`` says how the handler runs.
    """

    __slots__ = (
        "_ask",
        "_attempt",
        "_is_async",
        "_log",
        "_progress",
        "caller",
        "operation",
        "request_id",
        "session",
        "warnings",
    )

    def __init__(
        self,
        operation: str,
        request_id: str,
        caller: Caller,
        session: Session,
        progress: Progress | None = None,
        *,
        attempt: Attempt | None = None,
        is_async: bool = True,
        ask: AskUser | None = None,
    ) -> None:
        self.operation = operation
        self.request_id = request_id
        self.caller = caller
        self.session = session
        self.warnings: list[Notice] = []
        self._progress = progress
        self._attempt = attempt
        self._is_async = is_async
        self._ask = ask
        self._log: logging.LoggerAdapter[logging.Logger] | None = None

    @property
    def log(self) -> "logging.LoggerAdapter[logging.Logger]":
        """Where a handler writes what its operator should know: each line names the operation and the request."""
        if self._log is None:
            names = {"operation": self.operation, "request_id": self.request_id}
            self._log = logging.LoggerAdapter(_LOG, names)
        return self._log

    @property
    def execution_id(self) -> str | None:
        """The execution that this is an attempt of; None where the caller waits for the answer."""
        return self._attempt.id if self._attempt else None

    @property
    def attempt(self) -> int:
        """Which attempt this is, from 1 on: after a failure or an interruption there may be more."""
        return self._attempt.number if self._attempt else 1

    def warn(self, code: str, message: str, *, severity: Severity | None = None, **details: object) -> None:
        """Add a warning to the answer; it reaches the caller only if the operation succeeds."""
        if not _CODE.match(code):
            raise ValueError(f"'{code}' is not a code of a warning: use capital letters, digits and underscores.")
        self.warnings.append(Notice(code, message, details or None, severity))

    async def ask_user(self, question: UserQuestion) -> UserAnswer | None:
        """Ask the user of the host that calls; None if nobody can be asked, and so nothing may be assumed."""
        return await self._ask(question) if self._ask is not None else None

    def progress(
        self, current: float | None = None, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Tell how far the work is. An async function awaits it; a plain one only calls it.

        Work that is to stop hears of it here: as ``asyncio.CancelledError``, like everywhere else.
        """
        if self._is_async:
            return self._tell(current, total, message)
        self.check_cancelled()
        if self._attempt is not None:
            self._attempt.report(current, total, message)
        elif self._progress is not None and current is not None:
            anyio.from_thread.run(self._tell, current, total, message)
        return _DONE

    async def _tell(self, current: float | None, total: float | None, message: str | None) -> None:
        if self._attempt is not None:
            self._attempt.report(current, total, message)
            await asyncio.sleep(0)  # others get their turn, and a wish to stop arrives
        elif self._progress is not None and current is not None:
            await self._progress(current, total, message)

    def check_cancelled(self) -> None:
        """Raise ``asyncio.CancelledError`` if the work is to stop: for plain functions that report nothing."""
        if self._attempt is not None and self._attempt.is_to_stop:
            raise asyncio.CancelledError
