"""From the schema of a foreign request to parameters, and from their values back to that request."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

import jsonschema_rs

from headgate.adapter.operations import DRY_RUN, INPUT
from headgate.adapter.parameters import Parameter, Schema
from headgate.adapter.schemas import dereference
from headgate.adapter.text_formats import FORMATS
from headgate.protocol.names import camel_to_snake
from headgate.sources.naming import parameter_names
from headgate.sources.shapes.normalizing import normalized
from headgate.sources.shapes.renaming import in_place, property_names, reaches, renamed, translated

__all__ = ["NOT_GIVEN", "Beside", "Shaped", "has_changes", "shaped"]

Beside: TypeAlias = Callable[[str], bool]
"""Which parameters of an UPDATE, by their own names, say what is changed; the others are the change (Spec 4.5)."""


class _NotGiven:
    """Stands for an optional parameter that the caller has left to the upstream."""

    def __repr__(self) -> str:
        return "not given"


NOT_GIVEN: Final = _NotGiven()

_TOGETHER: Final = (
    *("allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
    *("dependentRequired", "dependentSchemas", "minProperties", "patternProperties"),
)
"""Keywords about all properties together."""
_PLAIN: Final = frozenset({"type", "title", "description", "properties", "required", "additionalProperties", "$ref"})


@dataclass(frozen=True)
class Shaped:
    """The parameters of an operation, and the way back from their values to what the upstream takes."""

    parameters: tuple[Parameter, ...]
    definitions: Mapping[str, Schema]
    rules: Schema
    notes: tuple[str, ...]
    own_names: Mapping[str, str]
    """The upstream's spelling of each name: of parameters, and of the fields of an ``input`` that was made here."""
    own_inside: Mapping[str, str] = field(repr=False)
    """The same of all names inside their values."""
    folded: bool = False
    """Whether ``input`` was made here, and is to be unfolded."""

    def back(self, values: Mapping[str, object]) -> dict[str, object]:
        """The request as the upstream spells it; what was not given is left out."""
        flat = self._unfolded(values)
        return {
            self.own_names.get(name, name): self._inside(name, value) if name in self._spelt_otherwise else value
            for name, value in flat.items()
            if value is not NOT_GIVEN
        }

    def _unfolded(self, values: Mapping[str, object]) -> Mapping[str, object]:
        if not self.folded:
            return values
        changes: Any = values[INPUT]
        return {**{name: value for name, value in values.items() if name != INPUT}, **changes}

    def _inside(self, name: str, value: object) -> object:
        return translated(value, [self._schemas[name]], self.definitions, self.own_inside)

    @cached_property
    def _schemas(self) -> Mapping[str, Schema]:
        """The schema of each name, also of those inside the ``input`` that was made for an UPDATE."""
        found: dict[str, Schema] = {}
        for parameter in self.parameters:
            if parameter.name == INPUT and self.folded:
                found |= parameter.schema["properties"]
            else:
                found[parameter.name] = parameter.schema
        return found

    @cached_property
    def _spelt_otherwise(self) -> frozenset[str]:
        return frozenset(
            name for name, schema in self._schemas.items() if reaches(schema, self.definitions, self.own_inside)
        )


def has_changes(schema: object, beside: Beside) -> bool:
    """Whether an UPDATE of this shape has anything to change, beside what says where."""
    root = _Root.of(schema)
    return root.is_open or any(not beside(name) for name in root.properties)


def shaped(schema: object, *, taken: Container[str] = (), update: Beside | None = None) -> Shaped:
    """The parameters that a foreign object's schema makes. What is odd in it is loosened, and said in the notes."""
    root = _Root.of(schema)
    names = parameter_names(root.properties, taken=taken)
    inside = parameter_names(root.names_inside, held=())
    definitions = {name: renamed(child, root.definitions, inside) for name, child in root.definitions.items()}
    made = {names[name]: renamed(child, root.definitions, inside) for name, child in root.properties.items()}
    needed = {names[name] for name in root.required}
    rules = _closing(renamed(root.rules, root.definitions, names, inside))
    if update is None:
        parameters = tuple(_parameters(made, needed))
    else:
        beside = {names[name] for name in root.properties if update(name) and names[name] != INPUT}
        parameters, rules = _with_input(made, needed, beside, rules)
    return _usable(
        Shaped(
            parameters,
            definitions,
            rules,
            (*root.notes, *_renaming_notes(names)),
            {snake: name for name, snake in names.items()},
            {snake: name for name, snake in inside.items()},
            folded=update is not None,
        )
    )


@dataclass(frozen=True)
class _Root:
    """A request's schema, taken apart: its properties, wherever they were declared, and what holds them together."""

    properties: Mapping[str, Schema]
    required: Sequence[str]
    rules: Schema
    definitions: Mapping[str, Schema]
    notes: Sequence[str]

    @classmethod
    def of(cls, schema: object) -> "_Root":
        clean = normalized(schema)
        root = _inlined(clean.schema, clean.definitions)
        found = dict(_properties(root))
        required = [name for part in _demanded(root) for name in part.get("required", ())]
        for name in required:
            found.setdefault(name, {})
        rules: Schema = {key: root[key] for key in _TOGETHER if key in root}
        if all(_PLAIN.issuperset(branch) for branch in rules.get("allOf", ())):
            rules.pop("allOf", None)  # its properties stand among the others
        rules |= _openness(root, found)
        return cls(found, list(dict.fromkeys(required)), rules, clean.definitions, clean.notes)

    @property
    def is_open(self) -> bool:
        """Whether names beyond the declared ones are taken."""
        return "additionalProperties" in self.rules

    @property
    def names_inside(self) -> Iterator[str]:
        """All names of properties inside values."""
        for schema in (*self.properties.values(), *self.definitions.values(), self.rules):
            yield from property_names(schema)


def _inlined(schema: Schema, definitions: Mapping[str, Schema], within: frozenset[str] = frozenset()) -> Schema:
    """The schema of a request with what it stands for written out, so that its branches can be looked into."""
    ref = str(schema.get("$ref", ""))
    if ref in within:
        return {}
    inside = within | {ref} if ref else within
    made = {key: value for key, value in dereference(schema, definitions).items() if key != "$ref"}
    for key in ("allOf", "anyOf", "oneOf"):
        if key in made:
            made[key] = [_inlined(branch, definitions, inside) for branch in made[key]]
    for key in ("if", "then", "else", "not"):
        if isinstance(made.get(key), dict):
            made[key] = _inlined(made[key], definitions, inside)
    return made


def _demanded(root: Schema) -> Iterator[Schema]:
    """The parts of a request's schema that always hold."""
    yield root
    for branch in root.get("allOf", ()):
        yield from _demanded(branch)


def _properties(root: Schema) -> Iterator[tuple[str, Schema]]:
    """Every property that a request may have. One that is declared differently in several places may be any of them."""
    found: dict[str, list[Schema]] = {}
    for part in in_place(root, {}):
        for name, schema in part.get("properties", {}).items():
            versions = found.setdefault(name, [])
            if schema not in versions:
                versions.append(schema)
    for name, versions in found.items():
        stated = root.get("properties", {}).get(name)
        yield name, stated or (versions[0] if len(versions) == 1 else {"anyOf": versions})


def _openness(root: Schema, found: Mapping[str, Schema]) -> Schema:
    """Whether further names are taken: only where the schema says so, or says nothing of names at all."""
    said = root.get("additionalProperties")
    if said is True or isinstance(said, dict):
        return {"additionalProperties": said}
    if "patternProperties" in root:
        return {"additionalProperties": False}
    is_silent = said is None and not found and "properties" not in root
    return {"additionalProperties": True} if is_silent else {}


def _closing(rules: Schema) -> Schema:
    """Rules whose closed branches let the parameter pass that headgate adds to every change."""
    for key in ("anyOf", "oneOf"):
        for branch in rules.get(key, ()):
            if branch.get("additionalProperties") is False:
                branch["properties"] = {**branch.get("properties", {}), DRY_RUN: {}}
    return rules


def _renaming_notes(names: Mapping[str, str]) -> Iterator[str]:
    """The names that nobody would guess."""
    for own, name in names.items():
        if name not in (own, camel_to_snake(own), own.replace("-", "_").lower()):
            yield f"'{name}' is '{own}' there"


def _parameters(made: Mapping[str, Schema], needed: Container[str]) -> Iterator[Parameter]:
    for name, schema in made.items():
        yield Parameter(name, schema, required=name in needed, default=None if name in needed else NOT_GIVEN)


def _with_input(
    made: Mapping[str, Schema], needed: Container[str], beside: Container[str], rules: Schema
) -> tuple[tuple[Parameter, ...], Schema]:
    """The parameters of an UPDATE: what says where stays, the rest is put into ``input`` (Spec 4.5)."""
    changes = {name: schema for name, schema in made.items() if name not in beside}
    schema: Schema = {
        "type": "object",
        "description": "The fields to change.",
        "properties": changes,
        "required": [name for name in changes if name in needed],
        "additionalProperties": rules.get("additionalProperties", False),
    }
    if all(name in changes for name in made):
        schema |= {key: value for key, value in rules.items() if key in _TOGETHER}
    where = {name: schema for name, schema in made.items() if name in beside}
    return (*_parameters(where, needed), Parameter(INPUT, schema)), {}


def _usable(made: Shaped) -> Shaped:
    """The same, or if the whole cannot be compiled, without what holds its parameters together or constrains them."""
    if _compiles(made.parameters, made.definitions, made.rules):
        return made
    note = "its schema cannot be used, so that only the upstream checks it"
    loose = tuple(
        Parameter(one.name, _loose(one), required=one.required, default=one.default) for one in made.parameters
    )
    is_open = made.rules.get("additionalProperties")
    rules: Schema = {} if is_open is None else {"additionalProperties": is_open is not False}
    return replace(made, parameters=loose, definitions={}, rules=rules, notes=(*made.notes, note))


def _loose(parameter: Parameter) -> Schema:
    said: Schema = {key: parameter.schema[key] for key in ("description", "title") if key in parameter.schema}
    if parameter.name != INPUT or "properties" not in parameter.schema:
        return said
    return {**said, "type": "object", "properties": {name: {} for name in parameter.schema["properties"]}}


def _compiles(parameters: Sequence[Parameter], definitions: Mapping[str, Schema], rules: Schema) -> bool:
    properties = {parameter.name: parameter.schema for parameter in parameters}
    schema = {"type": "object", "properties": properties, **rules, "$defs": dict(definitions)}
    try:
        jsonschema_rs.Draft202012Validator(schema, validate_formats=True, formats=FORMATS)
    except (ValueError, jsonschema_rs.ReferencingError):
        return False
    return True
