"""What a caller gives: parameters and body of an operation together, and the way back to where each belongs."""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from headgate.adapter.parameters import Deprecated, Parameter, Schema
from headgate.adapter.schemas import REF
from headgate.protocol.categories import Category
from headgate.sources.openapi.bodies import BODY, CONTENT_TYPE, Body
from headgate.sources.openapi.parameters import Located
from headgate.sources.openapi.schemas import Schemas
from headgate.sources.shapes import NOT_GIVEN, MalformedSchema, Shaped, shaped

__all__ = ["Given", "Inputs", "Shaping", "inputs_of"]

_OF_ALL_FIELDS: Final = frozenset({"minProperties", "maxProperties", "patternProperties", "propertyNames"})
_TOO_LARGE: Final = "the schema of its body is too large to be checked here"


@dataclass(frozen=True, slots=True)
class Given:
    """The values of one call under their own names: by the key of a parameter, and those of the body."""

    located: Mapping[str, Any]
    body: Any = NOT_GIVEN
    content_type: str | None = None


@dataclass(frozen=True)
class Inputs:
    """The parameters of an operation. ``fields`` are those of the body, where they are parameters of their own."""

    outside: Shaped
    fields: Shaped | None
    body: Body | None
    parameters: tuple[Parameter, ...]
    definitions: Mapping[str, Schema]
    rules: Schema = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    body_key: str = BODY

    def given(self, values: Mapping[str, Any]) -> Given:
        """What a call has given, each where it belongs."""
        names = {parameter.name for parameter in self.outside.parameters}
        mine: dict[str, Any] = self.outside.back({name: value for name, value in values.items() if name in names})
        if self.body is None:
            return Given(mine)
        if self.fields is None:
            content_type = mine.pop(CONTENT_TYPE, None) if self.body.choices else None
            return Given(mine, mine.pop(self.body_key, NOT_GIVEN), content_type)
        rest = {name: value for name, value in values.items() if name not in names and value is not NOT_GIVEN}
        fields = self.fields.back(rest)
        return Given(mine, fields if fields or self.body.required or self.fields.folded else NOT_GIVEN)


@dataclass(frozen=True)
class Shaping:
    """Makes parameters of schemas. A body that several operations take is made once, if no name stands in its way."""

    schemas: Schemas
    _made: dict[tuple[str, bool], Shaped] = field(default_factory=dict)

    def fields(self, body: Body, taken: Container[str], *, is_update: bool) -> Shaped:
        """The fields of a body as parameters of their own, or in the ``input`` of an UPDATE."""
        reference = body.schema.schema.get("$ref")
        if reference is None or len(body.schema.schema) > 1:
            return self._shaped(body, taken, is_update=is_update)
        key = (str(reference), is_update)
        if key not in self._made:
            self._made[key] = self._shaped(body, (), is_update=is_update)
        made = self._made[key]
        is_free = not any(name in taken for name in (*made.own_names, *(one.name for one in made.parameters)))
        return made if is_free else self._shaped(body, taken, is_update=is_update)

    def _shaped(self, body: Body, taken: Container[str], *, is_update: bool) -> Shaped:
        schema = {**body.schema.schema, "$defs": self.schemas.within(body.schema.names)}
        return shaped(schema, taken=taken, update=(lambda _: False) if is_update else None)


def inputs_of(located: Mapping[str, Located], body: Body | None, category: Category, shaping: Shaping) -> Inputs:
    """The parameters that an operation of a category takes."""
    making = _Making(located, body, category, shaping)
    if body is None or (body.whole and not (body.free and making.is_update)):
        return making.together()
    return making.apart(body) or replace(making, body=replace(body, whole=True)).together()


@dataclass(frozen=True)
class _Making:
    located: Mapping[str, Located]
    body: Body | None
    category: Category
    shaping: Shaping

    @property
    def is_update(self) -> bool:
        return self.category is Category.UPDATE

    def together(self) -> Inputs:
        """Everything in one: without a body, or with one that is a single parameter."""
        key = _free(BODY, self.located)
        properties, names = self._properties()
        required = [name for name, one in self.located.items() if one.required]
        if self.body is not None:
            properties[key] = self.body.parameter()
            names += self.body.schema.names
            required += [key] if self.body.required or self.is_update else []
            if self.body.choices:
                properties[CONTENT_TYPE] = self.body.choice()
        beside = self._beside() if self.is_update else None
        made = self._shaped(properties, required, names, beside)
        return self._inputs(made, None, made.parameters, made.definitions, made.rules, body_key=key)

    def _beside(self) -> Callable[[str], bool]:
        """What stays beside the ``input`` of an UPDATE: all but the body, or without one all that is in the path."""
        if self.body is not None:
            return lambda key: key in self.located
        return lambda key: self.located[key].where == "path"

    def apart(self, body: Body) -> Inputs | None:
        """The fields of the body as parameters; None if what holds them together does not allow that."""
        properties, names = self._properties()
        outside = self._shaped(properties, [name for name, one in self.located.items() if one.required], names, None)
        taken = {parameter.name for parameter in outside.parameters}
        try:
            fields = self.shaping.fields(body, taken, is_update=self.is_update)
        except MalformedSchema:
            return None
        if _clashes(fields.rules):
            return None
        inner = _Part(fields.parameters, fields.definitions, fields.rules)
        if not self.is_update and not body.required:
            inner = _optional(inner)
        inner = _without_clash(inner, outside.definitions)
        return self._inputs(
            outside,
            fields,
            (*outside.parameters, *inner.parameters),
            {**outside.definitions, **inner.definitions},
            inner.rules,
        )

    def _properties(self) -> tuple[dict[str, Schema], tuple[str, ...]]:
        properties = {key: one.schema.schema for key, one in self.located.items()}
        return properties, tuple(name for one in self.located.values() for name in one.schema.names)

    def _shaped(
        self,
        properties: Mapping[str, Schema],
        required: list[str],
        names: tuple[str, ...],
        update: Callable[[str], bool] | None,
    ) -> Shaped:
        root = {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
            "$defs": self.shaping.schemas.within(names),
        }
        try:
            return shaped(root, update=update)
        except MalformedSchema:
            loose = {key: {"description": _TOO_LARGE.capitalize()} for key in properties}
            return shaped({**root, "properties": loose, "$defs": {}}, update=update)

    def _inputs(
        self,
        outside: Shaped,
        fields: Shaped | None,
        parameters: tuple[Parameter, ...],
        definitions: Mapping[str, Schema],
        rules: Schema,
        body_key: str = BODY,
    ) -> Inputs:
        own = outside.own_names
        deprecated = {name for name, key in own.items() if key in self.located and self.located[key].deprecated}
        marked = tuple(replace(one, deprecated=Deprecated()) if one.name in deprecated else one for one in parameters)
        notes = (*outside.notes, *(fields.notes if fields else ()))
        return Inputs(outside, fields, self.body, marked, definitions, rules, tuple(dict.fromkeys(notes)), body_key)


def _free(wanted: str, taken: Mapping[str, object]) -> str:
    name = wanted
    while name in taken:
        name = f"request_{name}"
    return name


def _clashes(rules: Schema) -> bool:
    """Whether rules speak of all parameters together, also of those that are none of the body's."""
    return any(key in _OF_ALL_FIELDS for key in rules) or any(
        _is_closed(child) for key, child in rules.items() if key != "additionalProperties"
    )


def _is_closed(rule: object) -> bool:
    if isinstance(rule, list):
        return any(_is_closed(one) for one in rule)
    if not isinstance(rule, dict):
        return False
    closing = rule.get("additionalProperties") is False or rule.get("unevaluatedProperties") is False
    inner = (rule[key] for key in ("allOf", "anyOf", "oneOf", "not", "if", "then", "else") if key in rule)
    return closing or not _OF_ALL_FIELDS.isdisjoint(rule) or any(_is_closed(one) for one in inner)


@dataclass(frozen=True, slots=True)
class _Part:
    """What the fields of a body add to an operation."""

    parameters: tuple[Parameter, ...]
    definitions: Mapping[str, Schema]
    rules: Schema


def _optional(fields: _Part) -> _Part:
    """The fields of a body that may be left out as a whole: what they need, they need only if there is one of them."""
    needed = [one.name for one in fields.parameters if one.required]
    names = [one.name for one in fields.parameters]
    loose = tuple(replace(one, required=False, default=NOT_GIVEN) if one.required else one for one in fields.parameters)
    rest = {key: rule for key, rule in fields.rules.items() if key != "additionalProperties"}
    if not rest:
        rules = (
            {"dependentRequired": {name: [one for one in needed if one != name] for name in names}} if needed else {}
        )
        return replace(fields, parameters=loose, rules={**fields.rules, **rules})
    none = {"not": {"anyOf": [{"required": [name]} for name in names]}}
    kept = {key: fields.rules[key] for key in ("additionalProperties",) if key in fields.rules}
    return replace(fields, parameters=loose, rules={**kept, "anyOf": [none, {**rest, "required": needed}]})


def _without_clash(fields: _Part, taken: Mapping[str, Schema]) -> _Part:
    """The same with other names for definitions that are named like different ones."""
    clashing = [name for name, schema in fields.definitions.items() if taken.get(name, schema) != schema]
    if not clashing:
        return fields
    used = {*taken, *fields.definitions}
    names = dict(_other_names(clashing, used))
    return replace(
        fields,
        parameters=tuple(replace(one, schema=_renamed(one.schema, names)) for one in fields.parameters),
        definitions={names.get(name, name): _renamed(one, names) for name, one in fields.definitions.items()},
        rules=_renamed(fields.rules, names),
    )


def _other_names(clashing: list[str], used: set[str]) -> Iterator[tuple[str, str]]:
    for name in clashing:
        other = f"{name}_body"
        while other in used:
            other += "_2"
        used.add(other)
        yield name, other


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(one, names) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: _renamed(child, names) for key, child in value.items()}
    target = value.get("$ref")
    if isinstance(target, str) and target.removeprefix(REF) in names:
        made["$ref"] = REF + names[target.removeprefix(REF)]
    return made
