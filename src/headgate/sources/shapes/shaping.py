"""From the schema of a foreign request to parameters, and from their values back to that request."""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeAlias

import jsonschema_rs

from headgate.adapter.operations import DRY_RUN, INPUT
from headgate.adapter.parameters import Parameter, Schema
from headgate.adapter.subschemas import children_of, effort, target_of
from headgate.adapter.text_formats import FORMATS
from headgate.protocol.errors import Invalid
from headgate.protocol.names import camel_to_snake
from headgate.sources.naming import parameter_names
from headgate.sources.shapes.normalizing import Normalized, normalized
from headgate.sources.shapes.places import names_inside
from headgate.sources.shapes.renaming import renamed
from headgate.sources.shapes.requests import Request, request_of
from headgate.sources.shapes.rules import ADDED, Rules, rules_of, within_input
from headgate.sources.shapes.translating import Place, Translator
from headgate.sources.words import clean

__all__ = ["NOT_GIVEN", "Beside", "Shaped", "has_changes", "shaped"]

Beside: TypeAlias = Callable[[str], bool]
"""Which parameters of an UPDATE, by their own names, say what is changed; the others are the change (Spec 4.5)."""


class _NotGiven:
    """Stands for an optional parameter that the caller has left to the upstream."""

    def __repr__(self) -> str:
        return "not given"


NOT_GIVEN: Final = _NotGiven()

_MOST_EFFORT: Final = 1_000_000


@dataclass(frozen=True)
class Shaped:
    """The parameters of an operation, and the way back from their values to what the upstream takes."""

    parameters: tuple[Parameter, ...]
    definitions: Mapping[str, Schema]
    rules: Schema
    notes: tuple[str, ...]
    own_names: Mapping[str, str]
    """The upstream's spelling of each name: of parameters, and of the fields of an ``input`` that was made here."""
    folded: bool = False
    """Whether ``input`` was made here, and is to be unfolded."""
    _request: Place | None = field(default=None, repr=False)
    """What the upstream calls the names inside values, if any has another name here."""

    @property
    def renames_inside(self) -> bool:
        """Whether anything inside the value of a parameter has another name there."""
        return self._request is not None

    def back(self, values: Mapping[str, object]) -> dict[str, object]:
        """The request as the upstream spells it; what was not given is left out."""
        made: dict[str, object] = {}
        for name, value in self._flat(values):
            if value is NOT_GIVEN:
                continue
            own = self.own_names.get(name, name)
            if own in made or (name not in self.own_names and name in self._spelt_otherwise):
                raise Invalid(name, "it is given under two names, or under another than its own")
            made[own] = value if self._request is None else self._request.field(own).back(name, value)
        return made

    def _flat(self, values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        for name, value in values.items():
            if name == INPUT and self.folded and isinstance(value, Mapping):
                yield from value.items()
            else:
                yield name, value

    @cached_property
    def _spelt_otherwise(self) -> frozenset[str]:
        """Names of the upstream that must not be used here: what is decided on ours would pass them by."""
        return frozenset(own for own in self.own_names.values() if own not in self.own_names)


def _clean(schema: object) -> Normalized:
    return schema if isinstance(schema, Normalized) else normalized(schema)


def has_changes(schema: object, beside: Beside) -> bool:
    """Whether an UPDATE of this shape has anything to change, beside what says where."""
    request = request_of(_clean(schema))
    return request.is_open or any(not beside(name) for name in request.parameters())


def shaped(schema: object, *, taken: Container[str] = (), update: Beside | None = None) -> Shaped:
    """The parameters that a foreign object's schema makes, also of one that was normalized before.

    What is odd in it is loosened, and said in the notes.
    """
    request = request_of(_clean(schema))
    own = request.parameters()
    names = parameter_names((*own, *request.mentioned), taken=taken)
    rules, notes = rules_of(request, names)
    whole: Schema = {**rules, "properties": own}
    translator = _translator(request, names, whole)
    made = renamed(whole, translator)
    spelt = Shaped(
        tuple(_parameters(made.pop("properties"), {names[name] for name in request.required})),
        {name: renamed(child, translator) for name, child in request.definitions.items()},
        made,
        (*request.notes, *notes, *_renaming_notes({name: names[name] for name in own})),
        {name: own_name for own_name, name in names.items()},
        _request=translator.place([whole]) if translator.is_needed else None,
    )
    if update is not None:
        spelt = _with_input(spelt, {names[name] for name in own if update(name) and names[name] != INPUT})
    return _usable(replace(spelt, definitions=_reached(spelt)))


def _translator(request: Request, names: Mapping[str, str], whole: Schema) -> Translator:
    """What knows the names of parameters in all that speaks of the request, and those inside their values elsewhere."""
    outside = {**{own: name for own, name in names.items() if own != name}, ADDED: DRY_RUN}
    parts = {id(schema): outside for schema in (whole, *(part.schema for part in request.parts))}
    inside = names_inside(whole, request.definitions, parts)
    return Translator(request.definitions, {**inside, **parts}, is_needed=bool(inside.keys() - parts.keys()))


def _reached(shape: Shaped) -> dict[str, Schema]:
    """The definitions that parameters and rules lead to."""
    found: dict[str, Schema] = {}
    waiting = [shape.rules, *(parameter.schema for parameter in shape.parameters)]
    while waiting:
        here = waiting.pop()
        target = target_of(here)
        if target is not None and target not in found:
            found[target] = shape.definitions[target]
            waiting.append(found[target])
        waiting += children_of(here)
    return {name: found[name] for name in shape.definitions if name in found}


def _renaming_notes(names: Mapping[str, str]) -> Iterator[str]:
    """The names that nobody would guess."""
    for own, name in names.items():
        if name not in (own, camel_to_snake(own), own.replace("-", "_").lower()):
            yield f"'{name}' is '{' '.join(clean(own, 60).split())}' there"


def _parameters(made: Mapping[str, Schema], needed: Container[str]) -> Iterator[Parameter]:
    for name, schema in made.items():
        yield Parameter(name, schema, required=name in needed, default=None if name in needed else NOT_GIVEN)


def _with_input(shape: Shaped, beside: Container[str]) -> Shaped:
    """The shape of an UPDATE: what says where stays, the rest is put into ``input`` (Spec 4.5)."""
    changes = [parameter for parameter in shape.parameters if parameter.name not in beside]
    where = [parameter for parameter in shape.parameters if parameter.name in beside]
    schema: Schema = {
        "type": "object",
        "description": "The fields to change.",
        "properties": {parameter.name: parameter.schema for parameter in changes},
        "required": [parameter.name for parameter in changes if parameter.required],
        "additionalProperties": shape.rules.get("additionalProperties", False),
    }
    rules = Rules(shape.rules)
    if where:
        rules = within_input(shape.rules, schema["properties"], shape.definitions)
    return replace(
        shape,
        parameters=(*where, Parameter(INPUT, {**rules.schema, **schema})),
        rules={},
        notes=(*shape.notes, *rules.notes),
        folded=True,
    )


def _usable(made: Shaped) -> Shaped:
    """The same, or if the whole cannot be checked, without what holds its parameters together or constrains them."""
    note = _hindrance(made)
    if not note:
        return made
    loose = tuple(
        Parameter(one.name, _loose(one), required=one.required, default=one.default) for one in made.parameters
    )
    is_open = made.rules.get("additionalProperties")
    rules: Schema = {} if is_open is None else {"additionalProperties": is_open is not False or _is_patterned(made)}
    return replace(made, parameters=loose, definitions={}, rules=rules, notes=(*made.notes, note), _request=None)


def _is_patterned(made: Shaped) -> bool:
    return "patternProperties" in made.rules


def _loose(parameter: Parameter) -> Schema:
    said: Schema = {key: parameter.schema[key] for key in ("description", "title") if key in parameter.schema}
    if parameter.name != INPUT or "properties" not in parameter.schema:
        return said
    return {**said, "type": "object", "properties": {name: {} for name in parameter.schema["properties"]}}


def _hindrance(made: Shaped) -> str:
    """Why the schema of a shape cannot be used, if it cannot."""
    properties = {parameter.name: parameter.schema for parameter in made.parameters}
    schema: Schema = {"type": "object", "properties": properties, **made.rules}
    if effort(schema, made.definitions) > _MOST_EFFORT:
        return "its schema is too entangled, so that only the upstream checks it"
    try:
        jsonschema_rs.Draft202012Validator(
            {**schema, "$defs": dict(made.definitions)}, validate_formats=True, formats=FORMATS
        )
    except (ValueError, jsonschema_rs.ReferencingError):
        return "its schema cannot be used, so that only the upstream checks it"
    return ""
