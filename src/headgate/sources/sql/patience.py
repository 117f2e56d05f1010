"""Which statements may hold the event loop: those that did not take long when they were last run."""

from typing import Final

__all__ = ["Patience"]

MOST_REMEMBERED: Final = 512


class Patience:
    """The statements that were slow. Each is tried again after so many runs: data and plans change."""

    def __init__(self, runs_until_forgiven: int) -> None:
        self._runs = runs_until_forgiven
        self._slow: dict[str, int] = {}

    def allows(self, sql: str) -> bool:
        """Whether a statement may try it now."""
        if sql not in self._slow:
            return True
        left = self._slow.pop(sql) - 1
        if left:
            self._slow[sql] = left  # last, so that what is forgotten first is what is used least
        return not left

    def lose(self, sql: str) -> None:
        """Remember that a statement was slow."""
        if len(self._slow) >= MOST_REMEMBERED:
            del self._slow[next(iter(self._slow))]
        self._slow[sql] = self._runs
