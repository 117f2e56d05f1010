"""Values that are stored in another form than they are shown in: nothing is lost between pages, groups and versions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from headgate.engine.pipeline import Engine
from headgate.sources.sql.source import sql_adapter
from headgate.sources.sql.values import TimeStyle
from tests.databases import Database, Server

pytestmark = pytest.mark.anyio

ROWS = 60


@asynccontextmanager
async def serving(database: Database, *statements: str) -> AsyncIterator[Engine]:
    """The tables that some statements make, as they are served."""
    with database.connected() as engine, engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    adapter = sql_adapter(database.url)
    try:
        yield Engine(adapter)
    finally:
        await adapter.close()


async def ask(engine: Engine, operation: str, **params: object) -> dict[str, Any]:
    envelope = orjson.loads((await engine.call({"operation": operation, "params": params})).text)
    assert envelope["success"], envelope
    data: dict[str, Any] = envelope["data"]
    return data


async def refusal(engine: Engine, operation: str, **params: object) -> dict[str, Any]:
    error: dict[str, Any] = orjson.loads((await engine.call({"operation": operation, "params": params})).text)["error"]
    return error


async def every_key(engine: Engine, field: str, order: str, operation: str = "list_things") -> list[int]:
    """The keys on all pages, one after the other, each of seven items."""
    seen: list[int] = []
    params: dict[str, object] = {"sort": {"field": field, "order": order}, "first": 7, "fields": ["id"]}
    while True:
        page = await ask(engine, operation, **params)
        seen += [item["id"] for item in page["items"]]
        assert len(seen) <= ROWS * 2, "pages repeat"
        if not page["pageInfo"]["hasNextPage"]:
            return seen
        params["after"] = page["pageInfo"]["endCursor"]


def filled(declared: str, values: list[str]) -> tuple[str, ...]:
    """A table of things whose column ``v`` takes the values in turn."""
    rows = ", ".join(f"({place}, {values[place % len(values)]})" for place in range(1, ROWS + 1))
    return (f"CREATE TABLE things (id INTEGER PRIMARY KEY, v {declared})", f"INSERT INTO things VALUES {rows}")  # noqa: S608


SQLITE = {
    "decimals with more digits than declared": ("DECIMAL(10,2)", [f"{place}.{place:03d}7" for place in range(1, 38)]),
    "moments with and without a fraction": (
        "TIMESTAMP",
        ["'2026-01-01 10:00:00'", "'2026-01-01 10:00:00.500000'", "'2026-01-01 10:00:01'", "NULL"],
    ),
    "seconds since 1970": ("TIMESTAMP", [str(1_767_261_600 + place) for place in range(9)]),
    "milliseconds since 1970": ("TIMESTAMP", [str(1_767_261_600_000 + place) for place in range(9)]),
    "nothing where a number should be": ("INTEGER", ["''", "1", "2", "NULL"]),
    "nothing where a day should be": ("DATE", ["''", "'2026-01-01'", "'2026-01-02'", "NULL"]),
    "truths of several forms": ("BOOLEAN", ["0", "1", "2", "'true'", "NULL"]),
    "texts and numbers in one column": ("NUMERIC", ["'abc'", "1.5", "2", "NULL", "x'00ff'"]),
    "identifiers in several spellings": ("UUID", ["'ABCDEF0123456789ABCDEF0123456789'", "'abcdef01-2345'"]),
}
POSTGRESQL = {
    "short floating point numbers": ("real", [f"{place}/10.0" for place in range(37)]),
    "numbers that are none": ("double precision", ["'NaN'", "'Infinity'", "'-Infinity'", "1.5", "NULL"]),
    "decimals that are no numbers": ("numeric", ["'NaN'", "1.5", "2.25", "NULL"]),
    "moments without end": ("timestamptz", ["'infinity'", "'-infinity'", "'2026-01-01 10:00:00.5+00'", "NULL"]),
    "moments before our years": ("timestamp", ["'0044-03-15 12:00:00 BC'", "'2026-01-01 10:00:00'", "NULL"]),
    "times of day in zones": ("timetz", ["'10:00:00+02'", "'09:00:00+00'", "'24:00:00+00'", "NULL"]),
    "times of day": ("time", ["'24:00'", "'10:00:00.25'", "NULL"]),
}
MARIADB = {
    "short floating point numbers": ("FLOAT", [f"{place}/10.0" for place in range(37)]),
    "short numbers of many digits": ("FLOAT", [f"{16777200 + place}" for place in range(14)]),
    "large numbers without a sign": ("BIGINT UNSIGNED", ["18446744073709551615", "18446744073709551614", "1", "NULL"]),
    "spans of time": ("TIME", ["'-10:00:00'", "'30:00:00'", "'10:00:00'", "NULL"]),
}


ODD = {"sqlite": SQLITE, "postgresql": POSTGRESQL, "mariadb": MARIADB}


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize(("server_name", "name"), [(server, name) for server, odd in ODD.items() for name in odd])
async def test_every_row_is_on_one_page(
    request: pytest.FixtureRequest, server_name: str, name: str, order: str
) -> None:
    server: Server = request.getfixturevalue(server_name)
    with server.fresh() as database:
        async with serving(database, *filled(*ODD[server_name][name])) as engine:
            assert sorted(await every_key(engine, "v", order)) == list(range(1, ROWS + 1))


@pytest.mark.parametrize("declared", ["real", "FLOAT"])
async def test_a_short_number_is_found_as_it_is_shown(postgresql: Server, mariadb: Server, declared: str) -> None:
    with (postgresql if declared == "real" else mariadb).fresh() as database:
        async with serving(database, *filled(declared, ["0.1", "0.2", "16777217"])) as engine:
            shown = (await ask(engine, "get_thing", id=1))["v"]
            assert shown == 0.2
            assert (await ask(engine, "count_things", filter={"v": shown}))["count"] == ROWS // 3


async def test_seconds_since_1970_are_compared_and_stored_as_such(sqlite: Server) -> None:
    with sqlite.fresh() as database:
        async with serving(
            database, *filled("TIMESTAMP", [str(1_767_261_600 + place) for place in range(6)])
        ) as engine:
            assert (await ask(engine, "get_thing", id=6))["v"] == "2026-01-01T10:00:00Z"
            before = await ask(engine, "count_things", filter={"v": {"lt": "2026-01-01T10:00:03Z"}})
            assert before["count"] == ROWS // 2
            await ask(engine, "update_thing", id=1, input={"v": "2026-01-01T10:00:05Z"})
            assert (await ask(engine, "count_things", filter={"v": "2026-01-01T10:00:05Z"}))["count"] == ROWS // 6 + 1


async def test_no_group_hides_another(sqlite: Server) -> None:
    with sqlite.fresh() as database:
        async with serving(database, *filled("DECIMAL(10,2)", ["10.004", "10.0", "9.996"])) as engine:
            groups = (await ask(engine, "list_things", aggregate={"g": {"group_by": "v", "count": True}}))[
                "aggregations"
            ]
            assert sorted(groups["g"].values()) == [ROWS // 3] * 3


async def test_a_version_holds_for_values_of_any_form(sqlite: Server, postgresql: Server) -> None:
    statements = (
        "CREATE TABLE things (id INTEGER PRIMARY KEY, b BOOLEAN, t TEXT)",
        "INSERT INTO things VALUES (1, 2, 'x')",
    )
    with sqlite.fresh() as database:
        async with serving(database, *statements) as engine:
            tag = (await ask(engine, "get_thing", id=1))["_etag"]
            assert (await ask(engine, "update_thing", id=1, input={"t": "y"}, if_match=tag))["t"] == "y"
    statements = (
        "CREATE TABLE things (id int PRIMARY KEY, p point, t text)",
        "INSERT INTO things VALUES (1, '(1,2)', 'x')",
    )
    with postgresql.fresh() as database:
        async with serving(database, *statements) as engine:
            tag = (await ask(engine, "get_thing", id=1))["_etag"]
            assert (await ask(engine, "update_thing", id=1, input={"t": "y"}, if_match=tag))["t"] == "y"


async def test_a_text_that_is_no_utf_8_spoils_no_list(sqlite: Server) -> None:
    statements = (
        "CREATE TABLE things (id INTEGER PRIMARY KEY, t TEXT)",
        "INSERT INTO things VALUES (1, 'plain'), (2, CAST(x'4AF6' AS TEXT))",
    )
    with sqlite.fresh() as database:
        async with serving(database, *statements) as engine:
            items = (await ask(engine, "list_things"))["items"]
            assert items == [{"id": 1, "t": "plain"}, {"id": 2, "t": "J\ufffd"}]


async def test_an_identifier_of_sqlite_is_known_as_it_is_stored(sqlite: Server) -> None:
    key = "ABCDEF0123456789ABCDEF0123456789"
    statements = ("CREATE TABLE things (id UUID PRIMARY KEY, t TEXT)", f"INSERT INTO things VALUES ('{key}', 'x')")  # noqa: S608
    with sqlite.fresh() as database:
        async with serving(database, *statements) as engine:
            (item,) = (await ask(engine, "list_things"))["items"]
            assert (await ask(engine, "get_thing", id=item["id"]))["t"] == "x"


async def test_nothing_and_null_are_given_to_new_rows_as_they_are_meant(database: Database) -> None:
    keys = {"sqlite": "INTEGER PRIMARY KEY", "postgresql": "serial PRIMARY KEY"}
    key = keys.get(database.server, "INTEGER PRIMARY KEY AUTO_INCREMENT")
    async with serving(database, f"CREATE TABLE things (id {key}, t VARCHAR(9) DEFAULT 'some')") as engine:
        assert (await ask(engine, "create_thing"))["t"] == "some"
        assert (await ask(engine, "create_thing", t=None))["t"] is None
        assert (await ask(engine, "list_things", first=1.0))["items"] == [{"id": 1, "t": "some"}]


async def test_a_trial_tells_of_rules_that_wait_for_the_end(postgresql: Server) -> None:
    statements = (
        "CREATE TABLE others (id int PRIMARY KEY)",
        "CREATE TABLE things (id int PRIMARY KEY, other_id int REFERENCES others DEFERRABLE INITIALLY DEFERRED)",
    )
    with postgresql.fresh() as database:
        async with serving(database, *statements) as engine:
            error = await refusal(engine, "create_thing", id=1, other_id=9, dry_run=True)
            assert (error["code"], error["details"]["param_name"]) == ("VALIDATION_INVALID_VALUE", "other_id")


async def test_tables_that_changed_since_the_start_are_told_of(database: Database) -> None:
    async with serving(database, "CREATE TABLE things (id INTEGER PRIMARY KEY, t VARCHAR(9))") as engine:
        await ask(engine, "list_things")
        with database.connected() as direct, direct.begin() as connection:
            connection.exec_driver_sql("DROP TABLE things")
        error = await refusal(engine, "list_things", filter={"t": "x"})
        assert (error["code"], "started anew" in error["message"]) == ("INTERNAL_ERROR", True)


@pytest.mark.parametrize("samples", [[], ["soon", "2026"]], ids=["nothing", "other words"])
async def test_where_no_time_is_stored_yet_there_is_no_style_to_keep_to(samples: list[object]) -> None:
    assert TimeStyle.of(samples) is None
