"""Which session a request belongs to, in each kind of connection (Spec 2.3).

stdio and in process: the connection. HTTP of the legacy era: the transport's session. HTTP of the modern era: the
authenticated principal, and without one nothing, so that every request stands alone.
"""

import time
from collections.abc import Callable
from typing import Final

from headgate.adapter.context import Session

__all__ = ["IDLE_SECONDS", "MOST_SESSIONS", "Sessions"]

IDLE_SECONDS: Final = 1800
"""After this time without a request a session over HTTP counts as ended, unless the operator says another."""

MOST_SESSIONS: Final = 10_000
"""So many sessions of the legacy era are kept over HTTP, unless the operator says another number."""


class Sessions:
    """The sessions that are alive, by the key that the transport has proved."""

    def __init__(
        self,
        idle_seconds: float = IDLE_SECONDS,
        *,
        on_end: Callable[[Session], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._idle_seconds = idle_seconds
        self._on_end = on_end
        self._clock = clock
        self._alive: dict[str, tuple[Session, float]] = {}

    def get(self, key: str | None, *, is_callers_own: bool = False) -> Session:
        """The session of this key, a new one if there is none; without a key, one that only this request knows."""
        if key is None:
            return Session(lasting=False)
        self.end_idle()
        found = self._alive.pop(key, None)
        session = found[0] if found else Session(is_callers_own=is_callers_own)
        self._alive[key] = session, self._clock()  # put last: the dictionary stays in the order of use
        return session

    def end(self, key: str) -> None:
        """End one session, if it is alive."""
        found = self._alive.pop(key, None)
        if found is None:
            return
        session, _ = found
        session.end()
        if self._on_end:
            self._on_end(session)

    def end_all(self) -> None:
        """End every session: the server stops."""
        for key in list(self._alive):
            self.end(key)

    def end_idle(self) -> None:
        """End those that nobody has used for long: the oldest stand first, so it stops with one that is in use."""
        now = self._clock()
        for key, (_, used) in list(self._alive.items()):
            if now - used < self._idle_seconds:
                return
            self.end(key)
