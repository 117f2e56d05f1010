"""What the server has done lately, minute by minute: requests, their time, and what was decided."""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from headgate.adapter.introspection import INTROSPECT
from headgate.engine import events
from headgate.safety.clock import Clock
from headgate.server.costs import Saving

__all__ = ["CONSOLE_CLIENT", "Metrics", "Minute", "percentile"]

CONSOLE_CLIENT: Final = "headgate console"
"""Through which client operators call: their own requests are not counted among the others."""

_MINUTES: Final = 60
_BOUNDS_MS: Final = tuple(step * 10.0**size for size in range(-1, 4) for step in (1, 2, 5))
_MOST_SESSIONS: Final = 100_000
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
    """Listens to the engine. Only numbers are kept, and only of the last hour."""

    def __init__(self, saving: Saving | None = None, clock: Clock = time.time) -> None:
        self.saving = saving
        self._clock = clock
        self._minutes: dict[int, Minute] = {}
        self._sessions: set[str] = set()
        self._asking: dict[str, None] = {}
        self._discovery_bytes = 0

    def __call__(self, event: events.Event) -> None:
        """Count what happened."""
        if event.caller.client_id == CONSOLE_CLIENT:
            return
        match event:
            case events.Received():
                if len(self._sessions) < _MOST_SESSIONS:
                    self._sessions.add(event.session_id)
            case events.Validated() if event.operation == INTROSPECT:
                self._asking[event.request_id] = None
            case events.Decided():
                self._now().decisions[event.decision] += 1
            case events.Refused() | events.Failed():
                self._now().errors += 1
            case events.Answered():
                self._answered(event)

    def _answered(self, event: events.Answered) -> None:
        minute = self._now()
        minute.requests += 1
        minute.times[bisect_left(_BOUNDS_MS, event.duration_ms)] += 1
        if event.request_id in self._asking:
            del self._asking[event.request_id]
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


def percentile(minutes: Iterable[Minute], share: float) -> float | None:
    """The time in milliseconds within which this share of the requests was answered; None if there were none."""
    times = [sum(counts) for counts in zip(*(minute.times for minute in minutes), strict=True)]
    return _within(times, share)


def _within(times: Sequence[int], share: float) -> float | None:
    wanted, seen = sum(times) * share, 0
    if not wanted:
        return None
    for count, bound in zip(times, (*_BOUNDS_MS, _BOUNDS_MS[-1]), strict=True):
        seen += count
        if seen >= wanted:
            return bound
    return _BOUNDS_MS[-1]
