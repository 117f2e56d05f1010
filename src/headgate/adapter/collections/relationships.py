"""``query_relationships``: from one item to those it is related to, level by level, one question a level and type."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from headgate.adapter.collections.parameters import optional
from headgate.adapter.context import Context
from headgate.adapter.operations import Example, Operation
from headgate.adapter.parameters import Parameter
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel
from headgate.protocol.errors import Invalid, NotFound
from headgate.protocol.results import Notice
from headgate.query.backends import Backend, Edge, Key
from headgate.query.collections import Catalog, Collection, Field, Relationship, Through
from headgate.query.conditions import value_of
from headgate.query.kinds import Kind
from headgate.query.reading import Reader
from headgate.query.refusals import unknown_name

__all__ = ["QUERY_RELATIONSHIPS", "RelationshipQueries"]

QUERY_RELATIONSHIPS: Final = "query_relationships"
_SECTIONS: Final = ("root", "relationships", "graph.nodes", "graph.edges")
_DIRECTIONS: Final = ("incoming", "outgoing", "both")
_DEEPEST: Final = 5
_MOST: Final = 50_000
"""Edges that one query looks at; beyond that it stops, and says so."""
_PAGE: Final = 100
_LARGEST_PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class _Node:
    """An item as the end of an edge."""

    collection: str
    key: Key


@dataclass(frozen=True, slots=True)
class _Found:
    """An edge, and how it was come upon."""

    source: _Node
    target: _Node
    type: str
    direction: str
    depth: int

    @property
    def end(self) -> _Node:
        """The node that the edge led to."""
        return self.target if self.direction == "outgoing" else self.source


@dataclass(slots=True)
class _Walk:
    """What a query has seen so far."""

    known: set[_Node]
    found: dict[tuple[_Node, _Node, str], _Found] = field(default_factory=dict)
    complete: bool = True


@dataclass(frozen=True)
class RelationshipQueries:
    """Answers questions about relationships between the items of all collections."""

    catalog: Catalog
    backends: Mapping[str, Backend]
    reader: Reader

    def operation(self) -> Operation:
        """The operation, with what it knows in its words."""

        async def query_relationships(ctx: Context, **params: Any) -> object:
            return await self._answer(ctx, **params)

        types = self._types()
        return Operation(
            name=QUERY_RELATIONSHIPS,
            category=Category.READ,
            function=query_relationships,
            parameters=_parameters([one.singular for one in self.catalog], types),
            summary="Follow relationships from one item to others, several steps deep.",
            description="Follow relationships from one item to others, breadth first. The answer holds the root, the "
            "relationships that were found with their depth, and the graph of nodes and edges; include picks among "
            "them. An edge that leads back is shown, and not followed again. element_name is the item's key; the parts "
            f"of a composite key are joined by commas.\nRelationship types: {', '.join(types)}.",
            returns={"type": "object"},
            returns_description="root, relationships, and graph with nodes and edges",
            examples=self._examples(types),
            rationale="it walks a graph",
            context_parameter="ctx",
            features={
                "relationship_capabilities": {
                    "supported": True,
                    "directions": list(_DIRECTIONS),
                    "relationship_types": types,
                    "max_depth": _DEEPEST,
                }
            },
            danger=Danger(DangerLevel.SAFE),
            checked=True,
        )

    def _types(self) -> list[str]:
        return list(dict.fromkeys(one.type for one in self._relationships()))

    def _relationships(self) -> Iterator[Relationship]:
        return (one for each in self._ways.values() for one in each)

    @cached_property
    def _ways(self) -> Mapping[str, Sequence[Relationship]]:
        """The relationships of each collection that lead to one that is there, and those that lead back from them."""
        ways = {
            each.name: [one for one in each.relationships.values() if one.target in self.catalog]
            for each in self.catalog
        }
        for each in self.catalog:
            for one in [one for one in ways[each.name] if one.outgoing]:
                if not any(back.type == one.type and not back.outgoing for back in ways[one.target]):
                    ways[one.target].append(_inverse(one, each.name))
        return ways

    def _examples(self, types: list[str]) -> tuple[Example, ...]:
        start = next(one for one in self.catalog if one.relationships)
        root = {"element_type": start.singular, "element_name": ",".join(map(_sample, _key_fields(start)))}
        return (
            Example({"root": root, "direction": "both"}, "Everything one step away"),
            Example(
                {"root": root, "direction": "both", "relationship": types[0], "depth": 2, "first": 10},
                "One type, two steps, ten at a time",
            ),
        )

    async def _answer(
        self,
        ctx: Context,
        root: Mapping[str, str],
        direction: str,
        relationship: str | None,
        depth: int | None,
        include: list[str] | None,
        first: int | None,
        after: str | None,
    ) -> dict[str, Any]:
        if relationship is not None and not self._knows(relationship):
            raise unknown_name("relationship", "relationship", relationship, self._types())
        purpose = f"{QUERY_RELATIONSHIPS} {root} {direction} {relationship} {depth}"
        place = 0 if after is None else self.reader.cursors.read_place(after, purpose, "after")
        start = await self._root(root)
        walk = await self._walk(start, direction, relationship, depth or 1)
        found = list(walk.found.values())
        shown = found[place : place + min(_PAGE if first is None else first, _LARGEST_PAGE)]
        end = place + len(shown)
        if end < len(found) or not walk.complete:
            cursor = self.reader.cursors.write_place(purpose, end)
            ctx.warnings.append(_cut(len(found), len(shown), cursor if end < len(found) else None, walk.complete))
        return self._shaped(start, shown, include or _SECTIONS)

    # the walk

    async def _root(self, root: Mapping[str, str]) -> _Node:
        kind = root["element_type"]
        collection = next((one for one in self.catalog if kind in (one.singular, one.name)), None)
        if collection is None:
            raise unknown_name("root.element_type", "type", kind, [one.singular for one in self.catalog])
        texts = root["element_name"].split(",") if len(collection.key) > 1 else [root["element_name"]]
        if len(texts) != len(collection.key):
            raise Invalid("root.element_name", f"it needs the parts {', '.join(collection.key)}, joined by commas")
        fields = collection.fields
        names = zip(collection.key, texts, strict=True)
        key = tuple(value_of(fields[name], text, "root.element_name") for name, text in names)
        query = self.reader.one(collection, key, self.reader.selection(collection, list(collection.key), None, "full"))
        fetched = await self.backends[collection.name].fetch(query.listing, query.values, 1)
        if not fetched.rows:
            raise NotFound(collection.singular, root["element_name"])
        return _Node(collection.name, _inner(collection, fetched.rows[0][: len(key)]))

    def _knows(self, name: str) -> bool:
        return any(name in (one.type, one.name) for one in self._relationships())

    async def _walk(self, start: _Node, direction: str, wanted: str | None, depth: int) -> _Walk:
        walk = _Walk({start})
        frontier = [start]
        for level in range(1, depth + 1):
            frontier = await self._level(walk, frontier, direction, wanted, level)
        return walk

    async def _level(
        self, walk: _Walk, frontier: list[_Node], direction: str, wanted: str | None, level: int
    ) -> list[_Node]:
        """One level further: every relationship of every collection at the front is asked once, for all items of it."""
        reached: dict[_Node, None] = {}
        for collection, keys in _by_collection(frontier).items():
            for relationship in self._followed(collection, direction, wanted):
                room = _MOST - len(walk.found)
                edges = await self.backends[collection].follow(
                    self.catalog[collection], relationship, keys, max(room, 0) + 1
                )
                walk.complete = walk.complete and len(edges) <= room
                for edge in edges[:room]:
                    found = self._edge(collection, relationship, edge, level)
                    walk.found.setdefault((found.source, found.target, found.type), found)
                    if found.end not in walk.known:
                        reached[found.end] = None
        walk.known |= reached.keys()
        return list(reached)

    def _followed(self, collection: str, direction: str, wanted: str | None) -> Iterator[Relationship]:
        for one in self._ways[collection]:
            here = "outgoing" if one.outgoing else "incoming"
            if direction in (here, "both") and wanted in (None, one.type, one.name):
                yield one

    def _edge(self, collection: str, relationship: Relationship, edge: Edge, level: int) -> _Found:
        near = _Node(collection, _inner(self.catalog[collection], edge.source))
        far = _Node(relationship.target, _inner(self.catalog[relationship.target], edge.target))
        if relationship.outgoing:
            return _Found(near, far, relationship.type, "outgoing", level)
        return _Found(far, near, relationship.type, "incoming", level)

    # the answer

    def _shaped(self, start: _Node, found: list[_Found], include: Iterable[str]) -> dict[str, Any]:
        sections = set(include)
        answer: dict[str, Any] = {"root": self._reference(start)}
        if "relationships" in sections:
            answer["relationships"] = [
                {"type": one.type, "direction": one.direction, "target": self._reference(one.end), "depth": one.depth}
                for one in found
            ]
        graph: dict[str, Any] = {}
        if "graph.nodes" in sections:
            nodes = dict.fromkeys((start, *(node for one in found for node in (one.source, one.target))))
            graph["nodes"] = [{"id": self._id(node), **self._reference(node)} for node in nodes]
        if "graph.edges" in sections:
            graph["edges"] = [
                {"source": self._id(one.source), "target": self._id(one.target), "type": one.type} for one in found
            ]
        return {**answer, "graph": graph} if graph else answer

    def _reference(self, node: _Node) -> dict[str, str]:
        return {
            "element_type": self.catalog[node.collection].singular,
            "element_name": ",".join(map(_text, node.key)),
        }

    def _id(self, node: _Node) -> str:
        reference = self._reference(node)
        return f"{reference['element_type']}:{reference['element_name']}"


_SAMPLES: Final[Mapping[Kind, str]] = {
    Kind.UUID: "123e4567-e89b-12d3-a456-426614174000",
    Kind.DATE: "2026-02-04",
    Kind.TIME: "10:30:00",
    Kind.DATETIME: "2026-02-04T10:30:00Z",
    Kind.BYTES: "SGVsbG8=",
}


def _key_fields(collection: Collection) -> Iterator[Field]:
    return (collection.fields[name] for name in collection.key)


def _sample(field: Field) -> str:
    """A key as it could be."""
    return str(field.choices[0]) if field.choices else _SAMPLES.get(field.kind, "1")


def _inverse(relationship: Relationship, start: str) -> Relationship:
    """The same edges seen from their other ends, where nobody has given that a name of its own."""
    through = relationship.through
    return Relationship(
        name=start,
        target=start,
        local=relationship.remote,
        remote=relationship.local,
        many=True,
        through=through and Through(through.table, through.far, through.near),
        outgoing=False,
        type=relationship.type,
    )


def _inner(collection: Collection, key: Iterable[Any]) -> Key:
    """A key of which equal ones are equal, however a driver gave it."""
    return tuple(collection.fields[name].kind.read(value) for name, value in zip(collection.key, key, strict=True))


def _text(value: Any) -> str:
    return value.isoformat().replace("+00:00", "Z") if hasattr(value, "isoformat") else str(value)


def _by_collection(nodes: Iterable[_Node]) -> dict[str, list[Key]]:
    grouped: dict[str, list[Key]] = {}
    for node in nodes:
        grouped.setdefault(node.collection, []).append(node.key)
    return grouped


def _cut(total: int, shown: int, cursor: str | None, complete: bool) -> Notice:
    more = f"; go on with after: '{cursor}'" if cursor else ""
    bound = "" if complete else f" The walk stopped after {_MOST} edges: ask for fewer steps or one relationship."
    return Notice(
        "VALIDATION_TRUNCATED_WARNING",
        f"{shown} of {total} relationships are shown{more}.{bound}",
        {
            "field": "relationships",
            "original_count": total,
            "truncated_count": shown,
            "limit": shown,
            **({"after": cursor} if cursor else {}),
        },
        "medium",
    )


def _parameters(kinds: list[str], types: list[str]) -> tuple[Parameter, ...]:
    root = {
        "type": "object",
        "properties": {
            "element_type": {"type": "string", "description": f"One of: {', '.join(kinds)}."},
            "element_name": {"type": "string"},
        },
        "required": ["element_type", "element_name"],
        "additionalProperties": False,
        "description": "The item to start from: its type and its key.",
    }
    return (
        Parameter("root", root),
        Parameter("direction", {"type": "string", "enum": list(_DIRECTIONS), "description": "Which way to follow."}),
        optional("relationship", "Only this relationship, by its type or name.", type="string", examples=types[:1]),
        optional("depth", "How many steps; 1 unless said.", type="integer", minimum=1, maximum=_DEEPEST),
        optional(
            "include",
            "What to answer; everything unless said.",
            type="array",
            items={"type": "string", "enum": list(_SECTIONS)},
        ),
        optional("first", f"How many relationships to give; {_PAGE} unless said.", type="integer", minimum=0),
        optional("after", "Go on after this cursor.", type="string"),
    )
