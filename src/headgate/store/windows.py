"""Use that is counted in a window of time which slides along with the clock."""

from dataclasses import dataclass
from typing import Final

__all__ = ["SLICES", "Charge", "Used"]

SLICES: Final = 3600
"""Into how many slices a window is cut at the finest: uses within one slice are kept as one, of the latest's time."""


@dataclass(frozen=True, slots=True)
class Charge:
    """So much use of something, and how much of it any window of this length may hold."""

    key: str
    seconds: float
    amount: int
    limit: int | None = None

    @property
    def slice_seconds(self) -> float:
        """How far two uses may lie apart and still be kept as one."""
        return self.seconds / SLICES


@dataclass(frozen=True, slots=True)
class Used:
    """What a window holds, and if there is no room for a charge, in how many seconds there will be.

    ``retry_after`` is None if there is room; it is infinite if the charge exceeds the limit by itself.
    """

    key: str
    amount: int
    retry_after: float | None = None
