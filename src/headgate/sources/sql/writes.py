"""Adding, changing and removing rows: one transaction each, and nothing overwritten that the caller has not seen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import Delete, Insert, Select, Update, and_, bindparam, delete, insert, select, update

from headgate.adapter.etags import require_version
from headgate.protocol.errors import Conflict, NotFound, VersionMismatch
from headgate.query.backends import Change, Changed, Key, merged, shown_key
from headgate.query.collections import Collection
from headgate.query.kinds import Kind
from headgate.sources.sql.database import Connection
from headgate.sources.sql.failures import Constraint
from headgate.sources.sql.schema import TableMap
from headgate.sources.sql.statements import Bound, Statement
from headgate.sources.sql.troubles import explained

if TYPE_CHECKING:
    from headgate.sources.sql.backend import SqlBackend

__all__ = ["Writer"]

T = TypeVar("T")
Item = dict[str, Any]

_INPUT: Final = "input"


class _Undone(Exception):
    """Carries what a dry run found out past the end of its transaction, which is rolled back."""

    def __init__(self, changed: Changed) -> None:
        self.changed = changed


@dataclass(frozen=True, slots=True)
class _Row:
    """A row as it is answered, and as it is stored."""

    item: Item
    stored: Mapping[str, Any]


class Writer:
    """Writes to the tables of one database."""

    def __init__(self, backend: "SqlBackend") -> None:
        self._backend = backend
        self._selects: dict[Collection, Statement] = {}

    async def insert(self, collection: Collection, fields: Mapping[str, Any], *, dry_run: bool) -> Changed:
        """Add a row, and read it back as the database completed it."""
        mapped = self._map(collection)
        if collection.version and not mapped.columns[collection.version].server_default:
            fields = {**fields, collection.version: 1}

        def work(connection: Connection) -> Changed:
            self._refuse_duplicate(connection, mapped, fields)
            self._check_references(connection, mapped, fields)
            key = self._inserted(connection, mapped, fields)
            row = self._row(connection, mapped, key)
            return Changed(row.item if row else dict(fields))

        with explained(mapped):
            return await self._transact(work, dry_run=dry_run)

    async def update(self, collection: Collection, change: Change, *, dry_run: bool) -> Changed:
        """Merge fields into a row."""
        mapped = self._map(collection)

        def work(connection: Connection) -> Changed:
            before = self._existing(connection, mapped, change.key, change.if_match)
            changes = {
                name: merged(collection.fields[name], before.item, value) for name, value in change.fields.items()
            }
            if changes:
                self._check_references(connection, mapped, changes)
                self._changed(connection, mapped, change, before, changes)
            after = self._row(connection, mapped, change.key)
            return Changed(after.item if after else before.item, before.item)

        with explained(mapped, _INPUT):
            return await self._transact(work, dry_run=dry_run)

    async def delete(self, collection: Collection, key: Key, if_match: str | None, *, dry_run: bool) -> Changed:
        """Remove a row."""
        mapped = self._map(collection)

        def work(connection: Connection) -> Changed:
            before = self._existing(connection, mapped, key, if_match)
            self._execute(connection, mapped, delete(mapped.table), {}, key, self._guards(mapped, before, if_match))
            return Changed(before.item, before.item)

        with explained(mapped, removing=True):
            return await self._transact(work, dry_run=dry_run)

    # the transaction

    async def _transact(self, work: Callable[[Connection], Changed], *, dry_run: bool) -> Changed:
        """Do the work; a dry run does all of it, and then takes it back."""

        def undone(connection: Connection) -> Changed:
            changed = work(connection)
            if self._backend.database.dialect.name == "postgresql":
                connection.execute("SET CONSTRAINTS ALL IMMEDIATE")  # those that wait for the end are checked as well
            raise _Undone(changed)

        try:
            return await self._backend.database.transaction(undone if dry_run else work)
        except _Undone as result:
            return result.changed

    def _map(self, collection: Collection) -> TableMap:
        return self._backend.schema.tables[collection.name]

    # rows

    def _existing(self, connection: Connection, mapped: TableMap, key: Key, if_match: str | None) -> _Row:
        """The row that is to be changed, held until the transaction ends, in the version that the caller means."""
        row = self._row(connection, mapped, key)
        shown = shown_key(key)
        if row is None:
            raise NotFound(mapped.collection.singular, shown)
        require_version(mapped.collection, row.item, if_match, shown)
        return row

    def _row(self, connection: Connection, mapped: TableMap, key: Key) -> _Row | None:
        statement = self._selects.get(mapped.collection)
        if statement is None:
            statement = self._selects[mapped.collection] = self._select(mapped)
        prepared = self._backend.prepare(statement)
        rows = connection.execute(prepared.sql, prepared.parameters(key, 0, 0)).rows
        if not rows:
            return None
        names = list(mapped.collection.fields)
        return _Row(
            dict(zip(names, prepared.read(rows)[0], strict=True)),
            dict(zip(names, rows[0], strict=True)),
        )

    def _select(self, mapped: TableMap) -> Statement:
        fields = mapped.collection.fields
        bounds: dict[str, Bound] = {}
        chosen: Select[Any] = select(*(mapped.columns[name] for name in fields)).where(self._is(mapped, bounds, 0))
        if self._backend.database.dialect.name in ("postgresql", "mysql", "mariadb"):
            chosen = chosen.with_for_update()
        columns = [(one.kind, mapped.columns[name].type, self._path(mapped, name)) for name, one in fields.items()]
        return self._backend.compiler.compile(chosen, bounds, columns)

    def _path(self, mapped: TableMap, name: str) -> Any:
        return self._backend.path(mapped.collection, name)

    def _is(self, mapped: TableMap, bounds: dict[str, Bound], slot: int) -> Any:
        """That a row has the key which stands in the values from ``slot`` on."""
        conditions = []
        for place, name in enumerate(mapped.collection.key, slot):
            words = self._backend.compiler.words(mapped.collection.fields[name].kind, mapped.exact_text)
            bound = self._bound(mapped, name, place, bounds)
            conditions.append(words.equal(mapped.columns[name], bound))
        return and_(*conditions)

    def _bound(self, mapped: TableMap, name: str, slot: int, bounds: dict[str, Bound]) -> Any:
        column, kind = mapped.columns[name], mapped.collection.fields[name].kind
        type_ = column.type
        if kind is not Kind.ARRAY:
            type_ = self._backend.compiler.words(kind, mapped.exact_text).bound_type(column.type)
        bounds[f"w{slot}"] = Bound(slot, kind, type_, path=self._path(mapped, name))
        return bindparam(f"w{slot}", type_=type_)

    # changes

    def _refuse_duplicate(self, connection: Connection, mapped: TableMap, fields: Mapping[str, Any]) -> None:
        """A row of the same key is found before the database would, so that the message can name it."""
        key = tuple(fields.get(name) for name in mapped.collection.key)
        if key and None not in key and self._row(connection, mapped, key) is not None:
            raise Conflict(mapped.collection.singular, shown_key(key))

    def _inserted(self, connection: Connection, mapped: TableMap, fields: Mapping[str, Any]) -> Key:
        """Add the row; its key may be what the database gave it."""
        collection = mapped.collection
        bounds: dict[str, Bound] = {}
        given = {mapped.columns[name]: self._bound(mapped, name, slot, bounds) for slot, name in enumerate(fields)}
        statement: Insert = insert(mapped.table).values(given)
        missing = [name for name in collection.key if fields.get(name) is None]
        returns = bool(missing) and self._backend.database.dialect.insert_returning
        if returns:
            statement = statement.returning(*(mapped.columns[name] for name in collection.key))
        result = self._run(connection, statement, bounds, list(fields.values()))
        if returns:
            return tuple(result.rows[0])
        return tuple(result.lastrowid if name in missing else fields[name] for name in collection.key)

    def _check_references(self, connection: Connection, mapped: TableMap, item: Mapping[str, Any]) -> None:
        """Name the reference that leads nowhere, which SQLite would refuse without saying which one it is."""
        if self._backend.database.dialect.name != "sqlite":
            return
        for one in mapped.collection.relationships.values():
            target = self._backend.schema.tables[one.target]
            key = tuple(item.get(name) for name in one.local)
            is_simple = one.outgoing and not one.through and one.remote == target.collection.key
            if is_simple and None not in key and self._row(connection, target, key) is None:
                columns = tuple(mapped.columns[name].name for name in one.local)
                raise Constraint("foreign_key", mapped.table.name, columns=columns)

    def _changed(
        self, connection: Connection, mapped: TableMap, change: Change, before: _Row, changes: Mapping[str, Any]
    ) -> None:
        statement: Update = update(mapped.table)
        version = mapped.collection.version
        if version:
            changes = {**changes, version: before.item[version] + 1}
        self._execute(connection, mapped, statement, changes, change.key, self._guards(mapped, before, change.if_match))

    def _guards(self, mapped: TableMap, before: _Row, if_match: str | None) -> Mapping[str, Any]:
        """What must still be true of the row in the statement that changes it."""
        version = mapped.collection.version
        if version:
            return {version: before.item[version]}
        if if_match is None:
            return {}
        comparable = (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN)
        fields = mapped.collection.fields.items()
        return {name: before.stored[name] for name, one in fields if one.kind in comparable and one.filterable}

    def _execute(
        self,
        connection: Connection,
        mapped: TableMap,
        statement: Update | Delete,
        changes: Mapping[str, Any],
        key: Key,
        guards: Mapping[str, Any],
    ) -> None:
        """Change or remove the one row of a key, if it is still as it was read."""
        bounds: dict[str, Bound] = {}
        values = [*changes.values(), *key]
        if isinstance(statement, Update):
            named = {mapped.columns[name]: self._bound(mapped, name, slot, bounds) for slot, name in enumerate(changes)}
            statement = statement.values(named)
        conditions = [self._is(mapped, bounds, len(changes))]
        for name, value in guards.items():
            column = mapped.columns[name]
            if value is None:
                conditions.append(column.is_(None))
            else:
                conditions.append(column == self._bound(mapped, name, len(values), bounds))
                values.append(value)
        result = self._run(connection, statement.where(*conditions), bounds, values)
        if result.rowcount != 1:
            raise VersionMismatch(mapped.collection.singular, shown_key(key), "*")

    def _run(self, connection: Connection, statement: Any, bounds: Mapping[str, Bound], values: Sequence[Any]) -> Any:
        prepared = self._backend.prepare(self._backend.compiler.compile(statement, bounds))
        return connection.execute(prepared.sql, prepared.parameters(values, 0, 0))
