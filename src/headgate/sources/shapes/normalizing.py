"""A foreign JSON Schema, of any draft and however odd, as one that headgate can use.

References become ``#/$defs/Name``, older spellings become today's, and a keyword whose value makes no sense is left
out: the upstream checks for itself what is loosened here. Nothing is ever fetched.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import jsonschema_rs

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import REF
from headgate.protocol.adapter_errors import AdapterError

__all__ = ["MalformedSchema", "Normalized", "normalized"]

_DEEPEST: Final = 100
_LARGEST: Final = 50_000
"""How many subschemas one operation may have; the largest real ones have a few thousand."""
_LONGEST_TEXT: Final = 20_000
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_ALIASES: Final[Mapping[str, str]] = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "none": "null",
}
_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")

_MAPS: Final = ("properties", "patternProperties", "dependentSchemas")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE: Final = (
    "items",
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
    "unevaluatedItems",
)
_IN_PLACE: Final = ("$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords whose schemas speak of the same value, not of one inside it."""
_COUNTS: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_TEXTS: Final = ("title", "description", "format", "contentEncoding", "contentMediaType")
_FLAGS: Final = ("readOnly", "writeOnly", "deprecated", "uniqueItems", "x-sensitive")
_VALUES: Final = ("default", "const")

_Keyword: TypeAlias = Callable[[Any], object]


class MalformedSchema(AdapterError):
    """A schema that is too large or too deep to be taken in."""


@dataclass(frozen=True, slots=True)
class Normalized:
    """The schema, the named ones that it reaches, and what could not be kept."""

    schema: Schema
    definitions: Mapping[str, Schema]
    notes: tuple[str, ...]


def normalized(schema: object) -> Normalized:
    """A schema that compiles, whatever it was before."""
    work = _Work(schema)
    made = work.schema(schema, 0)
    work.follow()
    return Normalized(made, _without_rings(work.definitions), tuple(dict.fromkeys(work.notes)))


@dataclass
class _Work:
    root: object
    definitions: dict[str, Schema] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)
    _pending: list[tuple[str, str]] = field(default_factory=list)
    _seen: int = 0

    def follow(self) -> None:
        """Take in what is referred to, and what that refers to."""
        while self._pending:
            pointer, name = self._pending.pop()
            self.definitions[name] = self.schema(_under(self.root, pointer), 0)

    def schema(self, given: object, depth: int) -> Schema:
        """One subschema."""
        self._seen += 1
        if depth > _DEEPEST or self._seen > _LARGEST:
            limit = f"{_DEEPEST} levels" if depth > _DEEPEST else f"{_LARGEST} parts"
            raise MalformedSchema(f"The schema is larger than the {limit} that are taken in.")
        if not isinstance(given, Mapping):
            return {"not": {}} if given is False else {}
        return dict(self._keywords(given, depth))

    def _keywords(self, given: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
        """The keywords that mean something, each with a value that it may have."""
        kept = _modern(given)
        if isinstance(kept.get("$ref"), str):
            yield from self._reference(kept["$ref"])
        yield from self._children(kept, depth)
        yield from self._types(kept)
        for key, read in _KEYWORDS.items():
            value = read(kept[key]) if key in kept else None
            if value is not None:
                yield key, value
            elif kept.get(key) is not None:
                self.notes.append(f"the '{key}' of its schema is not usable")
        yield from ((key, kept[key]) for key in _VALUES if key in kept)

    def _children(self, kept: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
        """The keywords whose values are schemas."""
        for key in _MAPS:
            if isinstance(kept.get(key), Mapping):
                yield key, self._map(key, kept[key], depth)
        for key in _LISTS:
            branches = kept.get(key)
            if isinstance(branches, list) and branches:
                yield key, [self.schema(branch, depth + 1) for branch in branches]
        for key in _SINGLE:
            if isinstance(kept.get(key), Mapping | bool):
                yield key, kept[key] if isinstance(kept[key], bool) else self.schema(kept[key], depth + 1)

    def _map(self, key: str, children: Mapping[str, Any], depth: int) -> dict[str, Schema]:
        kept = {name: child for name, child in children.items() if key != "patternProperties" or _compiles(name)}
        return {str(name): self.schema(child, depth + 1) for name, child in kept.items()}

    def _types(self, kept: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        declared = kept.get("type")
        if declared is None:
            return
        names = declared if isinstance(declared, list) else [declared]
        types = list(dict.fromkeys(_type(name) for name in names))
        if None in types or not types:
            self.notes.append("it declares a type that JSON Schema does not know")
        elif len(types) == 1 and not kept.get("nullable"):
            yield "type", types[0]
        else:
            yield "type", [*types, "null"] if kept.get("nullable") and "null" not in types else types

    def _reference(self, reference: str) -> Iterator[tuple[str, Any]]:
        pointer = unquote(reference.removeprefix("#")) if reference.startswith("#") else None
        if pointer is None or _under(self.root, pointer) is None:
            self.notes.append("it refers to a schema that is not there")
            return
        if pointer not in self._names:
            self._names[pointer] = self._name(pointer)
            self._pending.append((pointer, self._names[pointer]))
        yield "$ref", f"{REF}{self._names[pointer]}"

    def _name(self, pointer: str) -> str:
        last = _NAME.sub("_", pointer.rpartition("/")[2].replace("~1", "_").replace("~0", "_"))
        wanted, number = last or "Root", 2
        while wanted in self._names.values():
            wanted, number = f"{last or 'Root'}_{number}", number + 1
        return wanted


def _without_rings(definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """The definitions, none of which stands for itself: checking such a one would never end."""
    broken = dict(definitions)
    for name in definitions:
        if name in _stands_for(name, broken):
            broken[name] = {key: value for key, value in broken[name].items() if key not in _IN_PLACE}
    return broken


def _stands_for(name: str, definitions: Mapping[str, Schema]) -> set[str]:
    """The names that a value of one definition must satisfy too, without stepping into the value."""
    found: set[str] = set()
    waiting: list[Schema] = [definitions[name]]
    while waiting:
        schema = waiting.pop()
        target = str(schema.get("$ref", "")).removeprefix(REF)
        if target in definitions and target not in found:
            found.add(target)
            waiting.append(definitions[target])
        for key in _IN_PLACE:
            inner = schema.get(key, ())
            waiting += [one for one in (inner if isinstance(inner, list) else [inner]) if isinstance(one, dict)]
        waiting += schema.get("dependentSchemas", {}).values()
    return found


def _type(name: object) -> str | None:
    text = name.strip().lower() if isinstance(name, str) else "null" if name is None else ""
    return text if text in _TYPES else _ALIASES.get(text)


def _modern(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The spellings of older drafts and of OpenAPI 3.0 as today's."""
    kept = dict(given)
    if isinstance(kept.get("items"), list):
        kept["prefixItems"] = kept.pop("items")
        kept["items"] = kept.pop("additionalItems", True)
    for bound in ("Minimum", "Maximum"):
        if kept.get(f"exclusive{bound}") is True:
            kept[f"exclusive{bound}"] = kept.pop(bound.lower(), None)
        elif kept.get(f"exclusive{bound}") is False:
            del kept[f"exclusive{bound}"]
    for name, needs in (kept.pop("dependencies", None) or {}).items() if _has_needs(kept) else ():
        key = "dependentRequired" if isinstance(needs, list) else "dependentSchemas"
        kept[key] = {**(kept.get(key) or {}), name: needs}
    if kept.get("nullable") and isinstance(kept.get("enum"), list) and None not in kept["enum"]:
        kept["enum"] = [*kept["enum"], None]
    if kept.get("nullable") and "type" not in kept:
        return _or_null(kept)
    return kept


def _has_needs(kept: Mapping[str, Any]) -> bool:
    return isinstance(kept.get("dependencies"), Mapping)


def _or_null(kept: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema that is only a reference or a union, or null."""
    if not any(key in kept for key in ("$ref", "allOf", "anyOf", "oneOf")):
        return kept
    said = {key: kept[key] for key in ("description", "title", "default", "readOnly", "writeOnly") if key in kept}
    rest = {key: value for key, value in kept.items() if key not in said and key != "nullable"}
    return {**said, "anyOf": [rest, {"type": "null"}]}


def _under(root: object, pointer: str) -> object:
    """What a JSON pointer leads to, or None."""
    here = root
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(here, Mapping) and key in here:
            here = here[key]
        elif isinstance(here, list) and key.isdigit() and int(key) < len(here):
            here = here[int(key)]
        else:
            return None
    return here if not pointer or pointer.startswith("/") else None


def _count(value: Any) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and value >= 0 and value == int(value) else None


def _bound(value: Any) -> object:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _step(value: Any) -> object:
    return value if _bound(value) is not None and value > 0 else None


def _text(value: Any) -> object:
    return value[:_LONGEST_TEXT] if isinstance(value, str) else None


def _flag(value: Any) -> object:
    return value if isinstance(value, bool) else None


def _choices(value: Any) -> object:
    return value if isinstance(value, list) and value else None


def _words(value: Any) -> object:
    """Names that are required; some servers put a flag there, which says nothing."""
    if not isinstance(value, list):
        return None
    return list(dict.fromkeys(name for name in value if isinstance(name, str)))


def _needs(value: Any) -> object:
    if not isinstance(value, Mapping):
        return None
    return {str(name): _words(needs) or [] for name, needs in value.items()}


def _pattern(value: Any) -> object:
    return value if isinstance(value, str) and _compiles(value) else None


def _compiles(pattern: object) -> bool:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except (ValueError, TypeError):
        return False
    return True


_KEYWORDS: Final[Mapping[str, _Keyword]] = {
    **dict.fromkeys(_COUNTS, _count),
    **dict.fromkeys(_BOUNDS, _bound),
    **dict.fromkeys(_TEXTS, _text),
    **dict.fromkeys(_FLAGS, _flag),
    "minContains": _count,
    "maxContains": _count,
    "multipleOf": _step,
    "pattern": _pattern,
    "enum": _choices,
    "examples": _choices,
    "required": _words,
    "dependentRequired": _needs,
}
