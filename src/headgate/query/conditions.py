"""From the ``filter`` of a request to a condition and its values."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from headgate.protocol.errors import quoted
from headgate.protocol.requests import json_type
from headgate.query.caches import keep
from headgate.query.collections import Collection, Field
from headgate.query.kinds import Kind
from headgate.query.operators import COMBINERS, OPERATORS, Arity, Operator, operators_for
from headgate.query.paths import Resolver
from headgate.query.refusals import not_allowed, unknown_name, wrong_type, wrong_value
from headgate.query.shapes import All, Any_, Comparison, Condition, Not, Path

__all__ = ["Filters", "value_of"]

_FILTER: Final = "filter"
_DEEPEST: Final = 20
_MOST: Final = 500
"""Comparisons in one filter, and as many groups of them; more would only tire the database."""
_MOST_REMEMBERED: Final = 64
"""Parts and values of a filter whose form is remembered: larger ones are seldom alike, and there is no end of them."""
_IN_JSON: Final[Mapping[str, Kind]] = {
    "string": Kind.TEXT,
    "integer": Kind.NUMBER,
    "number": Kind.NUMBER,
    "boolean": Kind.BOOLEAN,
}
_EQ: Final = OPERATORS["eq"]
_IS_NULL: Final = OPERATORS["is_null"]


class _Operand(NamedTuple):
    """Where a value of a query comes from: the field that reads it, and its place among the values of a filter."""

    field: Field
    place: int


class _Known(NamedTuple):
    """What every filter of one form states, and what its values are read by."""

    condition: Condition
    operands: tuple[_Operand, ...]


class Filters:
    """Reads filters. What they state is worked out once for each form: the same names and types, other values."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._known: dict[tuple[Collection, object], _Known] = {}

    def read(self, given: Mapping[str, object], collection: Collection, values: list[Any]) -> Condition:
        """The condition that a filter states; its values are added to ``values``, which is empty."""
        leaves: list[object] = []
        key = (collection, _form(given, leaves))
        known = self._known.get(key)
        if known is not None and _refilled(known, leaves, values):
            return known.condition
        reader = _Reader(collection, self._resolver, values)
        condition = reader.conditions(given, _FILTER, 0)
        places = _places(reader.operands, leaves) if reader.parts <= _MOST_REMEMBERED else None
        if known is None and places is not None:
            fields = (field for field, _ in reader.operands)
            keep(self._known, key, _Known(condition, tuple(map(_Operand, fields, places))))
        return condition


def _form(given: object, leaves: list[object]) -> object:
    """Everything of a filter that its condition can depend on; what only operands depend on is put into ``leaves``."""
    if isinstance(given, dict):
        return tuple([part for key, value in given.items() for part in (key, _form(value, leaves))])
    if isinstance(given, list | tuple):
        return (list, *[_form(value, leaves) for value in given])
    leaves.append(given)
    return given if given is None or isinstance(given, bool) else type(given)


def _places(operands: list[tuple[Field, object]], leaves: list[object]) -> list[int] | None:
    """Which leaf each operand is; None if that cannot be told for sure, or if it is not worth to be remembered.

    Both were met on the same walk, so an operand is the next leaf. What is no operand is null, true or false, and the
    same for all filters of a form.
    """
    if len(leaves) > _MOST_REMEMBERED:
        return None
    places: list[int] = []
    for place, leaf in enumerate(leaves):
        if len(places) < len(operands) and operands[len(places)][1] is leaf:
            places.append(place)
        elif not (leaf is None or isinstance(leaf, bool)):
            return None
    return places if len(places) == len(operands) else None


def _refilled(known: _Known, leaves: list[object], values: list[Any]) -> bool:
    """Add the values of a filter whose form is known. What is wrong with one of them is told by reading it anew."""
    read = []
    try:
        for field, place in known.operands:
            value = field.kind.read(leaves[place])
            if field.choices and value not in field.choices:
                return False
            read.append(value)
    except ValueError:
        return False
    values.extend(read)
    return True


def value_of(field: Field, value: object, where: str) -> Any:
    """A value as the field holds it. Of a field with choices it must be one of them."""
    try:
        read = field.kind.read(value)
    except ValueError:
        raise wrong_value(where, field.kind, value) from None
    if field.choices and read not in field.choices:
        raise unknown_value(field, value, where)
    return read


def unknown_value(field: Field, value: object, where: str) -> Exception:
    """A value that is none of a field's choices."""
    return not_allowed(where, str(value), f"is none of the values of '{field.name}'", map(str, field.choices))


class _Reader:
    def __init__(self, collection: Collection, resolver: Resolver, values: list[Any]) -> None:
        self._collection = collection
        self._resolver = resolver
        self._values = values
        self._comparisons = 0
        self._groups = 0
        """What combines others, and objects that say nothing."""
        self.operands: list[tuple[Field, object]] = []
        """The values as they were given, in their order, and the fields that read them."""

    def conditions(self, given: object, where: str, depth: int) -> Condition:
        """All entries of a filter object together."""
        if not isinstance(given, Mapping):
            raise wrong_type(where, "object", given)
        if depth > _DEEPEST:
            raise not_allowed(where, "filter", f"is nested deeper than {_DEEPEST} levels")
        if not given:
            self._add_group()
        parts = tuple(self._entry(key, value, where, depth) for key, value in given.items())
        return parts[0] if len(parts) == 1 else All(parts)

    def _entry(self, key: str, value: object, where: str, depth: int) -> Condition:
        if key in COMBINERS:
            return self._combined(key, value, f"{where}.{key}", depth)
        path = self._resolver.path(self._collection, key, where)
        place = f"{where}.{key}" if quoted(key) else where
        if not path.field.filterable:
            raise not_allowed(where, key, "cannot be filtered by", self._filterable())
        if isinstance(value, Mapping):
            return self._operators(path, value, place)
        if path.field.kind is Kind.ARRAY and value is not None:
            raise not_allowed(place, "eq", "does not apply to array", operators_for(Kind.ARRAY))
        return self._comparison(path, _EQ, value, place)

    @property
    def parts(self) -> int:
        """How many there are of both."""
        return self._comparisons + self._groups

    def _add_group(self) -> None:
        self._groups += 1
        if self._groups > _MOST:
            raise not_allowed(_FILTER, "filter", f"holds more than {_MOST} groups of comparisons")

    def _combined(self, key: str, value: object, where: str, depth: int) -> Condition:
        self._add_group()
        if key == "not":
            return Not(self.conditions(value, where, depth + 1))
        if not isinstance(value, list | tuple):
            raise wrong_type(where, "array", value)
        parts = tuple(self.conditions(part, f"{where}[{place}]", depth + 1) for place, part in enumerate(value))
        return All(parts) if key == "and" else Any_(parts)

    def _operators(self, path: Path, given: Mapping[str, object], where: str) -> Condition:
        kind = Kind.TEXT if path.keys else path.field.kind
        if not given:
            raise not_allowed(where, path.text, "is compared with nothing: name an operator", operators_for(kind))
        parts = []
        for name, value in given.items():
            operator = OPERATORS.get(name)
            if operator is None:
                raise unknown_name(where, "operator", name, operators_for(kind))
            if kind not in operator.kinds and not (path.keys and Kind.NUMBER in operator.kinds):
                raise not_allowed(where, name, f"does not apply to {kind.word}", operators_for(kind))
            parts.append(self._comparison(path, operator, value, f"{where}.{name}"))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _comparison(self, path: Path, operator: Operator, value: object, where: str) -> Condition:
        if operator.negates:
            return Not(self._comparison(path, OPERATORS[operator.negates], value, where))
        self._comparisons += 1
        if self._comparisons > _MOST:
            raise not_allowed(_FILTER, "filter", f"holds more than {_MOST} comparisons")
        match operator.arity:
            case Arity.FLAG:
                return self._null(path, value, where)
            case Arity.ONE:
                is_null = value is None and operator is _EQ
                return Comparison(path, _IS_NULL, 0, 0) if is_null else self._with(path, operator, [value], where)
            case Arity.TWO:
                return self._with(path, operator, self._list(value, where, exactly=2), where)
            case Arity.MANY:
                return self._one_of(path, operator, self._list(value, where), where)

    @staticmethod
    def _null(path: Path, value: object, where: str) -> Condition:
        if not isinstance(value, bool):
            raise wrong_type(where, "boolean", value)
        is_null = Comparison(path, _IS_NULL, 0, 0)
        return is_null if value else Not(is_null)

    @staticmethod
    def _list(value: object, where: str, *, exactly: int | None = None) -> list[object]:
        if not isinstance(value, list | tuple):
            raise wrong_type(where, "array", value)
        if exactly is not None and len(value) != exactly:
            raise not_allowed(where, "between", "takes two values, the lowest and the highest")
        return list(value)

    def _one_of(self, path: Path, operator: Operator, given: list[object], where: str) -> Condition:
        """Null among the values stands for no value, as it does in an equality."""
        there = [value for value in given if value is not None]
        parts: list[Condition] = [self._with(path, operator, there, where)] if there else []
        if len(there) < len(given):
            parts.append(Comparison(path, _IS_NULL, 0, 0))
        return parts[0] if len(parts) == 1 else Any_(tuple(parts))

    def _with(self, path: Path, operator: Operator, given: list[object], where: str) -> Comparison:
        field, kind = self._compared(path, operator, given, where)
        slot = len(self._values)
        for value in given:
            if value is None:
                raise wrong_type(where, kind, value)
            self._values.append(value_of(field, value, where))
            self.operands.append((field, value))
        return Comparison(path, operator, slot, len(given), kind if path.field.kind is Kind.JSON else "")

    def _compared(self, path: Path, operator: Operator, given: list[object], where: str) -> tuple[Field, str]:
        """What the operands must be: what the field is, the items of an array, or inside JSON what they are."""
        field = path.field
        if field.kind is Kind.JSON:
            return self._inside_json(path, given, where, operator)
        if field.kind is Kind.ARRAY:
            return Field(name=field.name, kind=field.item_kind or Kind.TEXT), "item"
        if operator.arity is Arity.ONE and operator.name not in ("eq", "gt", "gte", "lt", "lte"):
            return Field(name=field.name, kind=field.kind), field.kind.word  # a part of a value is no choice
        return field, field.kind.word

    @staticmethod
    def _inside_json(path: Path, given: list[object], where: str, operator: Operator) -> tuple[Field, str]:
        kinds = {_IN_JSON.get(json_type(value)) for value in given}
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is None or kind not in operator.kinds:
            raise not_allowed(
                where,
                path.text,
                "lies inside JSON: compare it with texts, numbers or booleans, all of one type, which "
                f"'{operator.name}' must be able to compare",
            )
        return Field(name=path.field.name, kind=kind), kind.word

    def _filterable(self) -> list[str]:
        return [name for name, one in self._collection.fields.items() if one.filterable]
