"""A collection as an author declares it: from a Python type, with what the type cannot say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import TypeAdapter

from headgate.adapter.collections.memory import without_absent
from headgate.adapter.hints import Hint, hint_for
from headgate.adapter.parameters import SENSITIVE, Schema
from headgate.adapter.schemas import dereference
from headgate.adapter.text_formats import BASE64, DECIMAL
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.names import camel_to_snake, singular
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.query.collections import Access, Collection, Computed, Field, Relationship
from headgate.query.kinds import Kind

__all__ = ["Declaration", "declared_collection"]

_KINDS: Final[Mapping[str, Kind]] = {
    "string": Kind.TEXT,
    "integer": Kind.INTEGER,
    "number": Kind.NUMBER,
    "boolean": Kind.BOOLEAN,
    "array": Kind.ARRAY,
}
_FORMATS: Final[Mapping[str, Kind]] = {
    "date": Kind.DATE,
    "date-time": Kind.DATETIME,
    "time": Kind.TIME,
    "uuid": Kind.UUID,
    DECIMAL: Kind.DECIMAL,
    BASE64: Kind.BYTES,
}
_OWN_RULES: Final = ("minLength", "pattern", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_RULES: Final = (*_OWN_RULES, "maxLength", "minimum", "maximum", "enum", "format")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What an author says of a collection beside its type."""

    key: str | Sequence[str]
    name: str | None = None
    singular: str | None = None
    description: str | None = None
    computed: Iterable[Computed] = ()
    presets: Mapping[str, Sequence[str]] | None = None
    read_only: Iterable[str] = ()
    append_only: Iterable[str] = ()
    relationships: Iterable[Relationship] = ()
    search: Sequence[str] | None = None
    version: str | None = None


def declared_collection(model: Any, said: Declaration) -> tuple[Collection, TypeAdapter[Any]]:
    """The collection of a type's values, and what reads and writes them."""
    hint = hint_for(model)
    schema = dereference(hint.schema, hint.definitions)
    if "properties" not in schema:
        raise AdapterError(f"A collection needs a type with fields, such as a dataclass; '{model}' has none.")
    one = said.singular or camel_to_snake(model.__name__)
    fields = _fields(hint, schema, said)
    adapter: TypeAdapter[Any] = TypeAdapter(model)
    relationships = {each.name: _with_type(each, one) for each in said.relationships}
    _check_growing(fields)
    _check_references(fields, relationships)
    return (
        Collection(
            name=said.name or plural(one),
            singular=one,
            fields=fields,
            key=(said.key,) if isinstance(said.key, str) else tuple(said.key),
            relationships=relationships,
            computed={each.name: each for each in said.computed},
            presets={name: tuple(paths) for name, paths in (said.presets or {}).items()},
            searchable=tuple(_texts(fields, said) if said.search is None else said.search),
            description=said.description if said.description is not None else str(schema.get("description", "")),
            version=said.version,
            item=lambda item: adapter.validate_python(without_absent(fields, item)),
        ),
        adapter,
    )


def _check_growing(fields: Mapping[str, Field]) -> None:
    for name, field in fields.items():
        if field.access is Access.APPEND and field.kind not in (Kind.TEXT, Kind.ARRAY):
            raise AdapterError(f"'{name}' cannot only grow: it is neither a text nor a list.")


def _check_references(fields: Mapping[str, Field], relationships: Mapping[str, Relationship]) -> None:
    for relationship in relationships.values():
        for name in relationship.local:
            if name not in fields:
                hint_words = did_you_mean(nearest(name, list(fields)))
                raise AdapterError(
                    f"The relationship '{relationship.name}' starts from '{name}', which is no field{hint_words or '.'}"
                )


def plural(word: str) -> str:
    """The plural of a word, by rule: an author with another one in mind says so."""
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if singular(f"{word}es") == word and word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def _with_type(relationship: Relationship, one: str) -> Relationship:
    return relationship if relationship.type else replace(relationship, type=f"{one}_{relationship.name}")


def _texts(fields: Mapping[str, Field], said: Declaration) -> list[str]:
    keys = {said.key} if isinstance(said.key, str) else set(said.key)
    return [name for name, one in fields.items() if one.kind is Kind.TEXT and not one.choices and name not in keys]


def _fields(hint: Hint, schema: Schema, said: Declaration) -> dict[str, Field]:
    keys = {said.key} if isinstance(said.key, str) else set(said.key)
    access = {
        **dict.fromkeys(keys, Access.ONCE),
        **dict.fromkeys(said.append_only, Access.APPEND),
        **dict.fromkeys(said.read_only, Access.NEVER),
        **({said.version: Access.NEVER} if said.version else {}),
    }
    for name in access:
        if name not in schema["properties"]:
            hint_words = did_you_mean(nearest(name, list(schema["properties"])))
            raise AdapterError(f"The type has no field '{name}'{hint_words or '.'}")
    required = schema.get("required", ())
    return {
        name: _field(name, child, hint.definitions, access.get(name), optional=name not in required)
        for name, child in schema["properties"].items()
    }


def _field(
    name: str, schema: Schema, definitions: Mapping[str, Schema], access: Access | None, *, optional: bool
) -> Field:
    full = dereference(schema, definitions)
    branches = [dereference(one, definitions) for one in full.get("anyOf", ())]
    there = [one for one in branches if one != {"type": "null"}]
    nullable = bool(branches) and len(there) < len(branches)
    declared = full.get("type")
    if isinstance(declared, list) and "null" in declared:
        nullable, full = True, {**full, "type": _without_null(declared)}
    inner = there[0] if len(there) == 1 else full
    kind = _kind(inner)
    items = dereference(inner.get("items", {}), definitions) if kind is Kind.ARRAY else {}
    return Field(
        name=name,
        kind=kind,
        description=str(full.get("description") or ""),
        nullable=nullable,
        access=access or (Access.NEVER if full.get("readOnly") else Access.ALWAYS),
        optional=optional,
        choices=tuple(value for value in inner.get("enum", ()) if value is not None),
        max_length=inner.get("maxLength"),
        minimum=inner.get("minimum"),
        maximum=inner.get("maximum"),
        item_kind=_kind(items) if kind is Kind.ARRAY else None,
        schema=_rules(inner, items, kind),
        sensitive=bool(full.get(SENSITIVE)),
        sortable=not full.get(SENSITIVE),
        filterable=not full.get(SENSITIVE),
    )


def _rules(schema: Schema, items: Schema, kind: Kind) -> Schema | None:
    """What a type says beyond its kind. What lies inside an object is left to the type itself: updates give parts."""
    if kind is Kind.ARRAY:
        return {"items": {key: items[key] for key in ("type", *_RULES) if key in items}}
    if kind is Kind.JSON:
        return {"type": "object"} if schema.get("type") == "object" else None
    return {key: schema[key] for key in _OWN_RULES if key in schema}


def _without_null(declared: list[str]) -> Any:
    rest = [one for one in declared if one != "null"]
    return rest[0] if len(rest) == 1 else rest


def _kind(schema: Schema) -> Kind:
    by_format = _FORMATS.get(str(schema.get("format", "")))
    if by_format is not None:
        return by_format
    declared = schema.get("type")
    return _KINDS.get(declared, Kind.JSON) if isinstance(declared, str) else Kind.JSON
