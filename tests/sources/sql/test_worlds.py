"""Random worlds are the same for the same seed, varied over many, and load on every engine without a change."""

from sqlalchemy import Connection, inspect

from tests.databases import Server
from tests.sources.sql.world_loading import drop, load, read
from tests.sources.sql.world_values import Kind
from tests.sources.sql.worlds import Table, World, build

MANY = range(300)


def rows_by_key(table: Table) -> dict[tuple[object, ...], tuple[object, ...]]:
    return {table.key_of(record): row for record, row in zip(table.records, table.rows, strict=True)}


def test_a_seed_always_makes_the_same_world() -> None:
    assert build(7) == build(7)
    assert build(7) != build(8)


def test_worlds_have_every_kind_null_and_shape() -> None:
    tables = [table for seed in MANY for table in build(seed).tables]
    kinds: set[tuple[Kind, bool]] = {(column.kind, column.nullable) for table in tables for column in table.columns}
    assert len(kinds) == 16
    assert {len(table.key) for table in tables} >= {1, 2, 3, 4}
    assert {len(unique) for table in tables for unique in table.uniques} == {1, 2}
    assert any(link.table == table.name for table in tables for link in table.references)
    assert any(len(link.columns) == 2 for table in tables for link in table.references)
    assert any(len(table.references) == 2 and len(table.key) == 2 for table in tables)
    assert any(None in row for table in tables for row in table.rows)
    assert any(not table.rows for table in tables)


def test_keys_and_constraints_are_distinct() -> None:
    for table in (table for seed in MANY for table in build(seed).tables):
        assert len(rows_by_key(table)) == len(table.rows)
        for unique in table.uniques:
            held = [tuple(record[name] for name in unique) for record in table.records]
            whole = [values for values in held if None not in values]
            assert len(set(whole)) == len(whole)


def test_references_lead_to_a_row_or_are_null() -> None:
    for world in map(build, MANY):
        for table in world.tables:
            for link in table.references:
                target = rows_by_key(world.table(link.table))
                keys = [tuple(record[name] for name in link.columns) for record in table.records]
                assert all(key in target or set(key) == {None} for key in keys)


def test_plain_names_need_no_quotes() -> None:
    for seed in MANY:
        for table in build(seed, odd_names=False).tables:
            assert all(
                name.isidentifier() and name.islower() for name in (table.name, *(c.name for c in table.columns))
            )


def test_a_world_is_read_back_from_every_engine_as_it_was_described(server: Server) -> None:
    worlds = [build(seed) for seed in range(25)]
    with server.fresh() as database, database.connected() as engine:
        for world in worlds:
            with engine.begin() as connection:
                if server.name == "sqlite":
                    connection.exec_driver_sql("PRAGMA foreign_keys = ON")
                load(world, connection)
                assert read(world, connection) == {table.name: rows_by_key(table) for table in world.tables}
                assert _shape_found(world, connection) == _shape_described(world)
                drop(world, connection)


def _shape_described(world: World) -> dict[str, object]:
    return {
        table.name: (list(table.key), sorted((link.columns, link.table) for link in table.references))
        for table in world.tables
    }


def _shape_found(world: World, connection: Connection) -> dict[str, object]:
    found = inspect(connection)
    return {
        table.name: (
            found.get_pk_constraint(table.name)["constrained_columns"],
            sorted(
                (tuple(link["constrained_columns"]), link["referred_table"])
                for link in found.get_foreign_keys(table.name)
            ),
        )
        for table in world.tables
    }
