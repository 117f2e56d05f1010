"""Records: small JSON values under a kind and a key, each with a version, so that a change happens once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["NEW", "Record"]

NEW: Final = 0
"""The version of a record that is not stored yet."""


@dataclass(frozen=True, slots=True)
class Record:
    """One value. ``owner`` is whose it is, such as a session; ``expires_at`` is when it may be thrown away."""

    kind: str
    key: str
    value: Mapping[str, object]
    owner: str | None = None
    expires_at: float | None = None
    version: int = NEW

    def having(self, **changes: object) -> "Record":
        """The same record with some fields of its value changed, still of the version that was read."""
        return replace(self, value={**self.value, **changes})
