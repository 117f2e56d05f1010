"""Moments in the one form that answers have (Spec 4.7.2), and as a person reads them."""

from datetime import UTC, datetime
from typing import Final

__all__ = ["ago", "span", "timestamp"]

_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def timestamp(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def span(seconds: float) -> str:
    """How long it is, in the largest unit that fits: ``14 min``."""
    whole = max(0, int(seconds))
    length, unit = next(((length, unit) for length, unit in _UNITS if whole >= length), _UNITS[-1])
    return f"{whole // length} {unit}"


def ago(at: float, now: float) -> str:
    """How long ago it was."""
    return f"{span(now - at)} ago"
