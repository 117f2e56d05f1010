"""From ``aggregate`` to summaries: functions over many items, together or by the values of a field."""

from collections.abc import Mapping
from typing import Any, Final

from headgate.protocol.errors import quoted
from headgate.query.collections import COMPUTED, Collection
from headgate.query.paths import Resolver
from headgate.query.refusals import not_allowed, unknown_name, wrong_type
from headgate.query.shapes import Aggregate, AggregateShape, Condition, Function, Path, Summaries, TextShape

__all__ = ["SummaryReader", "groupable", "numeric", "sortable"]

_MOST_AGGREGATES: Final = 50
_MOST_LABEL: Final = 100


class SummaryReader:
    """Reads which summaries are asked for."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver

    def summaries(
        self,
        given: Mapping[str, object],
        collection: Collection,
        condition: Condition | None,
        text: TextShape | None,
        values: tuple[Any, ...],
    ) -> Summaries:
        """All summaries of a request."""
        if not given:
            raise not_allowed("aggregate", "aggregate", "names no summary, such as {total: {count: true}}")
        if len(given) > _MOST_AGGREGATES:
            raise not_allowed("aggregate", "aggregate", f"names more than {_MOST_AGGREGATES} summaries")
        aggregates = tuple(self._aggregate(label, one, collection) for label, one in given.items())
        shape = AggregateShape(collection, aggregates, condition, text)
        return Summaries(shape, values, tuple(given))

    def _aggregate(self, label: str, given: object, collection: Collection) -> Aggregate:
        where = f"aggregate.{label}" if quoted(label) else "aggregate"
        if len(label) > _MOST_LABEL:
            raise not_allowed("aggregate", "aggregate", f"has a label of more than {_MOST_LABEL} characters")
        if not isinstance(given, Mapping):
            raise wrong_type(where, "object", given)
        functions: list[tuple[Function, Path | None]] = []
        group_by = None
        for name, value in given.items():
            if name == "group_by":
                group_by = self._group(value, where, collection)
            elif name == "count":
                if not isinstance(value, bool):
                    raise wrong_type(f"{where}.count", "boolean", value)
                functions += [(Function.COUNT, None)] if value else []
            else:
                functions.append(self._function(name, value, where, collection))
        if not functions:
            raise not_allowed(
                where, "group_by" if group_by else label, "needs a function", [one.value for one in Function]
            )
        return Aggregate(tuple(functions), group_by)

    def _group(self, given: object, where: str, collection: Collection) -> Path:
        path = self._aggregated(given, f"{where}.group_by", collection)
        if not path.field.can_group or path.keys:
            raise not_allowed(f"{where}.group_by", path.text, "cannot be grouped by", groupable(collection))
        return path

    def _function(self, name: str, given: object, where: str, collection: Collection) -> tuple[Function, Path]:
        known = [*(one.value for one in Function), "group_by"]
        if name not in known:
            raise unknown_name(where, "function", name, known)
        function = Function(name)
        path = self._aggregated(given, f"{where}.{name}", collection)
        is_fit = (
            path.field.kind.row.numeric if function in (Function.SUM, Function.AVG) else path.field.kind.row.ordered
        )
        if not is_fit or path.keys or not path.field.filterable:
            fit = numeric(collection) if function in (Function.SUM, Function.AVG) else comparable(collection)
            raise not_allowed(f"{where}.{name}", path.text, f"has no {name}", fit)
        return function, path

    def _aggregated(self, given: object, where: str, collection: Collection) -> Path:
        if not isinstance(given, str):
            raise wrong_type(where, "string", given)
        return self.resolver.path(collection, given, where)


def sortable(collection: Collection) -> list[str]:
    """The fields that the items of a collection can be put in order by."""
    computed = (f"{COMPUTED}.{name}" for name, one in collection.computed_fields.items() if one.can_sort)
    return [*(name for name, one in collection.fields.items() if one.can_sort), *computed]


def comparable(collection: Collection) -> list[str]:
    """The fields of which there is a least and a greatest value."""
    both = {**collection.fields, **{f"{COMPUTED}.{name}": one for name, one in collection.computed_fields.items()}}
    return [name for name, one in both.items() if one.kind.row.ordered and one.filterable]


def groupable(collection: Collection) -> list[str]:
    """The fields that items can be grouped by."""
    computed = (f"{COMPUTED}.{name}" for name, one in collection.computed_fields.items() if one.can_group)
    return [*(name for name, one in collection.fields.items() if one.can_group), *computed]


def numeric(collection: Collection) -> list[str]:
    """The fields that can be summed up."""
    both = {**collection.fields, **{f"{COMPUTED}.{name}": one for name, one in collection.computed_fields.items()}}
    return [name for name, one in both.items() if one.kind.row.numeric and one.filterable]
