"""Parameters: what an author says of them, and what the adapter keeps (Operations 5.2)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, Final, TypeAlias

import jsonschema_rs
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.names import REQUEST_FIELDS, is_snake_case

__all__ = ["SENSITIVE", "Convert", "Deprecated", "Param", "Parameter", "Schema"]

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema: foreign data by nature, so its values are of any type."""

Convert: TypeAlias = Callable[[Any], Any]

SENSITIVE: Final = "x-sensitive"
"""The schema keyword of a value that must never be shown."""

_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


@cache
def _check_pattern(pattern: str) -> None:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except ValueError:
        raise AdapterError(
            f"The pattern '{pattern}' is not a regular expression as JSON Schema knows them (ECMA 262)."
        ) from None


def _check_type(name: str, schema: Schema) -> None:
    """A type that JSON Schema does not know would make every request fail (Operations 5.2)."""
    if "type" not in schema:
        return
    declared = schema["type"]
    types = declared if isinstance(declared, list) else [declared]
    if not types or not _TYPES.issuperset(types):
        raise AdapterError(f"The parameter '{name}' has no data type: it must be one of {', '.join(sorted(_TYPES))}.")


@dataclass(frozen=True, slots=True)
class Deprecated:
    """That something will go, since when, until when, and what to use instead."""

    note: str = ""
    replacement: str | None = None
    removal_date: date | None = None

    @property
    def sentence(self) -> str:
        """The notice for introspection, with the way to migrate."""
        return f"Deprecated{self.advice}."

    @property
    def advice(self) -> str:
        """How the sentence goes on after the word: until when, and what to use instead."""
        until = f", to be removed on {self.removal_date.isoformat()}" if self.removal_date else ""
        instead = [f"use '{self.replacement}' instead"] if self.replacement else []
        ways = "; ".join([*instead, *([self.note.rstrip(".")] if self.note else [])])
        return f"{until}: {ways}" if ways else until


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """What a type hint cannot say of a parameter or field: ``Annotated[str, Param(pattern=…, description=…)]``."""

    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    enum: Sequence[object] | None = None
    examples: Sequence[object] | None = None
    sensitive: bool = False
    read_only: bool = False
    deprecated: Deprecated | str | None = None

    def __post_init__(self) -> None:
        if self.pattern is not None:
            _check_pattern(self.pattern)
        for low, high in ((self.minimum, self.maximum), (self.min_length, self.max_length)):
            if low is not None and high is not None and low > high:
                raise AdapterError(f"Param allows nothing: its lower bound {low} is above its upper bound {high}.")

    @property
    def deprecation(self) -> Deprecated | None:
        """The deprecation, also when it was given as a plain note."""
        return Deprecated(self.deprecated) if isinstance(self.deprecated, str) else self.deprecated

    @property
    def bounded(self) -> bool:
        """Whether it sets a lowest or highest number."""
        return self.minimum is not None or self.maximum is not None

    def onto(self, schema: Mapping[str, Any]) -> Schema:
        """The schema with everything that was said added to it."""
        declared = schema.get("type", ())
        what = "Items" if "array" in declared else "Properties" if "object" in declared else "Length"
        said = {
            "description": self.description or None,
            "minimum": self.minimum,
            "maximum": self.maximum,
            f"min{what}": self.min_length,
            f"max{what}": self.max_length,
            "pattern": self.pattern,
            "format": self.format,
            "enum": self._choices(nullable="null" in declared),
            "examples": list(self.examples) if self.examples is not None else None,
            "readOnly": self.read_only or None,
            "deprecated": True if self.deprecated is not None else None,
            SENSITIVE: self.sensitive or None,
        }
        return {**schema, **{key: value for key, value in said.items() if value is not None}}

    def _choices(self, *, nullable: bool) -> list[object] | None:
        if self.enum is None:
            return None
        return [*self.enum, None] if nullable and None not in self.enum else list(self.enum)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Hold decimals written as text to the bounds too, which the schema applies to numbers only."""
        schema = handler(source)
        inner: Any = schema["schema"] if schema["type"] == "nullable" else schema
        if inner["type"] == "decimal":
            bounds = {"ge": self.minimum, "le": self.maximum}
            inner.update({key: Decimal(str(bound)) for key, bound in bounds.items() if bound is not None})
        return schema

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        """Take part in the schemas of pydantic models, dataclasses and typed dictionaries."""
        return self.onto(handler(core_schema))


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation. Its schema is the one truth: validation and introspection both come from it."""

    name: str
    schema: Schema
    required: bool = True
    default: object = None
    convert: Convert | None = None
    deprecated: Deprecated | None = None

    def __post_init__(self) -> None:
        if not is_snake_case(self.name):
            raise AdapterError(
                f"The parameter name '{self.name}' is not snake_case: use lower-case letters, digits and underscores, "
                "starting with a letter (Spec 4.3)."
            )
        if self.name in REQUEST_FIELDS:
            raise AdapterError(f"The parameter name '{self.name}' is a field of every request: choose another name.")
        _check_type(self.name, self.schema)

    @property
    def description(self) -> str:
        """What the author says of it."""
        return str(self.schema.get("description", ""))

    @property
    def sensitive(self) -> bool:
        """Whether its value must never be shown."""
        return bool(self.schema.get(SENSITIVE))
