"""The schema of a whole request, taken apart into the parts that speak of it, and its parameters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import REF
from headgate.adapter.subschemas import SAME_VALUE, keyed_children, target_of, with_children
from headgate.sources.shapes.normalizing import Normalized
from headgate.sources.shapes.places import mentioned

__all__ = ["Part", "Request", "Standing", "request_of"]

_WORDS: Final = ("title", "description")
_STANDINGS: Final[Mapping[str, int]] = {"allOf": 0, "if": 2, "not": 3}


class Standing(IntEnum):
    """How far a part of a request's schema holds."""

    DEMANDED = 0
    POSSIBLE = 1
    ASKED = 2
    DENIED = 3


@dataclass(frozen=True, slots=True)
class Part:
    """A schema that speaks of the whole request."""

    schema: Schema
    standing: Standing

    @property
    def names(self) -> Mapping[str, Schema]:
        """The fields that it declares."""
        declared: Mapping[str, Schema] = self.schema.get("properties", {})
        return declared

    @property
    def is_open(self) -> bool:
        """Whether it says that further fields are taken."""
        said = (self.schema.get("additionalProperties"), self.schema.get("unevaluatedProperties"))
        has_more = "patternProperties" in self.schema or any(one is True or isinstance(one, dict) for one in said)
        return has_more and self.standing is not Standing.DENIED


@dataclass(frozen=True, slots=True)
class Request:
    """A request's parts, of which the first is the whole, and the definitions that they refer to.

    No part is a part of anything else, so that its fields can have names of their own.
    """

    parts: Sequence[Part]
    definitions: Mapping[str, Schema]
    notes: tuple[str, ...]

    @property
    def mentioned(self) -> Iterator[str]:
        """All names of fields that any part speaks of."""
        return (name for part in self.parts for name in mentioned(part.schema))

    @property
    def required(self) -> frozenset[str]:
        """The fields that are always needed."""
        demanded = (part for part in self.parts if part.standing is Standing.DEMANDED)
        return frozenset(name for part in demanded for name in part.schema.get("required", ()))

    @property
    def is_open(self) -> bool:
        """Whether further fields are taken: only where it is said, or where nothing is said of fields at all."""
        says_nothing = not any("properties" in part.schema for part in self.parts) and not any(self.mentioned)
        is_closed = self.parts[0].schema.get("additionalProperties") is False
        return any(part.is_open for part in self.parts) or (says_nothing and not is_closed)

    def parameters(self) -> dict[str, Schema]:
        """Every field that a request may have, with what is said of it."""
        allowed = (part for part in self.parts if part.standing is not Standing.DENIED)
        names = dict.fromkeys(name for part in allowed for name in mentioned(part.schema))
        return {name: self._said_of(name) for name in names}

    def _said_of(self, name: str) -> Schema:
        """What always holds of a field; if that is nothing, any of what may hold, unless it may be something else."""
        said = [(part.standing, part.names[name]) for part in self.parts if name in part.names]
        demanded = [schema for standing, schema in said if standing is Standing.DEMANDED]
        if demanded:
            return _joined("allOf", [schema for schema in demanded if schema] or demanded)
        possible = [schema for standing, schema in said if standing is Standing.POSSIBLE]
        if not possible or self._may_be_anything(name):
            return {key: schema[key] for _, schema in said[:1] for key in _WORDS if key in schema}
        return _joined("anyOf", possible)

    def _may_be_anything(self, name: str) -> bool:
        return any(
            (part.standing is not Standing.POSSIBLE and name in mentioned(part.schema))
            or (part.is_open and name not in part.names)
            for part in self.parts
        )


def request_of(clean: Normalized) -> Request:
    """A schema that was made usable, as one of a request. Its type is that of an object, whatever it says."""
    copies = _Copies(clean.definitions)
    root = copies.of(clean.schema)
    definitions = {**clean.definitions, **copies.all()}
    while set(root) <= {"$ref", *_WORDS} and target_of(root) in definitions:
        root = definitions[str(target_of(root))]
    parts = _parts(root, definitions)
    types = [part.schema.pop("type", "object") for part in parts if part.standing is Standing.DEMANDED]
    notes = [*clean.notes]
    if not all("object" in ([declared] if isinstance(declared, str) else declared) for declared in types):
        notes.append("it is not described as an object")
    return Request(parts, definitions, tuple(notes))


class _Copies:
    """Copies of all that speaks of the whole request, in definitions that nothing else refers to."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions
        self._names: dict[str, str] = {}
        self._waiting: list[str] = []

    def of(self, schema: Schema) -> Schema:
        """The copy of one schema; what it refers to waits to be copied."""
        copy = with_children(schema, lambda key, child: self.of(child) if key in SAME_VALUE else child)
        target = target_of(schema)
        if target is not None:
            copy["$ref"] = f"{REF}{self._name(target)}"
        return copy

    def _name(self, target: str) -> str:
        if target not in self._names:
            self._names[target] = _free(f"{target}_request", self._definitions)
            self._waiting.append(target)
        return self._names[target]

    def all(self) -> dict[str, Schema]:
        """All definitions that were waiting."""
        made = {}
        for target in self._waiting:
            made[self._names[target]] = self.of(self._definitions[target])
        return made


def _free(wanted: str, taken: Mapping[str, Schema]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted


def _parts(root: Schema, definitions: Mapping[str, Schema]) -> list[Part]:
    """All schemas that speak of the whole request, those first that always hold."""
    found: dict[int, Part] = {}
    waiting: dict[Standing, list[Schema]] = {standing: [] for standing in Standing}
    waiting[Standing.DEMANDED].append(root)
    for standing in Standing:
        for schema in waiting[standing]:
            if id(schema) in found:
                continue
            found[id(schema)] = Part(schema, standing)
            for key, child in _beside(schema, definitions):
                waiting[max(standing, Standing(_STANDINGS.get(key, 1)))].append(child)
    return list(found.values())


def _beside(schema: Schema, definitions: Mapping[str, Schema]) -> Iterator[tuple[str, Schema]]:
    target = target_of(schema)
    if target is not None:
        yield "allOf", definitions[target]
    yield from ((key, child) for key, child in keyed_children(schema) if key in SAME_VALUE)


def _joined(key: str, versions: Sequence[Schema]) -> Schema:
    """Several versions of one field in one schema, with the words of the first."""
    distinct = [schema for index, schema in enumerate(versions) if schema not in versions[:index]]
    if len(distinct) == 1:
        return distinct[0]
    return {**{word: distinct[0][word] for word in _WORDS if word in distinct[0]}, key: distinct}
