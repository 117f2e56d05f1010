"""What introspection says of operations, parameters, types and the protocol, as values; read from any form."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from headgate.client.answers import Odd

__all__ = ["OperationInfo", "ParameterInfo", "ProtocolInfo", "TypeInfo", "objects", "odd_operation"]

_CATEGORIES: Final = ("CREATE", "READ", "UPDATE", "DELETE", "EXECUTE")


def objects(value: object) -> list[Mapping[str, Any]]:
    """The objects in a list, or nothing."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """A parameter of an operation, or a field of a type."""

    name: str
    type: str
    required: bool
    description: str
    default: Any = None
    enum: tuple[Any, ...] = ()
    sensitive: bool = False
    """Whether its values are secrets: they are then stars wherever a request is shown."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "ParameterInfo":
        """A parameter as introspection tells it."""
        enum = raw.get("enum")
        return cls(
            name=str(raw.get("name", "")),
            type=str(raw.get("type") or "any"),
            required=raw.get("required") is True,
            description=str(raw.get("description") or ""),
            default=raw.get("default"),
            enum=tuple(enum) if isinstance(enum, list) else (),
            sensitive=raw.get("sensitive") is True,
            raw=raw,
        )

    @property
    def maximum(self) -> float | None:
        """The largest number that it takes."""
        found = self.raw.get("maximum")
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None


@dataclass(frozen=True, slots=True)
class OperationInfo:
    """An operation, from the list of all of them or in full."""

    name: str
    category: str
    """CREATE, READ, UPDATE, DELETE or EXECUTE; nothing where none of them is told."""
    endpoint: str
    """Its family, in small letters."""
    tool: str | None
    """The tool that it is called through, where that can be told."""
    description: str
    parameters: tuple[ParameterInfo, ...] | None = None
    """None where they are not known: in the list of all operations, and where a server does not tell them."""
    returns: Mapping[str, Any] = field(default_factory=dict, repr=False)
    examples: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    lifecycle: Mapping[str, Any] | None = None
    """For long work: its states, and whether it can be cancelled and retried."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, raw: Mapping[str, Any], tool: str | None) -> "OperationInfo":
        """An operation as introspection tells it."""
        told = str(raw.get("semantic_category") or raw.get("endpoint") or "").upper()
        parameters, returns, lifecycle = raw.get("parameters"), raw.get("returns"), raw.get("lifecycle")
        return cls(
            name=str(raw.get("name", "")),
            category=told if told in _CATEGORIES else "",
            endpoint=str(raw.get("endpoint") or "").lower(),
            tool=tool,
            description=str(raw.get("description") or ""),
            parameters=tuple(map(ParameterInfo.of, objects(parameters))) if isinstance(parameters, list) else None,
            returns=returns if isinstance(returns, Mapping) else {},
            examples=tuple(objects(raw.get("examples"))),
            lifecycle=lifecycle if isinstance(lifecycle, Mapping) else None,
            raw=raw,
        )

    def parameter(self, name: str) -> ParameterInfo | None:
        """One of its parameters."""
        return next((one for one in self.parameters or () if one.name == name), None)

    def declares(self, *names: str) -> bool:
        """Whether it is known to have all of these parameters."""
        return all(self.parameter(name) is not None for name in names)

    @property
    def sensitive(self) -> frozenset[str] | None:
        """The names of its sensitive parameters; None where its parameters are not known."""
        return None if self.parameters is None else frozenset(one.name for one in self.parameters if one.sensitive)


@dataclass(frozen=True, slots=True)
class TypeInfo:
    """A type, from the list of all of them or in full."""

    name: str
    kind: str
    description: str
    values: tuple[Any, ...] = ()
    fields: tuple[ParameterInfo, ...] = ()
    members: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "TypeInfo":
        """A type as introspection tells it."""
        values, members = raw.get("values"), raw.get("members")
        return cls(
            name=str(raw.get("name", "")),
            kind=str(raw.get("kind") or ""),
            description=str(raw.get("description") or ""),
            values=tuple(values) if isinstance(values, list) else (),
            fields=tuple(map(ParameterInfo.of, objects(raw.get("fields")))),
            members=tuple(map(str, members)) if isinstance(members, list) else (),
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class ProtocolInfo:
    """What a server says of the protocol that it speaks; empty where it says nothing."""

    version: str
    conformance: str
    mode: str
    capabilities: Mapping[str, Any]
    limits: Mapping[str, Any]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, told: object) -> "ProtocolInfo":
        """The protocol as ``_protocol`` tells it."""
        raw: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
        capabilities, limits = raw.get("capabilities"), raw.get("limits")
        return cls(
            version=str(raw.get("version") or ""),
            conformance=str(raw.get("conformance") or ""),
            mode=str(raw.get("mode") or ""),
            capabilities=capabilities if isinstance(capabilities, Mapping) else {},
            limits=limits if isinstance(limits, Mapping) else {},
            raw=raw,
        )


def odd_operation(raw: Mapping[str, Any]) -> Iterator[Odd]:
    """What is odd about an operation in the answer of introspection."""
    name, endpoint, category = raw.get("name"), raw.get("endpoint"), raw.get("semantic_category")
    if isinstance(endpoint, str) and endpoint != endpoint.lower():
        yield Odd("introspection 4.1", f"the endpoint of '{name}' is '{endpoint}', not in small letters")
    if not isinstance(endpoint, str):
        yield Odd("introspection 3.2", f"'{name}' has no endpoint")
    if category not in _CATEGORIES:
        yield Odd("introspection 3.2", f"'{name}' has no semantic category of the five")
