"""Random queries over a world: every operator on every kind, over relationships and into JSON, in every style of page.

``cases(chance, catalog, items)`` gives requests as a caller would send them. Operands are drawn from what is there,
from what is nearly there, and from what databases take for syntax.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any, Literal

from headgate.query.collections import Catalog, Collection, Field
from headgate.query.kinds import Kind
from headgate.query.operators import OPERATORS, Arity, operators_for
from tests.sources.sql.world_values import VALUES
from tests.sources.sql.world_values import Kind as WorldKind

__all__ = ["Case", "Items", "Way", "cases"]

Items = Mapping[str, Sequence[Mapping[str, Any]]]
"""The items of each collection, as the query language knows them."""

Way = Literal["once", "forwards", "backwards", "offsets", "numbers", "changing"]
Json = dict[str, Any]

_JSON_PATHS = ("a", "b", "b.c", "b.d", "deep.x.y", "deep", "tags", "missing", "a.b.c", "B.C", "it's", "100%", "$", "ä")
_JSON_VALUES = ("x", "X", "Ünïcödé", "1", 1, 1.0, 2.5, 0, -1, True, False, "", "%", "it's %", 1e300)
_TEXTS = [value for value in VALUES["text"] if isinstance(value, str)]
_NASTY = ("%", "_", "\\", "'", '"', "''", "\\'", "a%", "%c", "_b_", "[a]", "*", "?", ":v0", "%s", "%(v0)s", "--", "{}")
_ODD_NUMBERS = (2**31, -(2**31), 2**53 - 1, 2**63 - 1, -(2**63), 0)
_USUAL: Mapping[Kind, WorldKind] = {
    Kind.TEXT: "text",
    Kind.INTEGER: "integer",
    Kind.NUMBER: "number",
    Kind.DECIMAL: "decimal",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.DATETIME: "datetime",
}
_ELSE: Mapping[Kind, Sequence[Any]] = {
    Kind.TIME: (time(), time(12, 30), time(23, 59, 59, 999999)),
    Kind.UUID: ("c3d9b7a0-0000-4000-8000-000000000000", "C3D9B7A0-0000-4000-8000-0000000000FF"),
}
_PLACES = (UTC, timezone(timedelta(hours=2)), timezone(-timedelta(hours=9, minutes=30)))


@dataclass(frozen=True)
class Case:
    """A request, and how its pages are gone through; ``changes`` seeds what happens to the rows meanwhile."""

    operation: str
    params: Json = field(default_factory=dict)
    way: Way = "once"
    changes: int = 0

    def __str__(self) -> str:
        return f"{self.way}: {json.dumps({'operation': self.operation, 'params': self.params}, ensure_ascii=False)}"


def cases(chance: Random, catalog: Catalog, items: Items, count: int) -> Iterator[Case]:
    """So many requests to the collections of a catalog."""
    for _ in range(count):
        collection = chance.choice(list(catalog))
        yield _Asking(chance, catalog, items, collection).case()


@dataclass(frozen=True)
class _Path:
    """What a filter or a selection may name, and where its values are."""

    text: str
    field: Field
    values: Sequence[Any]
    keys: bool = False


@dataclass(frozen=True)
class _Asking:
    """The questions that one collection can be asked."""

    chance: Random
    catalog: Catalog
    items: Items
    collection: Collection

    def case(self) -> Case:
        kinds = (self._page, self._page, self._page, self._search, self._summary, self._walk, self._walk, self._rest)
        return self.chance.choice(kinds)()

    # the kinds of requests

    def _page(self) -> Case:
        params = {**self._narrowed(), **self._sorted(), **self._selected(), **self._window()}
        if self._maybe(0.1):
            params |= {"aggregate": self._aggregate(), "include_items": True}
        return Case(f"list_{self.collection.name}", params)

    def _search(self) -> Case:
        if not self.collection.searchable:
            return self._page()
        params = {"query": self._words(), **self._narrowed(0.2), **self._selected(), **self._window()}
        if self._maybe(0.3):
            params |= self._sorted()
        if self._maybe(0.15):
            params |= {"aggregate": self._aggregate()}
        return Case(f"search_{self.collection.name}", params)

    def _summary(self) -> Case:
        params = {**self._narrowed(), "aggregate": self._aggregate()}
        return Case(f"list_{self.collection.name}", params)

    def _walk(self) -> Case:
        way: Way = self.chance.choice(("forwards", "forwards", "backwards", "offsets", "numbers", "changing"))
        params = {**self._narrowed(0.3), **self._sorted(0.9), "fields": [*self.collection.key, *self._fields()]}
        size = self.chance.choice((1, 2, 3, 5, 7, 11))
        names = {"backwards": "last", "offsets": "limit", "numbers": "page_size"}
        operation = f"list_{self.collection.name}"
        if self.collection.searchable and way != "changing" and self._maybe(0.25):
            operation, params["query"] = f"search_{self.collection.name}", self._words()
            if self._maybe(0.7):
                params.pop("sort", None)
        return Case(operation, {**params, names.get(way, "first"): size}, way, self.chance.randrange(2**32))

    def _rest(self) -> Case:
        """One item, a count, or what is related to an item."""
        there = self.items[self.collection.name]
        kind = self.chance.choice(("get", "count", "relationships"))
        if kind == "count" or not there:
            words = {"query": self._words()} if self.collection.searchable and self._maybe(0.3) else {}
            return Case(f"count_{self.collection.name}", {**self._narrowed(), **words})
        item = self.chance.choice(there)
        if kind == "get" or not self.collection.relationships:
            key = {name: item[name] for name in self.collection.key}
            if self._maybe(0.2):
                key = {name: self._odd(self.collection.fields[name], value) for name, value in key.items()}
            return Case(f"get_{self.collection.singular}", {**key, **self._selected()})
        name = ",".join(str(item[name]) for name in self.collection.key)
        params: Json = {
            "root": {"element_type": self.collection.singular, "element_name": name},
            "direction": self.chance.choice(("incoming", "outgoing", "both")),
            "depth": self.chance.randint(1, 3),
        }
        if self._maybe(0.3):
            params["relationship"] = self.chance.choice(list(self.collection.relationships))
        return Case("query_relationships", {**params, "first": self.chance.choice((3, 100, 1000))})

    def _odd(self, one: Field, value: Any) -> Any:
        """A key that is most likely not there."""
        return value.swapcase() + self.chance.choice(("", " ", "%")) if one.kind is Kind.TEXT else 4711

    # paths

    def _paths(self, fit: Callable[[Field], bool] = lambda _: True) -> list[_Path]:
        """The fields of the collection, and of those one and two steps away."""
        found: list[_Path] = []
        self._add(found, self.collection, "", 0, fit)
        return found

    def _add(self, found: list[_Path], here: Collection, prefix: str, depth: int, fit: Callable[[Field], bool]) -> None:
        held = self.items[here.name]
        for name, one in here.fields.items():
            if fit(one):
                found.append(_Path(f"{prefix}{name}", one, [item[name] for item in held]))
        for name, relationship in here.relationships.items():
            if not relationship.many and depth < 2:
                self._add(found, self.catalog[relationship.target], f"{prefix}{name}.", depth + 1, fit)

    def _path(self, fit: Callable[[Field], bool] = lambda _: True) -> _Path | None:
        """One of them, the near ones more often; of JSON mostly something inside."""
        paths = self._paths(fit)
        if not paths:
            return None
        near = [path for path in paths if "." not in path.text]
        return self.chance.choice(near if near and self._maybe(0.5) else paths)

    def _inside(self, path: _Path) -> _Path:
        if path.field.kind is not Kind.JSON or self._maybe(0.15):
            return path
        return _Path(f"{path.text}.{self.chance.choice(_JSON_PATHS)}", path.field, _JSON_VALUES, keys=True)

    # filters

    def _narrowed(self, often: float = 0.75) -> Json:
        return {"filter": self._filter(0)} if self._maybe(often) else {}

    def _filter(self, depth: int) -> Json:
        made: Json = {}
        for _ in range(self.chance.choice((1, 1, 1, 2, 3))):
            if depth < 3 and self._maybe(0.35):
                made |= self._combined(depth)
            else:
                path = self._inside(self._path() or self._paths()[0])
                made[path.text] = self._condition(path)
        return made

    def _combined(self, depth: int) -> Json:
        word = self.chance.choice(("and", "or", "not", "not"))
        if word == "not":
            return {"not": self._filter(depth + 1) if self._maybe(0.95) else {}}
        return {word: [self._filter(depth + 1) for _ in range(self.chance.choice((0, 1, 2, 2, 3)))]}

    def _condition(self, path: _Path) -> Any:
        if path.field.kind is Kind.JSON:
            return self._json_condition(path)
        known = [OPERATORS[name] for name in operators_for(path.field.kind)]
        if OPERATORS["eq"] in known and self._maybe(0.2):
            return self._operand(path) if self._maybe(0.9) else None
        chosen = self.chance.sample(known, min(len(known), self.chance.choice((1, 1, 1, 2))))
        return {one.name: self._operands(path, one.name, one.arity) for one in chosen}

    def _operands(self, path: _Path, name: str, arity: Arity) -> Any:
        match arity:
            case Arity.FLAG:
                return self._maybe(0.5)
            case Arity.TWO:
                return [self._operand(path), self._operand(path)]
            case Arity.MANY:
                several = [self._operand(path) for _ in range(self.chance.choice((0, 1, 2, 3, 5)))]
                return [*several, None] if self._maybe(0.2) else several
            case _:
                if name in ("contains", "starts_with", "ends_with", "icontains"):
                    return self._part(path)
                return self._operand(path) if name not in ("eq", "ne") or self._maybe(0.9) else None

    def _json_condition(self, path: _Path) -> Any:
        value = self.chance.choice(_JSON_VALUES)
        alike = [one for one in _JSON_VALUES if _json_kind(one) == _json_kind(value)]
        kind = _json_kind(value)
        names = ["eq", "ne", "in", "not_in", "is_null"]
        if path.keys and kind is not Kind.BOOLEAN:
            names += ["gt", "gte", "lt", "lte", "between"]
        if path.keys and kind is Kind.TEXT:
            names += ["contains", "starts_with", "ends_with", "icontains"]
        name = self.chance.choice(names)
        match OPERATORS[name].arity:
            case Arity.FLAG:
                return {name: self._maybe(0.5)}
            case Arity.TWO:
                return {name: [value, self.chance.choice(alike)]}
            case Arity.MANY:
                return {name: self.chance.sample(alike, min(len(alike), self.chance.randint(0, 3)))}
            case _:
                return value if name == "eq" and self._maybe(0.5) else {name: value}

    def _operand(self, path: _Path) -> Any:
        kind = path.field.kind
        there = [value for value in path.values if value is not None]
        if kind is Kind.TEXT and self._maybe(0.3):
            return self._part(path)
        if kind is Kind.INTEGER and self._maybe(0.1):
            number = self.chance.choice(_ODD_NUMBERS)
            return number if abs(number) < 2**53 else str(number)
        if kind is Kind.DECIMAL and self._maybe(0.1):
            return self.chance.choice(("19.994", "-5.501", "1e2", 19.99, 20, "123456789012345678.123", ".1", "+20"))
        if kind is Kind.NUMBER and self._maybe(0.1):
            return self.chance.choice((1e300, -1e300, "0.5", 2, 0.1, 1e-300))
        usual: Sequence[Any] = VALUES[_USUAL[kind]] if kind in _USUAL else _ELSE.get(kind, there)
        value = self.chance.choice(there) if there and self._maybe(0.7) else self.chance.choice(usual)
        return _written(value, self.chance)

    def _part(self, path: _Path) -> str:
        """A piece of a text that is there, in some case, or what a database may take for a pattern."""
        if self._maybe(0.2):
            return self.chance.choice(_NASTY)
        there = [value for value in path.values if isinstance(value, str)] or _TEXTS
        text = self.chance.choice(there if self._maybe(0.8) else _TEXTS)
        start = self.chance.randint(0, len(text))
        end = self.chance.choice((len(text), self.chance.randint(start, len(text))))
        piece = text[self.chance.choice((0, start)) : end]
        return self.chance.choice((piece, piece, piece.upper(), piece.lower(), piece + " ", piece + "%"))

    def _words(self) -> str:
        paths = [
            path
            for path in self._paths(lambda one: one.kind is Kind.TEXT)
            if "." not in path.text and path.text in self.collection.searchable
        ]
        words = []
        for _ in range(self.chance.choice((1, 1, 2, 3, 4))):
            part = self._part(self.chance.choice(paths)).replace('"', "")
            words.append(f'"{part}"' if self._maybe(0.3) else part)
        query = " ".join(words)
        return query if query.replace('"', "").strip() else f"{query} b"

    # sorting, fields, summaries, pages

    def _sorted(self, often: float = 0.7) -> Json:
        if not self._maybe(often):
            return {}
        keys: list[dict[str, str]] = []
        for _ in range(self.chance.choice((1, 1, 2, 2, 3))):
            path = self._path(lambda one: one.can_sort)
            if path is not None and path.text not in [key["field"] for key in keys]:
                order = {"order": self.chance.choice(("asc", "desc"))} if self._maybe(0.8) else {}
                keys.append({"field": path.text, **order})
        if not keys:
            return {}
        return {"sort": keys[0] if len(keys) == 1 and self._maybe(0.5) else keys}

    def _selected(self) -> Json:
        draw = self.chance.random()
        if draw < 0.3:
            return {}
        if draw < 0.5:
            return {self.chance.choice(("fields", "preset")): self.chance.choice(("minimal", "standard", "full"))}
        return {"fields": self._fields(), **({"preset": "minimal"} if self._maybe(0.2) else {})}

    def _fields(self) -> list[str]:
        names = []
        for _ in range(self.chance.randint(1, 5)):
            to_one = [name for name, one in self.collection.relationships.items() if not one.many]
            if to_one and self._maybe(0.2):
                names.append(self.chance.choice(to_one))
            else:
                names.append(self._inside(self._path() or self._paths()[0]).text)
        return names

    def _aggregate(self) -> Json:
        return {f"label {place}'\"%": self._one_aggregate() for place in range(self.chance.choice((1, 1, 2, 3)))}

    def _one_aggregate(self) -> Json:
        made: Json = {}
        if self._maybe(0.6):
            path = self._path(lambda one: one.can_group)
            if path is not None:
                made["group_by"] = path.text
        if self._maybe(0.5):
            made["count"] = True
        for name, fit in (
            ("sum", lambda one: one.kind.row.numeric),
            ("avg", lambda one: one.kind.row.numeric),
            ("min", lambda one: one.kind.row.ordered),
            ("max", lambda one: one.kind.row.ordered),
        ):
            path = self._path(fit) if self._maybe(0.4) else None
            if path is not None:
                made[name] = path.text
        if not made.keys() - {"group_by"}:
            made["count"] = True
        return made

    def _window(self) -> Json:
        size = self.chance.choice((0, 1, 3, 10, 100))
        match self.chance.choice(("none", "first", "last", "limit", "page", "edges")):
            case "first":
                return {"first": size}
            case "last":
                return {"last": size}
            case "limit":
                return {"limit": size, "offset": self.chance.choice((0, 1, 5, 50))}
            case "page":
                return {"page": self.chance.choice((1, 2, 4)), "page_size": size or 1}
            case "edges":
                return {"edges": True, self.chance.choice(("first", "last")): size}
            case _:
                return {}

    def _maybe(self, often: float) -> bool:
        return self.chance.random() < often


def _json_kind(value: Any) -> Kind:
    if isinstance(value, bool):
        return Kind.BOOLEAN
    return Kind.TEXT if isinstance(value, str) else Kind.NUMBER


def _written(value: Any, chance: Random) -> Any:
    """A value as a caller may write it."""
    if isinstance(value, datetime):
        there = value.astimezone(chance.choice(_PLACES))
        return chance.choice((there.isoformat(), there.isoformat(sep=" "), value.isoformat().replace("+00:00", "Z")))
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return chance.choice((str(value), float(value)))
    if isinstance(value, int) and not isinstance(value, bool):
        return chance.choice((value, str(value))) if abs(value) < 2**53 else str(value)
    return value
