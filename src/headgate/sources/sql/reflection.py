"""From a database to collections: what it says of its tables, what its owner says of them, and what is made of both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import Column, Connection, Engine, FetchedValue, MetaData, Select, Table, literal_column, select
from sqlalchemy.exc import DBAPIError

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError
from headgate.query.collections import Access, Catalog, Collection, Computed, Relationship
from headgate.query.kinds import Kind
from headgate.query.paths import Resolver
from headgate.sources.sql.facts import ColumnFacts, DatabaseFacts, TableFacts, TableId
from headgate.sources.sql.inspection import read_facts
from headgate.sources.sql.names import LONGEST_COLLECTION, CollectionName, collection_name, name_collections
from headgate.sources.sql.plurals import plural, singular
from headgate.sources.sql.relationships import relate
from headgate.sources.sql.schema import FullText, Schema, TableMap
from headgate.sources.sql.settings import SqlSettings, TableSettings, matches, unknown
from headgate.sources.sql.shaping import Shaped, shaped

__all__ = ["reflect"]

_NO_SETTINGS: Final = SqlSettings()


def reflect(engine: Engine, settings: SqlSettings = _NO_SETTINGS) -> Schema:
    """The tables and views of a database as collections. An AdapterError says what in the settings does not fit."""
    with engine.connect() as connection:
        facts = read_facts(connection, settings.schemas)
        schema = schema_of(facts, settings)
        for mapped in schema.tables.values():
            _check_expressions(connection, mapped)
    return schema


def schema_of(facts: DatabaseFacts, settings: SqlSettings) -> Schema:
    """The collections that facts and settings make together."""
    _check_tables(facts, settings)
    served = [table for table in facts if _is_served(table, settings)]
    names = name_collections([table.id for table in served], _chosen_names(served, settings))
    tables = [_shaped(table, settings, names[table.id], facts.dialect) for table in served]
    tables = [table for table in tables if table.fields]
    relationships = relate(tables)
    maps = [_map(table, relationships.of.get(table.facts.id, {}), facts.dialect) for table in tables]
    by_name = {mapped.collection.name: mapped for mapped in maps}
    links = {name: by_name[name].table for name in relationships.links}
    catalog = Catalog({mapped.collection.name: mapped.collection for mapped in maps})
    _check_presets(tables, catalog)
    return Schema(catalog, by_name, links, (*facts.notes, *_notes(served, tables)))


# which tables


def _check_tables(facts: DatabaseFacts, settings: SqlSettings) -> None:
    """Plain names must be those of tables; patterns may match nothing yet."""
    known = [table.label for table in facts]
    patterns = {"include": settings.include, "exclude": settings.exclude, "read_only": settings.read_only}
    for where, names in (*patterns.items(), ("tables", settings.tables)):
        for name in names:
            if name not in known and (where == "tables" or not any(sign in name for sign in "*?[")):
                raise unknown(where, "table", name, known)


def _is_served(table: TableFacts, settings: SqlSettings) -> bool:
    return (not settings.include or matches(table.label, settings.include)) and not matches(
        table.label, settings.exclude
    )


def _chosen_names(tables: Iterable[TableFacts], settings: SqlSettings) -> dict[TableId, CollectionName]:
    chosen: dict[TableId, CollectionName] = {}
    for table in tables:
        name = _chosen_name(table, settings.table(table.label))
        if name is None:
            continue
        where = f"tables.{table.label}"
        if not name.is_short:
            raise AdapterError(f"{where}: a collection's name has {LONGEST_COLLECTION} characters or fewer.")
        if any(name.many == other.many or name.one == other.one for other in chosen.values()):
            raise AdapterError(f"{where}: another table is named '{name.many}' or '{name.one}' too.")
        chosen[table.id] = name
    return chosen


def _chosen_name(table: TableFacts, said: TableSettings) -> CollectionName | None:
    """The words of the settings. If they give one of the two, the other follows from it."""
    if said.name is None and said.singular is None:
        return None
    if said.name is None:
        return CollectionName(plural(said.singular or collection_name(table.name).one), said.singular or "")
    return CollectionName(said.name, said.singular or singular(said.name))


def _shaped(table: TableFacts, settings: SqlSettings, name: CollectionName, dialect: str) -> Shaped:
    if matches(table.label, settings.read_only):
        table = replace(table, writable=False)
    return shaped(table, settings.table(table.label), name, dialect)


def _notes(served: Sequence[TableFacts], tables: Sequence[Shaped]) -> Iterator[str]:
    shown = {table.facts.id for table in tables}
    for table in served:
        if table.id not in shown:
            yield f"{table.label} is left out: it has no columns to show."
    for one in tables:
        if one.facts.writable and not one.key_columns:
            yield f"{one.facts.label} is only read: it has no primary key to know its rows by."
        yield from _secrets(one)
        yield from _never_given(one)


def _never_given(table: Shaped) -> Iterator[str]:
    """Columns without which no row can be made, and which nobody may give a value."""
    for column in table.facts.columns if table.writable else ():
        given = column.nullable or column.counted or column.default is not None or column.generated is not None
        field = table.fields.get(table.names.get(column.name, ""))
        closed = field is None or (field.access is Access.NEVER and not field.optional)
        filled = table.facts.words is not None and table.facts.words.name == column.name  # by a trigger
        if closed and not given and not filled:
            yield f"{table.facts.label}: nothing can be created, because '{column.name}' needs a value and takes none."


def _secrets(table: Shaped) -> Iterator[str]:
    """Fields that look secret and of which the owner has said nothing yet."""
    for column, name in table.names.items():
        if table.fields[name].sensitive and column not in table.settings.fields:
            where = f"[tables.{table.facts.label}.fields.{column}]"
            yield f"{table.facts.label}.{column} looks secret but is shown: hide it with 'hidden = true' under {where}."


# one table


def _map(shape: Shaped, relationships: Mapping[str, Relationship], dialect: str) -> TableMap:
    facts, said = shape.facts, shape.settings
    words = _full_text(shape)
    collection = Collection(
        name=shape.name.many,
        singular=shape.name.one,
        fields=shape.fields,
        key=shape.key,
        relationships=relationships,
        computed={name: _computed(name, said) for name in said.computed},
        presets=said.presets,
        searchable=_searchable(shape, words),
        description=said.description or facts.comment,
        version=shape.version,
    )
    table = _table(shape)
    return TableMap(
        collection=collection,
        table=table,
        columns={name: table.c[column] for column, name in shape.names.items()},
        writable=shape.writable,
        creatable=not any(_never_given(shape)),
        full_text=words,
        estimated_rows=facts.estimated_rows,
        constraints=facts.constraints,
        exact_text=facts.exact_text,
    )


def _computed(name: str, said: TableSettings) -> Computed:
    one = said.computed[name]
    return Computed(
        name=name,
        kind=one.kind,
        description=one.description,
        sql=one.sql,
        filterable=one.filterable,
        sortable=one.sortable,
    )


def _full_text(shape: Shaped) -> FullText | None:
    """The index of words, unless it knows words that must not be searched."""
    words = shape.facts.words
    if words is None or not shape.shows(words.columns):
        return None
    fields = shape.fields_of(words.columns)
    if any(shape.fields[name].sensitive for name in fields):
        return None
    if shape.settings.search is not None and {*shape.settings.search} != {*words.columns}:
        return None
    return FullText(words.name, fields, words.configuration)


def _searchable(shape: Shaped, words: FullText | None) -> tuple[str, ...]:
    if shape.settings.search is not None:
        return shape.fields_of(shape.settings.search)
    return words.columns if words and words.columns else shape.texts


def _table(shape: Shaped) -> Table:
    facts = shape.facts
    key = facts.key or shape.key_columns
    columns = [_column(column, shape, column.name in key) for column in facts.columns]
    return Table(facts.name, MetaData(), *columns, schema=facts.schema or None)


def _column(column: ColumnFacts, shape: Shaped, is_key: bool) -> Column[Any]:
    meaning = shape.meanings[column.name]
    is_given = column.default is not None or column.generated is not None
    return Column(
        column.name,
        meaning.type,
        primary_key=is_key,
        nullable=column.nullable and not is_key,
        autoincrement=is_key and column.counted and meaning.kind is Kind.INTEGER,
        server_default=FetchedValue() if is_given else None,
    )


# what can only be checked in the end


def _check_expressions(connection: Connection, mapped: TableMap) -> None:
    """Let the database read each expression once, over no rows."""
    for name, computed in mapped.collection.computed.items():
        statement: Select[Any] = select(literal_column(computed.sql or "")).select_from(mapped.table).limit(0)
        try:
            connection.execute(statement)
        except DBAPIError as error:
            where = f"tables.{mapped.table.fullname}.computed.{name}.sql"
            reason = " ".join(str(error.orig).split())
            raise AdapterError(f"{where}: the database does not understand it: {reason}.") from None


def _check_presets(tables: Sequence[Shaped], catalog: Catalog) -> None:
    resolver = Resolver(catalog)
    for table in tables:
        collection = catalog[table.name.many]
        for name, fields in table.settings.presets.items():
            for text in fields:
                if not _leads_somewhere(resolver, collection, text):
                    raise unknown(f"{table.where}.presets.{name}", "field", text, resolver.names(collection))


def _leads_somewhere(resolver: Resolver, collection: Collection, text: str) -> bool:
    """Whether a path ends in a field, or in a relationship to one item."""
    start, _, last = text.rpartition(".")
    try:
        resolver.path(collection, text, "presets")
    except AqlError:
        owner: Collection | None = collection
        for hop in (*(start.split(".") if start else ()), last):
            relationship = owner.relationships.get(hop) if owner else None
            owner = resolver.catalog[relationship.target] if relationship and not relationship.many else None
        return owner is not None
    return True
