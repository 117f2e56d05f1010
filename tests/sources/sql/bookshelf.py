"""A small library on each database, with words that an index knows, served and looked at from outside."""

import asyncio
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy
from sqlalchemy import inspect

from headgate import Engine
from headgate.sources.sql.backend import SqlBackend
from headgate.sources.sql.connections import DatabaseOptions
from headgate.sources.sql.source import sql_adapter
from tests.databases import Server, ServerName

__all__ = ["Bookshelf", "backend_of", "bookshelf", "made", "serving"]

_COMMON = (
    "CREATE TABLE authors (id INTEGER PRIMARY KEY, name VARCHAR(200) NOT NULL, mentor_id INTEGER REFERENCES authors)",
    "INSERT INTO authors VALUES (1, 'Ann', NULL), (2, 'Ben', 1), (3, 'O''Neil', 1)",
)
_TABLES: dict[ServerName, tuple[str, ...]] = {
    "sqlite": (
        *_COMMON,
        """CREATE TABLE books (id INTEGER PRIMARY KEY, title VARCHAR(200) NOT NULL,
            author_id INTEGER NOT NULL REFERENCES authors, price DECIMAL(10, 2), details JSON,
            code VARCHAR(100) UNIQUE)""",
        "CREATE VIRTUAL TABLE books_words USING fts5(title, content='books', content_rowid='id')",
        """CREATE TRIGGER books_i AFTER INSERT ON books BEGIN
            INSERT INTO books_words(rowid, title) VALUES (new.id, new.title); END""",
    ),
    "postgresql": (
        *_COMMON,
        """CREATE TABLE books (id INTEGER PRIMARY KEY, title VARCHAR(200) NOT NULL,
            author_id INTEGER NOT NULL REFERENCES authors, price NUMERIC(10, 2), details JSONB,
            code VARCHAR(100) UNIQUE,
            words TSVECTOR GENERATED ALWAYS AS (to_tsvector('english', title)) STORED)""",
    ),
    "mariadb": (
        *(text.replace("REFERENCES authors)", "REFERENCES authors (id))") for text in _COMMON),
        """CREATE TABLE books (id INTEGER PRIMARY KEY, title VARCHAR(200) NOT NULL,
            author_id INTEGER NOT NULL, price DECIMAL(10, 2), details JSON, code VARCHAR(100) UNIQUE,
            FOREIGN KEY (author_id) REFERENCES authors (id))""",
    ),
}
_BOOKS = """INSERT INTO books (id, title, author_id, price, details, code) VALUES
    (1, 'The whale', 1, 10.00, '{"a": 1, "b": {"c": "x"}}', 'w-1'),
    (2, 'A house of paper', 2, 12.50, NULL, 'h-2'),
    (3, 'Title: OR a', 3, NULL, '{"a": "it''s"}', NULL),
    (4, '100%% of a house', 1, 1.99, '{}', 'p''4')"""


@dataclass
class Bookshelf:
    """The library of one database."""

    server: ServerName
    url: str
    engine: Engine
    outside: sqlalchemy.Engine
    runner: asyncio.Runner
    statements: list[str] = field(default_factory=list)

    def ask(self, operation: str, **params: Any) -> dict[str, Any]:
        """The answer to a request; ``statements`` holds what was sent to the database for it."""
        self.statements.clear()
        reply = self.runner.run(self.engine.call({"operation": operation, "params": params}))
        answer: dict[str, Any] = json.loads(reply.text)
        return answer

    def digest(self) -> dict[str, str]:
        """Every table with its rows, as another program sees them."""
        with self.outside.connect() as connection:
            found = {}
            for name in sorted(inspect(connection).get_table_names()):
                quoted = self.outside.dialect.identifier_preparer.quote(name)
                rows = sorted(repr(tuple(row)) for row in connection.exec_driver_sql(f"SELECT * FROM {quoted}"))  # noqa: S608
                found[name] = f"{len(rows)} {hashlib.sha256(repr(rows).encode()).hexdigest()}"
            return found


def made(server: ServerName, outside: sqlalchemy.Engine) -> None:
    """Make the tables and their rows."""
    with outside.begin() as connection:
        for statement in (*_TABLES[server], _BOOKS if server != "sqlite" else _BOOKS.replace("%%", "%")):
            connection.exec_driver_sql(statement)


def backend_of(engine: Engine) -> SqlBackend:
    """What holds the items of an engine's adapter."""
    backend = next(iter(engine.adapter.collections._backends.values()))
    assert isinstance(backend, SqlBackend)
    return backend


@contextmanager
def serving(
    server: ServerName, url: str, outside: sqlalchemy.Engine, options: DatabaseOptions | None = None
) -> Iterator[Bookshelf]:
    """A database served, with its statements kept."""
    engine = Engine(sql_adapter(url, options))
    with asyncio.Runner() as runner:
        shelf = Bookshelf(server, url, engine, outside, runner)
        backend_of(engine).database.observer = lambda sql, _seconds: shelf.statements.append(sql)
        try:
            yield shelf
        finally:
            runner.run(engine.adapter.close())


@contextmanager
def bookshelf(server: Server) -> Iterator[Bookshelf]:
    """A fresh library."""
    with server.fresh() as database, database.connected() as outside:
        made(database.server, outside)
        with serving(database.server, database.url, outside) as shelf:
            yield shelf
