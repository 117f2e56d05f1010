"""What introspection says of a collection: in words for models, as values for machines (Collection querying 6)."""

from collections.abc import Mapping
from typing import Any, Final

from headgate.adapter.operations import Example
from headgate.query.collections import COMPUTED, FULL, STANDARD, Collection, Field
from headgate.query.kinds import Kind
from headgate.query.operators import COMBINERS, OPERATORS, operators_for
from headgate.query.paging import QueryOptions
from headgate.query.shapes import Function
from headgate.query.summarizing import groupable, numeric, sortable

__all__ = [
    "collection_in_short",
    "collection_info",
    "describe_listing",
    "examples_of_listing",
    "features_of",
    "listing_in_short",
]

_MOST_NAMED: Final = 60
_MOST_LEFT: Final = 20


def describe_listing(collection: Collection, default: str) -> str:
    """What can be asked of a list or search operation, in words."""
    lines = [collection.description] if collection.description else []
    fields = ", ".join(map(_field_words, list(collection.fields.values())[:_MOST_NAMED]))
    left = len(collection.fields) - _MOST_NAMED
    lines.append(f"Fields: {fields}{f' and {left} more' if left > 0 else ''}.")
    to_one = [one for one in collection.relationships.values() if not one.many]
    if to_one:
        over = ", ".join(f"{one.name}. ({one.target})" for one in to_one)
        lines.append(f"Fields of related items, in fields, filter, sort and group_by: {over}.")
    if collection.computed:
        lines.append("Computed: " + ", ".join(f"{COMPUTED}.{name}" for name in collection.computed) + ".")
    presets = "; ".join(f"{name} ({_preset_words(collection, name)})" for name in collection.presets if name != FULL)
    beyond = _beyond(collection, default)
    lines.append(f"Presets of fields: {presets}; full (all). Without fields: {default}{beyond}.")
    lines.append(_operator_words(collection))
    lines.append("Pages: first/after or last/before (preferred), limit/offset, or page/page_size; never two styles.")
    return "\n".join(lines)


def listing_in_short(collection: Collection, default: str) -> str:
    """What is to be known before a list or search operation is called, and cannot be guessed."""
    computed = "".join(f", {COMPUTED}.{name}" for name in collection.computed)
    own = [name for name in collection.presets if name != FULL]
    return (
        f"Fields (string unless said): {collection_in_short(collection)}{computed}. "
        f"filter: {{field: value}} or {{field: {{{_operators(collection, ' ')}: value}}}}, joined by and, or, not. "
        f"fields: {', '.join(own)}, full or a list; {default} ({_preset_words(collection, default)}) unless said"
        f"{_beyond(collection, default)}. "
        "aggregate: {label: {count: true, group_by: field}}."
    )


def collection_in_short(collection: Collection) -> str:
    """The fields of a collection with their types, and where its relationships lead."""
    fields = (
        field.name if field.kind.word == "string" and not field.choices else f"{field.name}: {_type_words(field)}"
        for field in collection.fields.values()
    )
    to_one = [f"{one.name}.*" for one in collection.relationships.values() if not one.many]
    return ", ".join([*fields, *to_one])


def _preset_words(collection: Collection, name: str) -> str:
    """What a preset has, or where that is shorter, what it leaves out."""
    paths = collection.presets[name]
    left = [field for field in collection.fields if field not in paths]
    if len(left) < len(paths) and len(paths) + len(left) == len(collection.fields):
        return f"all but {', '.join(left)}" if left else "all"
    return ", ".join(paths)


def _beyond(collection: Collection, default: str) -> str:
    """What the standard fields leave out, where that is not said with them already."""
    left = [name for name in collection.fields if name not in collection.presets[default]]
    if default != STANDARD or not left or _preset_words(collection, default).startswith("all but "):
        return ""
    if len(left) > _MOST_LEFT:
        return f"; full gives the {len(left)} others"
    return f"; full gives the {len(left)} others: {', '.join(left)}" if len(left) > 1 else f"; full gives {left[0]} too"


def _type_words(field: Field) -> str:
    return "|".join(map(str, field.choices)) if field.choices else field.kind.word


def _field_words(field: Field) -> str:
    return f"{field.name} ({_type_words(field)})"


def _operator_words(collection: Collection) -> str:
    known = _operators(collection, ", ")
    return f"Filter operators: {known}; null equals only null. Combine with {', '.join(COMBINERS)}."


def _operators(collection: Collection, between: str) -> str:
    kinds = {field.kind for field in collection.fields.values()}
    return between.join(name for name, row in OPERATORS.items() if row.kinds & kinds)


def features_of(collection: Collection) -> Mapping[str, object]:
    """The parts of OperationDetails that speak of collections."""
    features: dict[str, object] = {
        "aggregation_support": {
            "supported": True,
            "default_mode": "summary_only",
            "functions": ["count", "group_by", *(one.value for one in Function if one is not Function.COUNT)],
            "groupable_fields": groupable(collection),
            "numeric_fields": numeric(collection),
        }
    }
    if collection.computed:
        features["computed_fields"] = computed_infos(collection)
    return features


def computed_infos(collection: Collection) -> list[dict[str, object]]:
    """The computed fields."""
    return [
        {
            "name": one.name,
            "type": one.kind.word,
            **({"description": one.description} if one.description else {}),
            "filterable": one.filterable,
            "sortable": one.can_sort,
        }
        for one in collection.computed_fields.values()
    ]


def examples_of_listing(collection: Collection, *, searching: bool) -> tuple[Example, ...]:
    """Requests that combine several controls."""
    params: dict[str, Any] = {"query": "words to look for"} if searching else {}
    chosen = _telling(collection)
    if chosen:
        params["filter"] = chosen
    order = _best_order(collection, [name for name in sortable(collection) if name not in collection.key])
    if order and not searching:
        params["sort"] = {"field": order, "order": "desc"}
    params |= {"fields": "minimal", "first": 10}
    groups = [name for name in groupable(collection) if _is_category(collection, name)]
    summary: dict[str, Any] = {"total": {"count": True}}
    if groups:
        summary[f"by_{groups[0]}"] = {"group_by": groups[0], "count": True}
    counted = {**({"query": params["query"]} if searching else {}), "aggregate": summary}
    return (
        Example(params, "Filter, sort and select fields, ten at a time"),
        Example(counted, "Summaries only, no items"),
    )


def _best_order(collection: Collection, names: list[str]) -> str | None:
    """What a person would sort by: the time of something, an amount, a name."""
    for kind in (Kind.DATETIME, Kind.DATE, Kind.DECIMAL, Kind.NUMBER, Kind.INTEGER, Kind.TEXT):
        for name in names:
            if name in collection.fields and collection.fields[name].kind is kind and not name.endswith("_id"):
                return name
    return next(iter(collection.key), None)


def _telling(collection: Collection) -> dict[str, Any]:
    """A filter that is right for the collection."""
    for field in collection.fields.values():
        if field.choices and field.filterable:
            return {field.name: field.choices[0]}
    for field in collection.fields.values():
        if field.kind in _SAMPLES and field.filterable and field.name not in collection.key:
            return {field.name: _SAMPLES[field.kind]}
    return {}


_SAMPLES: Final[Mapping[Kind, Any]] = {
    Kind.TEXT: {"icontains": "a"},
    Kind.INTEGER: {"gte": 1},
    Kind.DECIMAL: {"between": ["1", "100"]},
    Kind.DATE: {"gte": "2024-01-01"},
    Kind.BOOLEAN: True,
}


def _is_category(collection: Collection, name: str) -> bool:
    field = collection.fields.get(name)
    return field is not None and name not in collection.key and bool(field.choices or field.kind is Kind.BOOLEAN)


def collection_info(collection: Collection, options: QueryOptions) -> dict[str, object]:
    """Everything about a collection, for machines."""
    return {
        "name": collection.name,
        "singular": collection.singular,
        **({"description": collection.description} if collection.description else {}),
        "key": list(collection.key),
        "fields": [_field_info(field) for field in collection.fields.values()],
        "computed_fields": computed_infos(collection),
        "sort_fields": sortable(collection),
        "search_fields": list(collection.searchable),
        "presets": {name: list(paths) for name, paths in collection.presets.items()},
        "relationships": [
            {"name": one.name, "target": one.target, "many": one.many, "type": one.type}
            for one in collection.relationships.values()
        ],
        "pagination": {
            "styles": ["cursor", "offset", "page"],
            "page_size": options.page_size,
            "max_page_size": options.max_page_size,
        },
    }


def _field_info(field: Field) -> dict[str, object]:
    info: dict[str, object] = {
        "name": field.name,
        "type": field.kind.word,
        "nullable": field.nullable,
        "access": field.access.value,
        "operators": operators_for(field.kind) if field.filterable else [],
    }
    if field.description:
        info["description"] = field.description
    if field.choices:
        info["enum"] = list(field.choices)
    return info
