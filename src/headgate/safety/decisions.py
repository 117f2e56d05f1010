"""What a gate may decide of a call."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from headgate.protocol.errors import ErrorDetail

__all__ = ["ALLOW", "Allow", "Confirm", "Decision", "Deny"]


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True)
class Confirm:
    """The call may run once it is confirmed; a batch halts here (Operations 7.5.2)."""

    error: ErrorDetail


@dataclass(frozen=True, slots=True)
class Deny:
    """The call may not run."""

    error: ErrorDetail


Decision: TypeAlias = Allow | Confirm | Deny

ALLOW: Final = Allow()
