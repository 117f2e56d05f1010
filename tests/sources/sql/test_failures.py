"""What a database refuses is told in words that all of them share, and without SQL."""

from collections.abc import Mapping
from functools import partial

import pytest

from headgate.sources.sql import sqlite_driver
from headgate.sources.sql.connections import Connection
from headgate.sources.sql.failures import (
    Constraint,
    DatabaseFailure,
    DataProblem,
    Locked,
    ReadOnly,
    mysql_failure,
    postgresql_failure,
    sqlite_failure,
)
from tests.sources.sql.places import NAMES, Place, add

pytestmark = pytest.mark.anyio

BOOK = "INSERT INTO books VALUES (?, ?, ?, ?, ?)"
Told = tuple[str | None, str | None, tuple[str, ...]]
REFUSED: Mapping[str, tuple[str, tuple[object, ...], str, Mapping[str, Told]]] = {
    "key": (
        BOOK,
        (1, 1, "new", 1, 1),
        "unique",
        {
            "sqlite": ("books", None, ("id",)),
            "postgresql": ("books", "books_pkey", ("id",)),
            "mariadb": (None, "PRIMARY", ()),
        },
    ),
    "unique": (
        BOOK,
        (2, 1, "one", 1, 1),
        "unique",
        {
            "sqlite": ("books", None, ("isbn", "edition")),
            "postgresql": ("books", "isbn_edition", ("isbn", "edition")),
            "mariadb": (None, "isbn_edition", ()),
        },
    ),
    "not null": (
        BOOK,
        (2, 1, "new", None, 1),
        "not_null",
        {
            "sqlite": ("books", None, ("edition",)),
            "postgresql": ("books", None, ("edition",)),
            "mariadb": (None, None, ("edition",)),
        },
    ),
    "missing": (
        "INSERT INTO books (id, isbn) VALUES (?, ?)",
        (2, "new"),
        "not_null",
        {
            "sqlite": ("books", None, ("edition",)),
            "postgresql": ("books", None, ("edition",)),
            "mariadb": (None, None, ("edition",)),
        },
    ),
    "check": (
        BOOK,
        (2, 1, "new", 1, 0),
        "check",
        {
            "sqlite": (None, "some_pages", ()),
            "postgresql": ("books", "some_pages", ()),
            "mariadb": ("books", "some_pages", ()),
        },
    ),
    "no such author": (
        BOOK,
        (2, 9, "new", 1, 1),
        "foreign_key",
        {
            "sqlite": (None, None, ()),
            "postgresql": ("books", "book_author", ("author_id",)),
            "mariadb": ("books", "book_author", ("author_id",)),
        },
    ),
    "author with books": (
        "DELETE FROM authors WHERE id = ?",
        (1,),
        "foreign_key",
        {
            "sqlite": (None, None, ()),
            "postgresql": ("books", "book_author", ("id",)),
            "mariadb": ("books", "book_author", ("author_id",)),
        },
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_rule_of_a_table_is_told_by_its_kind_and_names(place: Place, case: str) -> None:
    sql, parameters, kind, told = REFUSED[case]
    async with place.opened() as database:
        with pytest.raises(Constraint) as caught:
            await database.transaction(lambda one: one.execute(place.sql(sql), parameters))
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]
    found = caught.value
    assert found.kind == kind
    assert (found.table, found.constraint, found.columns) == told[place.made.server]
    assert found.raw
    assert "INSERT" not in str(found)


async def test_text_that_is_no_text_is_a_problem_of_data(place: Place) -> None:
    async with place.opened() as database:
        read = partial(database.fetch, place.sql("SELECT id FROM authors WHERE name = ?"), ("\ud800",))
        for attempt in (read, partial(read, likely_fast=True), partial(database.transaction, add(place, 3, "\ud800"))):
            with pytest.raises(DataProblem):
                await attempt()
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


def _insert(place: Place, values: tuple[object, ...], one: Connection) -> None:
    one.execute(place.sql(BOOK), values)


async def test_values_out_of_range_are_a_problem_of_data(remote: Place) -> None:
    async with remote.opened() as database:
        for values in ((2, 1, "new", 1, 99999), (2, 1, "longer than ten", 1, 1)):
            with pytest.raises(DataProblem):
                await database.transaction(partial(_insert, remote, values))


async def test_integers_that_sqlite_has_not_are_a_problem_of_data(local: Place) -> None:
    async with local.opened() as database:
        for sql, parameters in (
            ("SELECT ?", (2**70,)),
            ("SELECT abs(?)", (-(2**63),)),
        ):
            for likely_fast in (True, False):
                with pytest.raises(DataProblem):
                    await database.fetch(sql, parameters, likely_fast=likely_fast)


async def test_a_statement_without_sense_is_a_failure_without_its_sql(place: Place) -> None:
    async with place.opened() as database:
        for likely_fast in (True, False):
            with pytest.raises(DatabaseFailure) as caught:
                await database.fetch("SELECT secret FROM nowhere", likely_fast=likely_fast)
            assert str(caught.value) == "the database refused the statement"
            assert caught.value.__cause__ is None


async def test_a_database_that_is_only_read_refuses_writes(place: Place) -> None:
    async with place.opened(read_only=True) as database:
        assert len(await database.fetch(NAMES, likely_fast=True)) == 2
        with pytest.raises(ReadOnly):
            await database.transaction(add(place, 3))
        async with database.joined():
            assert len(await database.fetch(NAMES)) == 2
    assert place.rows(NAMES) == [("Ann",), ("Ben",)]


async def test_sessions_speak_utc(remote: Place) -> None:
    ask = {"postgresql": "SHOW TimeZone", "mariadb": "SELECT @@session.time_zone"}
    async with remote.opened() as database:
        assert await database.fetch(ask[remote.made.server]) in ([("UTC",)], [("+00:00",)])


async def test_what_another_writer_holds_is_locked(local: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_driver, "BUSY_SECONDS", 0.15)  # more than one wait
    async with local.opened() as database, local.opened() as other, other.joined():
        with pytest.raises(Locked):
            await database.transaction(add(local, 3))
        with pytest.raises(Locked):
            await database.joined().__aenter__()


@pytest.mark.parametrize(
    ("failure", "table", "constraint", "columns"),
    [
        (sqlite_failure(2067, "UNIQUE constraint failed: index 'lower_name'"), None, "lower_name", ()),
        (
            sqlite_failure(2067, "UNIQUE constraint failed: my table.first, my table.last"),
            "my table",
            None,
            ("first", "last"),
        ),
        (sqlite_failure(275, "CHECK constraint failed: pages > 0"), None, "pages > 0", ()),
        (postgresql_failure("23505", "", 'Schlüssel »(a, "B c")=(1, 2)« existiert bereits.'), None, None, ("a", "B c")),
        (mysql_failure(1062, "Duplicate entry 'for key 'x'' for key 'books.isbn'"), "books", "isbn", ()),
        (mysql_failure(3819, "Check constraint 'some_pages' is violated."), None, "some_pages", ()),
        (mysql_failure(1364, "Field 'edition' doesn't have a default value"), None, None, ("edition",)),
    ],
    ids=["index", "table with a space", "expression", "another language", "key of a table", "MySQL's check", "default"],
)
def test_names_are_found_in_what_the_driver_says(
    failure: DatabaseFailure, table: str | None, constraint: str | None, columns: tuple[str, ...]
) -> None:
    assert isinstance(failure, Constraint)
    assert (failure.table, failure.constraint) == (table, constraint)
    assert failure.columns == columns


def test_what_no_table_knows_is_a_failure_like_any_other() -> None:
    for failure in (sqlite_failure(None, "?"), postgresql_failure(None, "?"), mysql_failure(-1, "?")):
        assert type(failure) is DatabaseFailure
        assert failure.raw == "?"
