"""What a server says of itself: its tools and its introspection, read from whatever form they have."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from headgate.client.endpoints import Endpoints
from headgate.client.wires import Tool
from headgate.conformance.values import Exchange

__all__ = ["CATEGORIES", "INTROSPECT", "SeenOperation", "SeenParameter", "Survey", "entries", "operation_of"]

INTROSPECT: Final = "introspect"
CATEGORIES: Final = ("CREATE", "READ", "UPDATE", "DELETE", "EXECUTE")


@dataclass(frozen=True, slots=True)
class SeenParameter:
    """A parameter as introspection shows it."""

    raw: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.raw.get("name", ""))

    @property
    def types(self) -> tuple[str, ...]:
        """The types that it takes, such as ``string | string[]`` in parts; none where none is told."""
        told = self.raw.get("type")
        return tuple(part.strip() for part in told.split("|") if part.strip()) if isinstance(told, str) else ()

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.raw.get("required") is True

    @property
    def description(self) -> str:
        """What is said of it."""
        return str(self.raw.get("description") or "")


@dataclass(frozen=True, slots=True)
class SeenOperation:
    """An operation as introspection shows it: in the list, and in full where it was asked for."""

    name: str
    listed: Mapping[str, Any]
    details: Mapping[str, Any]
    tool: str
    """Where it is called: its own tool, the single one, or the one that answers introspection."""
    parameters: tuple[SeenParameter, ...] = ()

    def said(self, key: str) -> Any:
        """What the details say, or else the list."""
        return self.details.get(key, self.listed.get(key))

    @property
    def category(self) -> str:
        """Its semantic category in capitals; nothing where none of the five is told."""
        told = str(self.said("semantic_category") or self.said("endpoint") or "").upper()
        return told if told in CATEGORIES else ""

    @property
    def endpoint(self) -> str:
        """The family that it belongs to, in small letters."""
        return str(self.said("endpoint") or "").lower()

    @property
    def description(self) -> str:
        """All that is said of it."""
        return str(self.said("description") or "")

    @property
    def examples(self) -> list[Mapping[str, Any]]:
        """The parameters of its examples."""
        requests = [entry.get("request") for entry in entries(self.details.get("examples"))]
        return [
            request["params"] if isinstance(request.get("params"), Mapping) else {}
            for request in requests
            if isinstance(request, Mapping) and request.get("operation") == self.name
        ]

    def parameter(self, name: str) -> SeenParameter | None:
        """One of its parameters."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything that a server told before anything was tried."""

    tools: tuple[Tool, ...]
    endpoints: Endpoints
    introspection_tool: str
    operations: Mapping[str, SeenOperation]
    operations_answer: Exchange
    """The list of operations, as it was answered."""
    types_answer: Exchange
    """The list of types."""
    details_answers: Mapping[str, Exchange] = field(default_factory=dict)
    """The details of each operation that were asked for."""
    left_out: int = 0
    """How many operations were not looked at in full, because there are too many."""

    @property
    def protocol(self) -> Mapping[str, Any]:
        """What ``_protocol`` says; nothing where there is none."""
        data = self.operations_answer.data
        told = data.get("_protocol") if isinstance(data, Mapping) else None
        return told if isinstance(told, Mapping) else {}

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What ``_protocol.capabilities`` says."""
        told = self.protocol.get("capabilities")
        return told if isinstance(told, Mapping) else {}

    @property
    def types(self) -> list[Mapping[str, Any]]:
        """The types that are listed."""
        data = self.types_answer.data
        return entries(data.get("types")) if isinstance(data, Mapping) else []

    def of_category(self, *categories: str) -> list[SeenOperation]:
        """The operations of some categories that were looked at in full."""
        return [one for one in self.operations.values() if one.category in categories and one.details]


def entries(value: object) -> list[Mapping[str, Any]]:
    """The objects in a list, or nothing."""
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def operation_of(
    listed: Mapping[str, Any], details: Mapping[str, Any], endpoints: Endpoints, fallback: str
) -> SeenOperation:
    """An operation from its entry in the list and its details."""
    merged = {**listed, **details}
    return SeenOperation(
        name=str(merged.get("name", "")),
        listed=listed,
        details=details,
        tool=endpoints.tool_of(merged) or fallback,
        parameters=tuple(_parameters(details.get("parameters"))),
    )


def _parameters(value: object) -> Iterable[SeenParameter]:
    return (SeenParameter(entry) for entry in entries(value) if isinstance(entry.get("name"), str))
