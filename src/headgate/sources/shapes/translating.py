"""Values with the names of fields as they are called here, and as the upstream calls them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import jsonschema_rs

from headgate.adapter.parameters import Schema
from headgate.adapter.subschemas import children_of, target_of
from headgate.protocol.errors import Invalid, quoted
from headgate.sources.shapes.places import Names, in_place, mentioned

__all__ = ["Place", "Translator"]

_MOST_PLACES: Final = 10_000
_INNER_ITEMS: Final = ("contains", "unevaluatedItems")


class Translator:
    """Knows what the fields are called in every place that a schema has for values."""

    def __init__(self, definitions: Mapping[str, Schema], names: Names, *, is_needed: bool) -> None:
        self.definitions = definitions
        self.names = names
        self.is_needed = is_needed
        """Whether anything inside the value of a parameter has another name."""
        self._places: dict[frozenset[int], Place] = {}

    def place(self, schemas: Iterable[Schema]) -> "Place":
        """The place that these schemas speak of together."""
        found = list({id(schema): schema for schema in schemas}.values())
        key = frozenset(id(schema) for schema in found)
        if key not in self._places:
            if len(self._places) >= _MOST_PLACES:
                self._places.clear()
            self._places[key] = Place(self, in_place(found, self.definitions))
        return self._places[key]

    def concerns(self, schemas: Iterable[Schema]) -> bool:
        """Whether any field there, or inside, has another name here."""
        seen: set[int] = set()
        waiting = list(schemas)
        for here in waiting:
            if id(here) in seen:
                continue
            seen.add(id(here))
            names = self.names.get(id(here), {})
            if any(name in names for name in mentioned(here)):
                return True
            waiting += children_of(here)
            target = self.definitions.get(target_of(here) or "")
            waiting += [] if target is None else [target]
        return False


class Place:
    """Everything that is said of one value."""

    def __init__(self, translator: Translator, schemas: Sequence[Schema]) -> None:
        self._translator = translator
        self._schemas = schemas

    def ahead(self, value: Any) -> Any:
        """A value of the upstream as it is written here."""
        if isinstance(value, list):
            return [self.item(index).ahead(item) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {self._here.get(key, key): self.field(key).ahead(child) for key, child in value.items()}
        return value

    def back(self, parameter: str, value: Any) -> Any:
        """A value that stands in a parameter as the upstream writes it."""
        if not isinstance(value, dict | list) or not self._is_concerned:
            return value
        if isinstance(value, list):
            return [self.item(index).back(parameter, item) for index, item in enumerate(value)]
        made = {}
        for key, child in value.items():
            own = self._there.get(key, key)
            if own == key and key in self._here:  # else it would pass by what is decided on the other name
                raise Invalid(parameter, f"a field inside it is called {quoted(self._here[key], 'otherwise')} here")
            made[own] = self.field(own).back(parameter, child)
        return made

    @cached_property
    def _is_concerned(self) -> bool:
        return self._translator.concerns(self._schemas)

    @cached_property
    def _here(self) -> Mapping[str, str]:
        """The fields that are called otherwise here, by their own names."""
        found: dict[str, str] = {}
        for schema in self._schemas:
            called = self._translator.names.get(id(schema), {})
            found |= {name: called[name] for name in mentioned(schema) if name in called}
        return found

    @cached_property
    def _there(self) -> Mapping[str, str]:
        """Their own names, by what they are called here."""
        return {here: own for own, here in self._here.items()}

    def field(self, own: str) -> "Place":
        """The place of one field."""
        return self._translator.place(child for schema in self._schemas for child in _under_name(schema, own))

    def item(self, index: int) -> "Place":
        """The place of one item."""
        return self._translator.place(child for schema in self._schemas for child in _under_index(schema, index))


def _under_name(schema: Schema, own: str) -> Iterator[Schema]:
    declared = schema.get("properties", {}).get(own)
    matching = [child for pattern, child in schema.get("patternProperties", {}).items() if _matches(pattern, own)]
    if declared is not None:
        yield declared
    yield from matching
    if declared is None and not matching and isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"]
    if declared is None and isinstance(schema.get("unevaluatedProperties"), dict):
        yield schema["unevaluatedProperties"]


def _under_index(schema: Schema, index: int) -> Iterator[Schema]:
    first = schema.get("prefixItems", ())
    here = first[index] if index < len(first) else schema.get("items")
    if isinstance(here, dict):
        yield here
    for key in _INNER_ITEMS:
        if isinstance(schema.get(key), dict):
            yield schema[key]


def _matches(pattern: str, name: str) -> bool:
    return _compiled(pattern).is_valid(name)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"pattern": pattern})
