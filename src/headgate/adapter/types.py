"""The types that introspection knows: the adapter's own and the protocol's (Spec 9; Introspection 3.6, 5.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import orjson

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import dereference, parameter_info, return_name
from headgate.protocol.categories import Category

__all__ = ["PROTOCOL_TYPES", "TypeDef", "returns_info", "type_from_schema"]

Kind: TypeAlias = Literal["enum", "object", "scalar", "union"]


@dataclass(frozen=True, slots=True)
class TypeDef:
    """A named type, as introspection shows it in lists and in full."""

    name: str
    kind: Kind
    description: str = ""
    values: tuple[str, ...] = ()
    fields: tuple[Mapping[str, object], ...] = ()
    members: tuple[str, ...] = ()

    def info(self) -> dict[str, object]:
        """The type in a list."""
        info: dict[str, object] = {"name": self.name, "kind": self.kind}
        return {**info, "description": self.description} if self.description else info

    def details(self) -> dict[str, object]:
        """The type in full."""
        match self.kind:
            case "enum":
                return {**self.info(), "values": list(self.values)}
            case "object":
                return {**self.info(), "fields": [dict(field) for field in self.fields]}
            case "union":
                return {**self.info(), "members": list(self.members)}
            case _:
                return self.info()


def type_from_schema(name: str, schema: Schema, definitions: Mapping[str, Schema]) -> TypeDef:
    """The type that a named schema describes."""
    schema = dereference(schema, definitions)
    description = str(schema.get("description", ""))
    if "enum" in schema:
        return TypeDef(name, "enum", description, values=tuple(_text(value) for value in schema["enum"]))
    if "properties" in schema or schema.get("type") == "object":
        required = schema.get("required", ())
        fields = tuple(
            parameter_info(field, child, definitions, required=field in required)
            for field, child in schema.get("properties", {}).items()
        )
        return TypeDef(name, "object", description, fields=fields)
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return TypeDef(name, "union", description, members=tuple(return_name(b, definitions) for b in branches))
    return TypeDef(name, "scalar", description)


def _text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def returns_info(schema: Schema, definitions: Mapping[str, Schema], description: str) -> dict[str, object]:
    """What an operation answers, as a TypeInfo."""
    info: dict[str, object] = {"name": return_name(schema, definitions), "kind": _kind(schema, definitions)}
    return {**info, "description": description} if description else info


def _kind(schema: Schema, definitions: Mapping[str, Schema], within: frozenset[str] = frozenset()) -> Kind:
    ref = str(schema.get("$ref", ""))
    full = dereference(schema, definitions)
    if full.get("type") == "array" and isinstance(full.get("items"), dict) and ref not in within:
        return _kind(full["items"], definitions, within | {ref} if ref else within)
    if "enum" in full:
        return "enum"
    if "anyOf" in full or "oneOf" in full or isinstance(full.get("type"), list):
        return "union"
    return "object" if full.get("type") == "object" else "scalar"


def _field(name: str, kind: str, description: str, *, required: bool = True, **more: Any) -> dict[str, object]:
    return {"name": name, "type": kind, "required": required, "description": description, **more}


PROTOCOL_TYPES: Final[Mapping[str, TypeDef]] = MappingProxyType(
    {
        definition.name: definition
        for definition in (
            TypeDef(
                "SemanticCategory",
                "enum",
                "The effect of an operation on stored state",
                values=tuple(category.value for category in Category),
            ),
            TypeDef(
                "OperationInput",
                "object",
                "One request; its parameters may also stand beside 'operation', and params win",
                fields=(
                    _field("operation", "string", "The operation to perform", pattern="^[a-z][a-z0-9_]*$"),
                    _field("params", "object", "The operation's parameters", required=False),
                ),
            ),
            TypeDef(
                "OperationResult",
                "union",
                "What every operation answers; 'success' tells which",
                members=("OperationSuccess", "OperationFailure"),
            ),
            TypeDef(
                "OperationSuccess",
                "object",
                "The operation did what was asked",
                fields=(
                    _field("success", "boolean", "Always true", enum=[True]),
                    _field("data", "any", "What the operation returns"),
                    _field("warnings", "array", "What to know beside it", required=False),
                ),
            ),
            TypeDef(
                "OperationFailure",
                "object",
                "The operation did not do what was asked",
                fields=(
                    _field("success", "boolean", "Always false", enum=[False]),
                    _field("error", "ErrorDetail", "What went wrong"),
                ),
            ),
            TypeDef(
                "ErrorDetail",
                "object",
                'A failure for programs and people; introspect {query: "errors"} lists the codes',
                fields=(
                    _field("code", "string", "Which kind of failure, for programs"),
                    _field("message", "string", "What is wrong and how to repair it, for people"),
                    _field("details", "object", "Names, bounds and values behind the message", required=False),
                ),
            ),
            TypeDef(
                "EndpointPermissions",
                "object",
                "What an operation may do to stored state",
                fields=(
                    _field("readOnly", "boolean", "It changes nothing"),
                    _field("destructive", "boolean", "It may overwrite or remove"),
                ),
            ),
        )
    }
)
"""The types of the protocol itself."""
