"""Whether what came back is what was sent: data may be put in another form on the way, but none may be lost."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

__all__ = ["differing", "lasting", "same"]

_CHANGES_BY_ITSELF = ("updated", "modified", "changed", "version", "revision", "etag", "seen", "accessed", "expires")
_CLOCKS = ("now", "time", "timestamp", "uptime", "age", "progress")


def same(sent: object, got: object) -> bool:
    """Whether a value came back: numbers may be texts, times in another zone, texts trimmed, lists sorted."""
    if sent == got:
        return True
    if isinstance(sent, Mapping):
        return isinstance(got, Mapping) and all(same(value, got.get(key)) for key, value in sent.items())
    if isinstance(got, Mapping):
        return any(same(sent, value) for value in got.values())
    if isinstance(sent, list) or isinstance(got, list):
        return isinstance(sent, list) and isinstance(got, list) and _same_lists(sent, got)
    if sent is None or got is None:
        return False
    return _same_plain(str(sent), str(got))


def _same_lists(sent: Sequence[object], got: Sequence[object]) -> bool:
    """Every element once, in whatever order."""
    left = list(got)
    for value in sent:
        found = next((place for place, other in enumerate(left) if same(value, other)), None)
        if found is None:
            return False
        del left[found]
    return not left


def _same_plain(sent: str, got: str) -> bool:
    if _plain(sent) == _plain(got):
        return True
    try:
        return Decimal(sent) == Decimal(got)
    except InvalidOperation:
        return _moment(sent) is not None and _moment(sent) == _moment(got)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def lasting(name: str) -> bool:
    """Whether a field keeps its value until somebody changes it: no metadata, version, clock or date of a change."""
    words = name.lower().split("_")
    return not name.startswith("_") and not any(word in _CHANGES_BY_ITSELF or word in _CLOCKS for word in words)


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The lasting fields that are not the same in two answers about one thing, those of inner objects with dots."""
    found: list[str] = []
    for name in sorted({*before, *after}):
        one, other = before.get(name), after.get(name)
        if not lasting(name) or one == other:
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found += (f"{name}.{inner}" for inner in differing(one, other))
        else:
            found.append(name)
    return found
