"""When a request that changes nothing is sent once more, and how long that waits. Pure, but for the dice."""

import random
import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2

__all__ = ["RETRIED_STATUSES", "pause", "retry_after"]

RETRIED_STATUSES: Final = frozenset({429, 502, 503, 504})
"""The upstream says that it would answer at another time."""

_FIRST_SECONDS: Final = 0.2
_LONGEST_SECONDS: Final = 10.0
_SECONDS: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?\Z")
_DICE: Final = random.SystemRandom().random


def pause(attempt: int, asked: float | None, dice: Callable[[], float] = _DICE) -> float:
    """How long to wait after the given attempt, the first being 0: twice as long each time, and never all at once.

    What the upstream asks for is respected in full.
    """
    if asked is not None:
        return asked
    longest = min(_FIRST_SECONDS * 2.0**attempt, _LONGEST_SECONDS)
    return longest / 2 + dice() * longest / 2


def retry_after(headers: httpx2.Headers, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """The seconds that an upstream asks to wait, by a number or by a date; None if it says nothing that can be read."""
    text = headers.get("retry-after", "").strip()
    if _SECONDS.match(text):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError, IndexError):
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now()).total_seconds())
