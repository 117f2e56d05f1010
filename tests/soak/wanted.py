"""What the environment says of a soak: how long it is, how many visitors come, and what the server leaks."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

import pytest

from tests.soak.soaking import Length

__all__ = ["Wanted", "wanted"]

_SHORT_SECONDS: Final = 110
_FEWEST_SECONDS: Final = 20
"""In less, the moments of quiet lie too close together to tell a leak."""
_VISITORS: Final = 4


@dataclass(frozen=True, slots=True)
class Wanted:
    """One soak."""

    length: Length
    leak: int
    """How many bytes of each echo the server keeps, to show that it is found."""


def wanted(environment: Mapping[str, str]) -> Wanted:
    """What is meant: the short soak of the suite, unless it is said how long. A number that makes no soak fails."""
    seconds = _seconds(environment)
    visitors = _whole(environment, "HEADGATE_SOAK_VISITORS", least=1, usual=_VISITORS)
    leak = _whole(environment, "HEADGATE_SOAK_LEAK", least=0, usual=0)
    if seconds is None:
        return Wanted(Length(seconds=_SHORT_SECONDS, visitors=visitors, thinking=0.02), leak)
    return Wanted(Length(seconds=seconds, visitors=visitors, thinking=0.03, quiets=9), leak)


def _seconds(environment: Mapping[str, str]) -> float | None:
    text = environment.get("HEADGATE_SOAK_SECONDS")
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not _FEWEST_SECONDS <= seconds < math.inf:
        _refuse("HEADGATE_SOAK_SECONDS", f"a number of at least {_FEWEST_SECONDS}", text)
    return seconds


def _whole(environment: Mapping[str, str], name: str, *, least: int, usual: int) -> int:
    text = environment.get(name)
    if not text:
        return usual
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        _refuse(name, f"a whole number of at least {least}", text)
    return number


def _refuse(name: str, expected: str, text: str) -> NoReturn:
    pytest.fail(f"{name} must be {expected}, not '{text}'", pytrace=False)
