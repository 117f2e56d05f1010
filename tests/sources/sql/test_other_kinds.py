"""Kinds that random worlds do not have: times, UUIDs, bytes, choices, large integers, moments without a zone."""

import asyncio
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any, cast

from sqlalchemy import text

from tests.databases import Database, Server
from tests.sources.sql.agreement import Findings, blame, compare
from tests.sources.sql.bookshelf import serving
from tests.sources.sql.serving import memory_of, served_from
from tests.sources.sql.worlds import Column, Table, World

DECLARED = {
    "sqlite": """CREATE TABLE drawers (id BIGINT PRIMARY KEY, opens TIME, tag UUID, picture BLOB, small REAL,
        state VARCHAR(10) NOT NULL CHECK (state IN ('open', 'shut', 'Open')), large BIGINT, seen TIMESTAMP,
        price DECIMAL(18, 4))""",
    "postgresql": """CREATE TABLE drawers (id BIGINT PRIMARY KEY, opens TIME, tag UUID, picture BYTEA,
        small DOUBLE PRECISION, state VARCHAR(10) NOT NULL CHECK (state IN ('open', 'shut', 'Open')), large BIGINT,
        seen TIMESTAMP, price NUMERIC(18, 4))""",
    "mariadb": """CREATE TABLE drawers (id BIGINT PRIMARY KEY, opens TIME(6), tag UUID, picture BLOB, small DOUBLE,
        state VARCHAR(10) NOT NULL CHECK (state IN ('open', 'shut', 'Open')), large BIGINT, seen DATETIME(6),
        price DECIMAL(18, 4))""",
}

NAMES = ("id", "opens", "tag", "picture", "small", "state", "large", "seen", "price")


def uuid(number: int) -> str:
    """One of those that MariaDB orders as all others do: it looks at the last part first."""
    return f"c3d9b7a0-0000-4000-8000-{number:012x}"


ROWS: list[tuple[Any, ...]] = [
    (
        number * 2**57 - 2**60,
        None if number % 4 == 0 else [time(), time(9, 30), time(23, 59, 59, 999999), time(12, 0, 1)][number % 5 % 4],
        None if number % 5 == 0 else uuid(number % 7),
        None if number % 3 == 0 else bytes([number, 0, 255, 39]) * (number % 4),
        None if number % 7 == 0 else [0.1, 1e-7, 1e300, -0.5, 3.0][number % 5],
        ("open", "shut", "Open")[number % 3],
        None if number % 6 == 0 else [2**62, -(2**62), 2**53, 2**53 + 1, 7][number % 5],
        None if number % 8 == 0 else datetime(2024, 1, 1 + number % 3, 0, 0, number % 2, 0, UTC),
        None if number % 9 == 0 else Decimal(number % 4) / 4 + Decimal("99999999999.0000") * (number % 2),
    )
    for number in range(15)
]


def stored(server: str, value: Any) -> Any:
    """A value as the database is given it."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None) if server != "sqlite" else f"{value:%Y-%m-%d %H:%M:%S}"
    if server == "sqlite" and isinstance(value, time | Decimal):
        return str(value)
    return value


def described() -> World:
    columns = tuple(Column(name, cast("Any", "text")) for name in NAMES)
    rows = tuple((*row[:8], None if row[8] is None else row[8].quantize(Decimal("0.0001"))) for row in ROWS)
    return World(0, (Table("drawers", columns, ("id",), (), (), rows),))


def test_a_database_answers_as_memory_does_about_times_uuids_bytes_and_large_numbers(database: Database) -> None:
    values = ", ".join(f":{name}" for name in NAMES)
    with database.connected() as engine:
        with engine.begin() as connection:
            connection.execute(text(DECLARED[database.server]))
            written = [[stored(database.server, value) for value in row] for row in ROWS]
            connection.execute(
                text(f"INSERT INTO drawers VALUES ({values})"),  # noqa: S608
                [dict(zip(NAMES, row, strict=True)) for row in written],
            )

        async def look() -> Findings:
            findings = Findings()
            async with served_from(database.url, database.server, engine) as (served, schema):
                await compare(5, 150, served, memory_of(schema, described()), findings, steady=True)
            return findings

        blame(asyncio.run(look()).complaints)


def test_texts_in_another_set_of_characters_are_compared_like_all_others(mariadb: Server) -> None:
    with mariadb.fresh() as database, database.connected() as outside:
        with outside.begin() as connection:
            connection.exec_driver_sql(
                "CREATE TABLE people (code VARCHAR(9) PRIMARY KEY, name VARCHAR(20)) CHARACTER SET latin1"
            )
            connection.exec_driver_sql("INSERT INTO people VALUES ('b', 'Müller'), ('A', 'MÜLLER'), ('c', 'Muller')")
        with serving("mariadb", database.url, outside) as shelf:

            def codes(**params: Any) -> list[str]:
                return [item["code"] for item in shelf.ask("list_people", **params)["data"]["items"]]

            assert codes() == ["A", "b", "c"]
            assert codes(filter={"name": "Müller"}) == ["b"]
            assert codes(filter={"name": {"in": ["Müller", "muller"]}}) == ["b"]
            assert codes(filter={"name": {"icontains": "ÜLL"}}) == ["A", "b"]
            assert codes(filter={"name": {"lt": "🦉"}}) == ["A", "b", "c"]
            assert codes(sort={"field": "name"}) == ["c", "A", "b"]
            refused = shelf.ask("list_people", filter={"name": "🦉"})
            assert refused["error"]["code"] == "VALIDATION_INVALID_VALUE"


def test_mariadb_has_an_order_of_its_own_for_uuids_and_keeps_to_it_over_pages(mariadb: Server) -> None:
    """The one exception to the same order everywhere: no index could give another one."""
    with mariadb.fresh() as database, database.connected() as outside:
        with outside.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE things (id UUID PRIMARY KEY)")
            for number in range(20):
                name = f"{(number * 3) % 20:08x}-0000-4000-8000-{number % 4:012x}"
                connection.execute(text("INSERT INTO things VALUES (:id)"), {"id": name})
            expected = [str(row[0]) for row in connection.exec_driver_sql("SELECT id FROM things ORDER BY id")]
        with serving("mariadb", database.url, outside) as shelf:
            found: list[str] = []
            after = None
            while True:
                page = shelf.ask("list_things", first=3, **({"after": after} if after else {}))["data"]
                found += [item["id"] for item in page["items"]]
                after = page["pageInfo"]["endCursor"]
                if not page["pageInfo"]["hasNextPage"]:
                    break
            assert found == expected
            assert found != sorted(found)
