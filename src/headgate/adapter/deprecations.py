"""Warnings of what will go, each said once in a session."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from headgate.adapter.context import Session
from headgate.adapter.operations import Operation
from headgate.adapter.parameters import Deprecated
from headgate.protocol.results import Notice, Severity

__all__ = ["deprecation_notices"]

_SOON_DAYS: Final = 30


def deprecation_notices(operation: Operation, given: Iterable[str], session: Session) -> Iterator[Notice]:
    """The warnings that this use of an operation calls for and that the session has not heard yet."""
    if operation.deprecated:
        yield from _once(session, operation.name, operation.deprecated, "operation")
    for name in given:
        deprecated = operation.deprecated_parameters.get(name)
        if deprecated:
            yield from _once(session, f"{operation.name}.{name}", deprecated, "parameter")


def _once(session: Session, item: str, deprecated: Deprecated, kind: str) -> Iterator[Notice]:
    if item in session.announced:
        return
    session.announced.add(item)
    details: dict[str, object] = {"type": kind, "deprecated_item": item}
    if deprecated.replacement:
        details["replacement"] = deprecated.replacement
    if deprecated.removal_date:
        details["removal_date"] = deprecated.removal_date.isoformat()
    message = f"The {kind} '{item}' is deprecated{deprecated.advice}."
    yield Notice("DEPRECATION_WARNING", message, details, _severity(deprecated))


def _severity(deprecated: Deprecated) -> Severity:
    if deprecated.removal_date is None:
        return "low"
    days_left = (deprecated.removal_date - datetime.now(UTC).date()).days
    return "high" if days_left <= _SOON_DAYS else "medium"
