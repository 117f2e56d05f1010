"""A small database on each server, and what is seen of it from outside."""

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread

from headgate.sources.sql.connections import Connection
from headgate.sources.sql.database import Database, DatabaseOptions, Row
from tests.databases import Database as Made

__all__ = ["NAMES", "TABLES", "Place", "add", "until"]

TABLES = (
    "CREATE TABLE authors (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)",
    """CREATE TABLE books (
        id INTEGER PRIMARY KEY, author_id INTEGER, isbn VARCHAR(10), edition INTEGER NOT NULL, pages SMALLINT,
        CONSTRAINT isbn_edition UNIQUE (isbn, edition),
        CONSTRAINT book_author FOREIGN KEY (author_id) REFERENCES authors (id),
        CONSTRAINT some_pages CHECK (pages > 0))""",
    "INSERT INTO authors VALUES (1, 'Ann'), (2, 'Ben')",
    "INSERT INTO books VALUES (1, 1, 'one', 1, 100)",
)
ENDLESS = {
    "sqlite": "WITH RECURSIVE r(n) AS (SELECT headgate_fold(1) UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "postgresql": "SELECT pg_sleep(6000)",
    "mariadb": "SELECT SLEEP(6000)",
}
ACTIVE = {
    "postgresql": "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(6000)'",
    "mariadb": "SELECT count(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(6000)'",
}
SESSIONS = {
    "postgresql": "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    "mariadb": "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
}
KILL = {"postgresql": "SELECT pg_terminate_backend({})", "mariadb": "KILL CONNECTION {}"}
NAMES = "SELECT name FROM authors ORDER BY id"


@dataclass
class Place:
    """A database with two tables, and how to look into it from outside."""

    made: Made
    started: threading.Event
    """Set by SQLite when the endless statement has begun."""

    @asynccontextmanager
    async def opened(self, **options: Any) -> AsyncIterator[Database]:
        database = Database.open(self.made.url, DatabaseOptions(**options))
        try:
            yield database
        finally:
            await database.close()

    @property
    def endless(self) -> str:
        return ENDLESS[self.made.server]

    def sql(self, text: str) -> str:
        """The text with the driver's own marks for parameters."""
        return text if self.made.server == "sqlite" else text.replace("?", "%s")

    def rows(self, *statements: str) -> list[Row]:
        """What another program sees."""
        with self.made.connected() as engine, engine.begin() as connection:
            for statement in statements[:-1]:
                connection.exec_driver_sql(statement)
            result = connection.exec_driver_sql(statements[-1])
            return [tuple(row) for row in result] if result.returns_rows else []

    def running(self) -> bool:
        """Whether the endless statement is being run."""
        if self.made.server == "sqlite":
            return self.started.is_set()
        return self.rows(ACTIVE[self.made.server]) != [(0,)]

    def kill_sessions(self) -> None:
        """End every connection to this database, as an administrator would."""
        for (number,) in self.rows(SESSIONS[self.made.server]):
            self.rows(KILL[self.made.server].format(number))


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(60):
        while not await anyio.to_thread.run_sync(condition):  # noqa: ASYNC110  # another program's state
            await anyio.sleep(0.01)


def add(place: Place, number: int, name: str = "Cid") -> Callable[[Connection], None]:
    def work(connection: Connection) -> None:
        connection.execute(place.sql("INSERT INTO authors VALUES (?, ?)"), (number, name))

    return work
