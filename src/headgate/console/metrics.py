"""What the server has done lately, minute by minute: requests, their time, and what was decided."""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from headgate.adapter.introspection import INTROSPECT
from headgate.engine import events
from headgate.safety.clock import Clock
from headgate.server.costs import Saving

__all__ = ["CONSOLE_CLIENT", "Metrics", "Minute", "percentile"]

CONSOLE_CLIENT: Final = "headgate console"
"""Through which client operators call: their own requests are not counted among the others."""

_MINUTES: Final = 60
_BOUNDS_MS: Final = tuple(step * 10.0**size for size in range(-1, 7) for step in (1, 2, 5))
"""From a tenth of a millisecond to more than the hour that is shown."""
_MOST_SESSIONS: Final = 100_000
_MOST_OPEN: Final = 10_000
"""Of how many requests it is known what they are, until they are answered; some never are."""
_BYTES_A_TOKEN: Final = 4


@dataclass(slots=True)
class Minute:
    """What happened in one minute."""

    at: int
    requests: int = 0
    errors: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    times: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS_MS) + 1))
    """How many requests took up to each of the bounds, and how many took longer."""


class Metrics:
    """Listens to the engine. Only numbers are kept: of the last hour, and of what was saved since the start."""

    def __init__(self, saving: Saving | None = None, clock: Clock = time.time) -> None:
        self.saving = saving
        self._clock = clock
        self._minutes: dict[int, Minute] = {}
        self._sessions: set[str] = set()
        self._discovering: dict[str, None] = {}
        self._failing: dict[str, None] = {}
        self._discovery_bytes = 0

    def __call__(self, event: events.Event) -> None:
        """Count what happened."""
        if event.caller.client_id == CONSOLE_CLIENT:
            return
        match event:
            case events.Received():
                if len(self._sessions) < _MOST_SESSIONS:
                    self._sessions.add(event.session_id if event.in_session else f"client {event.caller.label}")
            case events.Validated() if event.operation == INTROSPECT:
                _remember(self._discovering, event.request_id)
            case events.Decided():
                self._now().decisions[event.decision] += 1
            case events.Refused() | events.Failed():
                _remember(self._failing, event.request_id)
            case events.Answered():
                self._answered(event)

    def _answered(self, event: events.Answered) -> None:
        minute = self._now()
        minute.requests += 1
        minute.times[bisect_left(_BOUNDS_MS, event.duration_ms)] += 1
        if event.request_id in self._failing:
            del self._failing[event.request_id]
            minute.errors += 1
        if event.request_id in self._discovering:
            del self._discovering[event.request_id]
            self._discovery_bytes += event.size

    def _now(self) -> Minute:
        at = int(self._clock() // 60)
        minute = self._minutes.get(at)
        if minute is None:
            minute = self._minutes[at] = Minute(at)
            for old in [one for one in self._minutes if one <= at - _MINUTES]:
                del self._minutes[old]
        return minute

    def minutes(self) -> list[Minute]:
        """The last hour, the oldest minute first; those without anything too."""
        now = int(self._clock() // 60)
        return [self._minutes.get(at) or Minute(at) for at in range(now - _MINUTES + 1, now + 1)]

    @property
    def sessions(self) -> int:
        """How many sessions have sent something."""
        return len(self._sessions)

    @property
    def tokens_saved(self) -> int | None:
        """What all sessions together were spared: the tools they did not read, less what they asked to discover."""
        if self.saving is None:
            return None
        return self.saving.tokens * self.sessions - self._discovery_bytes // _BYTES_A_TOKEN


def _remember(requests: dict[str, None], request_id: str) -> None:
    requests[request_id] = None
    if len(requests) > _MOST_OPEN:
        del requests[next(iter(requests))]


def percentile(minutes: Iterable[Minute], share: float) -> float | None:
    """The time in milliseconds within which this share of the requests was answered; None if there were none."""
    times = [sum(counts) for counts in zip(*(minute.times for minute in minutes), strict=True)]
    wanted = sum(times) * share
    if not wanted:
        return None
    within = (bound for bound, seen in zip(_BOUNDS_MS, accumulate(times), strict=False) if seen >= wanted)
    return next(within, _BOUNDS_MS[-1])
