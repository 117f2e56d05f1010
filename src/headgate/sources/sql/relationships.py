"""From foreign keys to relationships: one edge each, seen from both of its ends, and one over each join table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.query.collections import Relationship, Through
from headgate.sources.sql.facts import TableId
from headgate.sources.sql.names import LONGEST_FIELD, first_free, unlike
from headgate.sources.sql.plurals import plural
from headgate.sources.sql.settings import RelationshipSettings, unknown
from headgate.sources.sql.shaping import Shaped

__all__ = ["Relationships", "relate"]

_SUFFIXES: Final = ("_id", "_fk", "_key", "_uuid", "_guid", "_code", "_ref", "_no", "_number")
_BACKWARD: Final = {"parent": "children"}
"""What stands on the other side of a reference within one table, where there is a word for it."""

_SELF_LINKS: Final = 2


@dataclass(frozen=True, slots=True)
class Relationships:
    """The relationships of all tables, and the tables in the middle of some of them."""

    of: Mapping[TableId, Mapping[str, Relationship]]
    links: Mapping[str, Shaped]


@dataclass(frozen=True, slots=True)
class _Edge:
    """A reference from one table to another."""

    source: Shaped
    columns: tuple[str, ...]
    target: Shaped
    target_columns: tuple[str, ...]
    name: str | None = None
    inverse: str | None = None
    description: str = ""

    @property
    def is_served(self) -> bool:
        """Whether callers see all the fields that it is made of."""
        return self.source.shows(self.columns) and self.target.shows(self.target_columns)

    @property
    def local(self) -> tuple[str, ...]:
        """The fields that hold the reference."""
        return self.source.fields_of(self.columns)

    @property
    def remote(self) -> tuple[str, ...]:
        """The fields that it refers to."""
        return self.target.fields_of(self.target_columns)

    @property
    def is_own(self) -> bool:
        """Whether it stays within one table."""
        return self.source is self.target

    @property
    def stem(self) -> str:
        """What the columns call the row that they refer to; empty if they do not."""
        pairs = zip(self.local, self.remote, strict=True)
        telling = [local for local, remote in pairs if local != remote] if len(self.local) > 1 else self.local
        if len(telling) != 1:
            return ""
        name = telling[0]
        suffix = next((one for one in _SUFFIXES if name.endswith(one)), "")
        return "" if name in ("id", "key", "code", "uuid") else name.removesuffix(suffix)

    @property
    def forward_names(self) -> Iterator[str]:
        """Names for it as its table sees it, the best first. A column of that very name keeps it."""
        one, stem = self.target.name.one, self.stem or self.target.name.one
        yield stem
        yield f"{stem}_ref" if stem.endswith(one) else f"{stem}_{one}"

    def backward_names(self, is_only: bool) -> Iterator[str]:
        """Names for it as its target sees it."""
        base = self.source.name.one if self.source.is_unique(self.columns) else self.source.name.many
        stem = self.stem or self.name or self.target.name.one
        if self.is_own and stem in _BACKWARD:
            yield _BACKWARD[stem]
        elif is_only and not self.is_own:
            yield base
        yield f"{base}_by_{stem}"


def relate(tables: Sequence[Shaped]) -> Relationships:
    """The relationships between tables. What a setting says of one stands before all that is found."""
    directory = _Directory(tables)
    edges = [edge for table in tables for edge in _edges(table, directory)]
    board = _Board({table.facts.id: {*table.fields} for table in tables})
    named = board.forward(edges)
    board.backward(named)
    links = dict(board.across(tables, named))
    return Relationships(board.found, links)


class _Directory:
    """Finds the table that a reference or a setting means. SQLite does not mind upper and lower case."""

    def __init__(self, tables: Sequence[Shaped]) -> None:
        self._exact = {table.facts.id: table for table in tables}
        self._folded = {(schema.lower(), name.lower()): table for (schema, name), table in self._exact.items()}
        self.labels = {table.facts.label: table for table in tables}

    def find(self, table: TableId) -> Shaped | None:
        """The table, if it is served."""
        return self._exact.get(table) or self._folded.get((table[0].lower(), table[1].lower()))


def _edges(table: Shaped, directory: _Directory) -> Iterator[_Edge]:
    """What the database declares, as settings name it, and what they add to it."""
    declared = {edge.columns: edge for edge in _declared(table, directory)}
    for name, said in table.settings.relationships.items():
        edge = _said(table, name, said, declared, directory)
        declared[edge.columns] = edge
    yield from declared.values()


def _declared(table: Shaped, directory: _Directory) -> Iterator[_Edge]:
    for key in sorted(table.facts.foreign_keys, key=lambda key: table.facts.place(key.columns)):
        target = directory.find(key.target)
        if target is None:
            continue
        columns = _spelled(table, key.columns)
        remote = _spelled(target, key.target_columns or target.facts.key)
        edge = _Edge(table, columns, target, remote)
        if len(columns) == len(remote) and edge.is_served:
            yield edge


def _spelled(table: Shaped, columns: Iterable[str]) -> tuple[str, ...]:
    """The columns as the table itself writes them."""
    known = {column.name.lower(): column.name for column in table.facts.columns}
    return tuple(column if column in table.names else known.get(column.lower(), column) for column in columns)


def _said(
    table: Shaped,
    name: str,
    said: RelationshipSettings,
    declared: Mapping[tuple[str, ...], _Edge],
    directory: _Directory,
) -> _Edge:
    where = f"{table.where}.relationships.{name}"
    _check_shown(table, said.columns, f"{where}.columns")
    if name in table.fields:
        raise AdapterError(f"{where}: '{name}' is already a field.")
    known = declared.get(said.columns)
    if said.target is None and known is None:
        raise AdapterError(f"{where}: no foreign key has these columns, so the setting 'target' is missing.")
    if said.target is not None and said.target not in directory.labels:
        raise unknown(f"{where}.target", "table", said.target, list(directory.labels))
    target = known.target if said.target is None and known else directory.labels[said.target or ""]
    remote = said.target_columns or (known.target_columns if known and known.target is target else target.facts.key)
    _check_shown(target, remote, f"{where}.target_columns")
    if len(remote) != len(said.columns):
        raise AdapterError(f"{where}: there are {len(said.columns)} columns here and {len(remote)} in the target.")
    return _Edge(table, said.columns, target, remote, name, said.inverse, said.description or "")


def _check_shown(table: Shaped, columns: Sequence[str], where: str) -> None:
    for column in columns:
        if column not in table.names:
            raise unknown(where, "column", column, list(table.names))


@dataclass
class _Board:
    """The names that are taken on each table, and the relationships that took them."""

    taken: dict[TableId, set[str]]
    types: set[str] = field(default_factory=set)
    found: dict[TableId, dict[str, Relationship]] = field(default_factory=dict)

    def forward(self, edges: Sequence[_Edge]) -> list[_Edge]:
        """Put each edge on the table that holds the reference; gives the edges with their names."""
        named = []
        for edge in sorted(edges, key=lambda edge: edge.name is None):
            name = self._name(edge.source, edge.name, edge.forward_names)
            named.append(replace(edge, name=name))
            self._put(edge.source, _outgoing(named[-1], name, self._type(f"{edge.source.name.one}_{name}")))
        return named

    def backward(self, edges: Sequence[_Edge]) -> None:
        """Put the other side of each edge on the table that it refers to."""
        pairs = Counter((edge.source.facts.id, edge.target.facts.id) for edge in edges)
        for edge in sorted(edges, key=lambda edge: edge.inverse is None):
            is_only = pairs[edge.source.facts.id, edge.target.facts.id] == 1
            back = self._name(edge.target, edge.inverse, edge.backward_names(is_only))
            self._put(edge.target, _turned(self.found[edge.source.facts.id][edge.name or ""], back, edge))

    def across(self, tables: Sequence[Shaped], edges: Sequence[_Edge]) -> Iterator[tuple[str, Shaped]]:
        """Put what join tables join on the tables on both sides; gives the join tables by their names."""
        for table in tables:
            own = [edge for edge in edges if edge.source is table]
            if not _is_join(table, own):
                continue
            one, other = own
            type_ = self._type(table.name.one)
            self._put(one.target, self._link(table, one, other, type_, outgoing=True))
            self._put(other.target, self._link(table, other, one, type_, outgoing=False))
            yield table.name.many, table

    def _link(self, table: Shaped, near: _Edge, far: _Edge, type_: str, *, outgoing: bool) -> Relationship:
        names = [_far_name(near, far), f"{_far_name(near, far)}_via_{table.name.many}"]
        return Relationship(
            name=self._name(near.target, None, names),
            target=far.target.name.many,
            local=near.remote,
            remote=far.remote,
            many=True,
            through=Through(table.name.many, near.columns, far.columns),
            outgoing=outgoing,
            type=type_,
        )

    def _name(self, table: Shaped, chosen: str | None, candidates: Iterable[str]) -> str:
        taken = self.taken[table.facts.id]
        if chosen is not None and chosen in taken:
            raise AdapterError(f"{table.where}: '{chosen}' names a field or another relationship already.")
        name = chosen or first_free(candidates, taken)
        taken.add(name)
        return name

    def _type(self, wanted: str) -> str:
        name = unlike(wanted, self.types, 2 * LONGEST_FIELD)
        self.types.add(name)
        return name

    def _put(self, table: Shaped, relationship: Relationship) -> None:
        self.found.setdefault(table.facts.id, {})[relationship.name] = relationship


def _outgoing(edge: _Edge, name: str, type_: str) -> Relationship:
    """An edge seen from the table that holds the reference."""
    return Relationship(
        name=name,
        target=edge.target.name.many,
        local=edge.local,
        remote=edge.remote,
        type=type_,
        description=edge.description,
    )


def _turned(out: Relationship, name: str, edge: _Edge) -> Relationship:
    """The same edge seen from its other end."""
    return replace(
        out,
        name=name,
        target=edge.source.name.many,
        local=out.remote,
        remote=out.local,
        many=not edge.source.is_unique(edge.columns),
        outgoing=False,
        description="",
    )


def _is_join(table: Shaped, edges: Sequence[_Edge]) -> bool:
    """Whether a row does nothing but join two others: they are its key, or all it has beside a number."""
    if len(edges) != _SELF_LINKS or len(table.facts.foreign_keys) > _SELF_LINKS:
        return False
    both = {*edges[0].columns, *edges[1].columns}
    if edges[0].columns == edges[1].columns or not table.shows(both):
        return False
    key = {*table.facts.key}
    rest = {column.name for column in table.facts.columns} - both
    return key == both or (rest == key and any({*unique} == both for unique in table.facts.uniques))


def _far_name(near: _Edge, far: _Edge) -> str:
    """What the rows beyond a join table are called on this side of it."""
    if far.stem in ("", far.target.name.one):
        return far.target.name.many
    return f"{far.stem}_{far.target.name.many}" if near.target is far.target else plural(far.stem)
