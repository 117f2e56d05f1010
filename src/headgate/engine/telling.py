"""Events on their way to whoever listens, and the words by which a request is known to them."""

import logging
import time
from collections.abc import Iterable
from typing import Final

from headgate.adapter.context import Caller
from headgate.engine.events import Event, Listener
from headgate.engine.stages import Scope

__all__ = ["Teller", "about", "ms_since"]

_LOG: Final = logging.getLogger("headgate")


class Teller:
    """Passes events on. If nobody hears them, none need be made."""

    def __init__(self, listeners: Iterable[Listener]) -> None:
        self._listeners = tuple(listeners)
        self.is_heard = bool(self._listeners)

    def __call__(self, event: Event) -> None:
        """Tell everybody."""
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:  # noqa: BLE001  (a broken listener must not break the request)
                _LOG.exception("a listener failed on %s", type(event).__name__)


def about(scope: Scope) -> tuple[str, str, Caller]:
    """Which request an event is about, and whose it is."""
    return scope.request_id, scope.session.id, scope.caller


def ms_since(started: float) -> float:
    """How many milliseconds have passed since a reading of ``time.perf_counter``."""
    return (time.perf_counter() - started) * 1000
