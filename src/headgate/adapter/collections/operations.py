"""The operations that follow from a collection: list, get, search, count, create, update, delete."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from headgate.adapter.collections.parameters import (
    ABSENT,
    DRY_RUN,
    FILTER,
    LISTING,
    QUERY,
    SELECTION,
    VERSION,
    create_parameters,
    input_parameter,
    key_parameters,
)
from headgate.adapter.collections.words import (
    describe_listing,
    examples_of_listing,
    features_of,
    listing_in_short,
)
from headgate.adapter.context import Context
from headgate.adapter.etags import item_etag
from headgate.adapter.operations import INPUT, Example, Operation
from headgate.adapter.parameters import Parameter
from headgate.protocol.categories import Category
from headgate.protocol.danger import DEFAULT_LEVELS, Danger, DangerLevel
from headgate.protocol.errors import Invalid, NotFound
from headgate.protocol.tables import FORMAT, TABLE
from headgate.query.answers import Shaper, summaries_answer
from headgate.query.backends import Backend, Change, Key, shown_key
from headgate.query.collections import FULL, MINIMAL, STANDARD, Collection, Field
from headgate.query.conditions import value_of
from headgate.query.reading import Asked, Reader
from headgate.query.refusals import contradiction

__all__ = ["VERBS", "CollectionOperations"]

_SAFE: Final = Danger(DangerLevel.SAFE)
"""What is known to only read, whatever words its collection puts into its name."""

VERBS: Final = ("list", "get", "search", "count", "create", "update", "delete")
"""The operations that a collection has, unless its author leaves some out."""


@dataclass(frozen=True)
class CollectionOperations:
    """Answers the requests to one collection."""

    collection: Collection
    backend: Backend
    reader: Reader
    shaper: Shaper
    writable: bool = True

    def operations(self, leave_out: frozenset[str] = frozenset()) -> Iterator[Operation]:
        """The operations that make sense for the collection, less those that its author leaves out."""
        makers: Mapping[str, Callable[[], Operation | None]] = {
            "list": self._list,
            "get": self._get,
            "search": self._search,
            "count": self._count,
            "create": self._create,
            "update": self._update,
            "delete": self._delete,
        }
        for verb, make in makers.items():
            operation = None if verb in leave_out else make()
            if operation is not None:
                yield operation

    # reading

    def _list(self) -> Operation:
        async def list_items(ctx: Context, **params: Any) -> object:
            return await self.page(ctx, params, STANDARD)

        name = self.collection.name
        return self._reading(
            f"list_{name}",
            list_items,
            LISTING,
            f"List {_said(name)}, with filters, sorting, pages and summaries.",
            describe_listing(self.collection, STANDARD),
            listing_in_short(self.collection, STANDARD),
            examples_of_listing(self.collection, searching=False),
        )

    def _search(self) -> Operation | None:
        if not self.collection.searchable:
            return None

        async def search_items(ctx: Context, **params: Any) -> object:
            return await self.page(ctx, params, MINIMAL)

        name = self.collection.name
        where = ", ".join(self.collection.searchable)
        return self._reading(
            f"search_{name}",
            search_items,
            (QUERY, *LISTING),
            f"Search {_said(name)} by words in {where}.",
            describe_listing(self.collection, MINIMAL),
            listing_in_short(self.collection, MINIMAL),
            examples_of_listing(self.collection, searching=True),
            rationale="the words of a query decide which match best",
        )

    def _count(self) -> Operation:
        async def count_items(ctx: Context, **params: Any) -> object:
            asked = {key: value for key, value in params.items() if value is not None}
            given = {**asked, "aggregate": {"count": {"count": True}}}
            answer: Mapping[str, Any] = await self.page(ctx, given, MINIMAL)
            return {"count": answer["aggregations"]["count"]}

        words = (Parameter(QUERY.name, QUERY.schema, required=False),)
        return self._reading(
            f"count_{self.collection.name}",
            count_items,
            (FILTER, *(words if self.collection.searchable else ())),
            f"Count {_said(self.collection.name)}, all or those that meet a filter.",
            "",
            "",
            (Example({}, f"Count all {_said(self.collection.name)}"),),
            rationale="it gives a number, and no items",
            features={},
        )

    def _get(self) -> Operation | None:
        collection = self.collection
        if not collection.key:
            return None

        async def get_item(fields: Any, preset: Any, **key: Any) -> object:
            return await self._one(self._key(key), fields, preset)

        singular = collection.singular
        return self._reading(
            f"get_{singular}",
            get_item,
            (*key_parameters(collection), *SELECTION),
            f"Get one {_said(singular)} by its {' and '.join(collection.key)}, with its version in _etag.",
            "",
            f"Get one {_said(singular)}, with its version in _etag.",
            context=False,
            features={key: one for key, one in features_of(collection).items() if key == "computed_fields"},
        )

    def _reading(
        self,
        name: str,
        function: Callable[..., Any],
        parameters: tuple[Parameter, ...],
        summary: str,
        description: str,
        short: str,
        examples: tuple[Example, ...] = (),
        *,
        rationale: str = "",
        context: bool = True,
        features: Mapping[str, object] | None = None,
    ) -> Operation:
        return Operation(
            name=name,
            category=Category.READ,
            function=function,
            parameters=parameters,
            summary=summary,
            description="\n".join(part for part in (summary, description) if part),
            short=short,
            returns={"type": "object"},
            returns_description=_RETURNS[name.partition("_")[0]],
            examples=examples,
            rationale=rationale,
            context_parameter="ctx" if context else None,
            features=features_of(self.collection) if features is None else features,
            danger=_SAFE,
            checked=True,
        )

    async def page(self, ctx: Context, params: Mapping[str, Any], preset: str) -> dict[str, Any]:
        """A page, summaries, or both."""
        as_table = params.get(FORMAT) == TABLE
        if as_table and params.get("edges"):
            raise contradiction((FORMAT, "edges"), "a table has no place for a cursor with each item")
        asked: Asked = self.reader.read(params, self.collection, preset)
        answer: dict[str, Any] = {}
        if asked.summaries is not None:
            summaries = asked.summaries
            groups = await self.backend.summarize(summaries.shape, summaries.values, self.reader.options.max_groups)
            answer["aggregations"], notices = summaries_answer(summaries, groups)
            ctx.warnings.extend((*notices, *(notice for one in groups for notice in one.warnings)))
        if asked.query is not None:
            query = asked.query
            fetched = await self.backend.fetch(query.listing, query.values, query.window.size + 1, query.window.offset)
            ctx.warnings.extend((*asked.warnings, *fetched.warnings))
            shape = self.shaper.table if as_table else self.shaper.page
            answer |= shape(query, fetched)
        return answer

    async def _one(self, key: Key, fields: Any, preset: Any) -> dict[str, Any]:
        """One item with its version, which depends on all of its fields."""
        collection = self.collection
        selection = self.reader.selection(collection, fields, preset, FULL)
        whole = self.reader.selection(collection, list(collection.fields), None, FULL)
        everything = tuple(dict.fromkeys((*selection, *whole)))
        query = self.reader.one(collection, key, everything)
        fetched = await self.backend.fetch(query.listing, query.values, 1)
        if not fetched.rows:
            raise NotFound(collection.singular, shown_key(key))
        columns, rows, reads = query.listing.columns, fetched.rows, fetched.reads
        item = self.shaper.items(columns, selection, rows, reads)[0]
        full = self.shaper.items(columns, whole, rows, reads)[0]
        return {**item, "_etag": item_etag(collection, full)}

    def _key(self, given: Mapping[str, Any]) -> Key:
        fields = self.collection.fields
        return tuple(value_of(fields[name], given[name], name) for name in self.collection.key)

    # writing

    def _create(self) -> Operation | None:
        collection = self.collection
        parameters = create_parameters(collection)
        if not self.writable:
            return None
        field_of = {parameter.name: name for name, parameter in parameters.items()}

        async def create_item(dry_run: Any, **given: Any) -> object:
            fields = {
                field_of[name]: None if value is None else _given(collection.fields[field_of[name]], value, name)
                for name, value in given.items()
                if value is not ABSENT
            }
            changed = await self.backend.insert(collection, fields, dry_run=bool(dry_run))
            if dry_run:
                return {"dry_run": True, "affected": 1, "would_create": dict(changed.item)}
            return self._changed(changed.item)

        singular = _said(collection.singular)
        return self._writing(
            f"create_{collection.singular}",
            Category.CREATE,
            create_item,
            (*sorted(parameters.values(), key=lambda one: not one.required), DRY_RUN),
            f"Create {_one(singular)}.",
            "The new item, with its version in _etag",
        )

    def _update(self) -> Operation | None:
        collection = self.collection
        changes = input_parameter(collection)
        can_change = any("not" not in schema for schema in changes.schema["properties"].values())
        if not self.writable or not collection.key or not can_change:
            return None

        async def update_item(if_match: Any, dry_run: Any, **given: Any) -> object:
            changes = given.pop(INPUT)
            fields = {
                name: None if value is None else _given(collection.fields[name], value, f"{INPUT}.{name}")
                for name, value in changes.items()
            }
            change = Change(self._key(given), fields, if_match)
            changed = await self.backend.update(collection, change, dry_run=bool(dry_run))
            if dry_run:
                return {"dry_run": True, "affected": 1, "before": changed.before, "after": changed.item}
            return self._changed(changed.item)

        return self._writing(
            f"update_{collection.singular}",
            Category.UPDATE,
            update_item,
            (*key_parameters(collection), changes, VERSION, DRY_RUN),
            f"Change fields of {_one(_said(collection.singular))}; what is left out stays.",
            "The changed item, with its version in _etag",
        )

    def _delete(self) -> Operation | None:
        collection = self.collection
        if not self.writable or not collection.key:
            return None

        async def delete_item(if_match: Any, dry_run: Any, **given: Any) -> object:
            changed = await self.backend.delete(collection, self._key(given), if_match, dry_run=bool(dry_run))
            if dry_run:
                return {"dry_run": True, "affected": 1, "would_delete": dict(changed.item)}
            return {"deleted": True, **{name: changed.item[name] for name in collection.key}}

        singular = _said(collection.singular)
        which = ", ".join(f"{name} {{{name}}}" for name in collection.key)
        danger = Danger(
            DangerLevel.DESTRUCTIVE,
            (f"It removes {_one(singular)} for good",),
            f"Delete the {singular} with {which}?",
        )
        return self._writing(
            f"delete_{collection.singular}",
            Category.DELETE,
            delete_item,
            (*key_parameters(collection), VERSION, DRY_RUN),
            f"Delete {_one(singular)}.",
            "The key of what was deleted",
            danger,
        )

    def _writing(
        self,
        name: str,
        category: Category,
        function: Callable[..., Any],
        parameters: tuple[Parameter, ...],
        summary: str,
        returns: str,
        danger: Danger | None = None,
    ) -> Operation:
        about = self.collection.description
        return Operation(
            name=name,
            category=category,
            function=function,
            parameters=parameters,
            summary=summary,
            description=f"{summary} {about}".strip(),
            returns={"type": "object"},
            returns_description=returns,
            danger=danger or Danger(DEFAULT_LEVELS[category]),
            checked=True,
        )

    def _changed(self, item: Mapping[str, Any]) -> dict[str, Any]:
        return {**item, "_etag": item_etag(self.collection, item)}


def _one(name: str) -> str:
    """The name with its article."""
    return (
        f"an {name}" if name.startswith(("a", "e", "i", "o", "u")) and not name.startswith(_LIKE_YOU) else f"a {name}"
    )


def _given(field: Field, value: object, where: str) -> Any:
    """A value to be stored, none of which may be lost: a database would round what has more digits than it keeps."""
    read = value_of(field, value, where)
    if (
        isinstance(read, Decimal)
        and field.scale is not None
        and -int(read.normalize().as_tuple().exponent) > field.scale
    ):
        raise Invalid(where, f"it has more than {field.scale} digits after the point", scale=field.scale)
    return read


def _said(name: str) -> str:
    return name.replace("_", " ")


_LIKE_YOU: Final = ("uni", "use", "usu", "eu", "one")
_RETURNS: Final[Mapping[str, str]] = {
    "list": "items with pageInfo or pagination, and aggregations if asked for; as a table columns and rows",
    "search": "items with pageInfo or pagination, the best matches first; as a table columns and rows",
    "count": "How many there are",
    "get": "The item, with its version in _etag",
}
