"""Moments in the one form that answers have (Spec 4.7.2)."""

from datetime import UTC, datetime

__all__ = ["timestamp"]


def timestamp(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
