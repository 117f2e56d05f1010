"""What one server is put together from: the sources behind it, and how each of them fares."""

from dataclasses import dataclass
from enum import StrEnum

from headgate.protocol.danger import Trust

__all__ = ["Part", "PartState"]


class PartState(StrEnum):
    """How a source fares."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A source as introspection shows it. ``trust`` is what its origin says; who serves it may decide otherwise."""

    name: str
    kind: str
    state: PartState = PartState.READY
    operations: int = 0
    prefix: str = ""
    description: str = ""
    problem: str = ""
    """Why it is not ready, in words for whoever runs the server."""
    trust: Trust | None = None

    @property
    def is_missing(self) -> bool:
        """Whether its operations may not be there, although they are wanted."""
        return self.state in (PartState.STARTING, PartState.FAILED)

    def wire(self) -> dict[str, object]:
        """As introspection shows it, without what it has not got."""
        told = {"prefix": self.prefix, "description": self.description, "problem": self.problem}
        return {
            "name": self.name,
            "kind": self.kind,
            "state": self.state.value,
            "operations": self.operations,
            **{key: value for key, value in told.items() if value},
        }
