"""What every operation answers: one success or one failure, alone or in a batch (Spec 5; Operations 3, 7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from headgate.protocol.errors import ErrorDetail

__all__ = [
    "LARGEST_BRIEF_ITEM",
    "BatchItem",
    "BatchSuccess",
    "Failure",
    "Notice",
    "Pending",
    "Result",
    "Severity",
    "Success",
]

LARGEST_BRIEF_ITEM: Final = 768
"""Bytes that an operation of a batch may take in the answer even if nothing is said but that there is no room."""

Severity: TypeAlias = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning on a success: something to know that stopped nothing."""

    code: str
    message: str
    details: Mapping[str, object] | None = None
    severity: Severity | None = None

    def wire(self) -> dict[str, object]:
        """The warning as it stands in an answer."""
        wire: dict[str, object] = {"code": self.code, "message": self.message}
        if self.details:
            wire["details"] = dict(self.details)
        if self.severity:
            wire["severity"] = self.severity
        return wire


@dataclass(frozen=True, slots=True)
class Success:
    """The operation did what was asked."""

    data: object
    warnings: tuple[Notice, ...] = ()

    def wire(self) -> dict[str, object]:
        """The envelope of a success."""
        if self.warnings:
            return {
                "success": True,
                "data": self.data,
                "warnings": [notice.wire() for notice in self.warnings],
            }
        return {"success": True, "data": self.data}


@dataclass(frozen=True, slots=True)
class Failure:
    """The operation did not do what was asked, and why."""

    error: ErrorDetail

    def wire(self) -> dict[str, object]:
        """The envelope of a failure."""
        wire: dict[str, object] = {"success": False, "error": self.error.wire()}
        if self.error.confirmation:
            wire["confirmation"] = dict(self.error.confirmation)
        return wire


Result: TypeAlias = Success | Failure


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One operation of a batch with its result, which may be written as JSON already."""

    index: int
    operation: str
    result: object
    succeeded: bool
    waits: bool = False
    """Whether it was passed over because it must be confirmed first (Operations 7.5.4)."""

    def wire(self) -> dict[str, object]:
        """The item as it stands among the results."""
        wire = {"index": self.index, "operation": self.operation, "result": self.result}
        return {**wire, "status": "pending_confirmation"} if self.waits else wire


@dataclass(frozen=True, slots=True)
class Pending:
    """An operation that did not run because the batch halted before it (Operations 7.5.2)."""

    index: int
    operation: str
    params: Mapping[str, object]

    def wire(self) -> dict[str, object]:
        """The item as a client needs it to go on."""
        wire: dict[str, object] = {"index": self.index, "operation": self.operation}
        if self.params:
            wire["params"] = dict(self.params)
        return wire


@dataclass(frozen=True, slots=True)
class BatchSuccess:
    """A batch that was processed, to its end or to the operation that halted it."""

    items: tuple[BatchItem, ...]
    halted: BatchItem | None = None
    pending: tuple[Pending, ...] = ()

    def wire(self) -> dict[str, object]:
        """The envelope of a batch: ``data`` is always null."""
        succeeded = sum(item.succeeded for item in self.items)
        waiting = sum(item.waits for item in self.items)
        summary = {
            "total": len(self.items) + (self.halted is not None) + len(self.pending),
            "succeeded": succeeded,
            "failed": len(self.items) - succeeded - waiting,
        }
        if waiting:
            summary["pending_confirmation"] = waiting
        wire: dict[str, object] = {
            "success": True,
            "data": None,
            "results": [item.wire() for item in self.items],
        }
        if self.halted is not None:
            wire["halted_at"] = self.halted.wire()
            wire["pending_operations"] = [pending.wire() for pending in self.pending]
            summary |= {"halted": 1, "pending": len(self.pending)}
        return wire | {"summary": summary}
