"""What a handler may know of the request it serves: who calls, in which session, and how to speak back."""

import logging
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from headgate.protocol.results import Notice, Severity

__all__ = ["ANONYMOUS", "Caller", "Context", "Progress", "Session"]

_LOG: Final = logging.getLogger("headgate.handlers")
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]*\Z")

Progress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
"""Tells the client how far the work is: current, total, message."""


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


class Context:
    """Given to a handler that has a parameter of this type."""

    __slots__ = ("_progress", "caller", "log", "operation", "request_id", "session", "warnings")

    def __init__(
        self,
        operation: str,
        request_id: str,
        caller: Caller,
        session: Session,
        progress: Progress | None = None,
    ) -> None:
        self.operation = operation
        self.request_id = request_id
        self.caller = caller
        self.session = session
        self.log = logging.LoggerAdapter(_LOG, {"operation": operation, "request_id": request_id})
        self.warnings: list[Notice] = []
        self._progress = progress

    def warn(self, code: str, message: str, *, severity: Severity | None = None, **details: object) -> None:
        """Add a warning to the answer; it reaches the caller only if the operation succeeds."""
        if not _CODE.match(code):
            raise ValueError(f"'{code}' is not a code of a warning: use capital letters, digits and underscores.")
        self.warnings.append(Notice(code, message, details or None, severity))

    async def progress(self, current: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the work is, if it asked to know."""
        if self._progress is not None:
            await self._progress(current, total, message)
