"""How much an API still allows, as its own headers tell: what it would refuse is not sent (Rate Limiting 4.2)."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from headgate.protocol.errors import RateLimited
from headgate.sources.http.messages import Answer

__all__ = ["Headroom", "Telling"]

_LONGEST: Final = 86_400.0
"""Nobody waits longer than a day because of a header."""
_MOMENT: Final = 1e9
"""Above this, a number is a moment in seconds since 1970, and below it a time to wait."""


@dataclass(frozen=True, slots=True)
class Telling:
    """The headers in which an API tells how many requests are left, and when there will be more."""

    remaining: str
    reset: str = ""


class Headroom:
    """Remembers when there will be room again."""

    def __init__(self, headers: Iterable[Telling], now: Callable[[], float] = time.time) -> None:
        self._headers = tuple(headers)
        self._now = now
        self._until = 0.0

    def check(self) -> None:
        """Refuse what the API would refuse."""
        wait = self._until - self._now()
        if wait > 0:
            raise RateLimited(round(wait, 3))

    def learn(self, answer: Answer) -> None:
        """Take in what an answer tells."""
        for one in self._headers:
            remaining, reset = _number(answer, one.remaining), _number(answer, one.reset)
            if remaining is not None and remaining <= 0 and reset is not None:
                wait = reset - self._now() if reset > _MOMENT else reset
                self._until = max(self._until, self._now() + min(max(wait, 0.0), _LONGEST))


def _number(answer: Answer, header: str) -> float | None:
    text = str(answer.headers.get(header, "")).strip() if header else ""
    return float(text) if text.isascii() and text.replace(".", "", 1).isdigit() and len(text) < 20 else None
