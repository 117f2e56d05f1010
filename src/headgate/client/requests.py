"""A request of the client as a value that can be shown: secrets are stars wherever it is printed."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from headgate.adapter.masking import MASK

__all__ = ["TOKENS", "Request", "plain"]

TOKENS: Final = frozenset({"confirmation_token", "_confirmation", "_quota_continue"})
"""Parameters that are never shown, whatever a server says of them."""


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """An operation with its parameters."""

    operation: str
    params: Mapping[str, Any] = field(default_factory=dict)
    sensitive: frozenset[str] | None = None
    """The parameters that introspection marks as sensitive; None where it is not known, and then all are hidden."""

    @property
    def shown(self) -> dict[str, Any]:
        """The parameters as they may be printed and logged."""
        return {name: MASK if self._hides(name) else value for name, value in self.params.items()}

    def _hides(self, name: str) -> bool:
        return name in TOKENS or self.sensitive is None or name in self.sensitive

    @property
    def wire(self) -> dict[str, Any]:
        """The request as it is sent."""
        return {"operation": self.operation, "params": plain(self.params)}

    def with_params(self, **more: object) -> "Request":
        """The same with further parameters."""
        return Request(self.operation, {**self.params, **more}, self.sensitive)

    def __repr__(self) -> str:
        return f"Request({self.operation!r}, {self.shown!r})"


def plain(value: Any) -> Any:
    """A value as JSON has it, by the conventions of MCP-AQL: exact numbers are texts, bytes in base64."""
    if isinstance(value, Mapping):
        return {str(key): plain(child) for key, child in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(child) for child in value]
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value
