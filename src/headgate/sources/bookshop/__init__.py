"""The bookshop that the demo serves: fifty thousand invented rows in an SQLite file, the same on every machine."""

import atexit
import os
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, Final

from headgate.sources.bookshop.catalogue import (
    make_authors,
    make_book_genres,
    make_books,
    make_genres,
    make_publishers,
)
from headgate.sources.bookshop.schema import INDEXES, SCHEMA_VERSION, TABLES, VIEWS
from headgate.sources.bookshop.trade import make_customers, make_order_lines, make_orders, make_reviews

__all__ = ["bookshop_file", "build_bookshop"]

_SEED: Final = 1605
_NAME: Final = f"bookshop-{SCHEMA_VERSION}.db"


def bookshop_file() -> Path:
    """The bookshop's file, built if there is none yet.

    It lives in the user's cache and keeps what was changed in it; delete it to start anew. Where the cache cannot be
    written to, it lives in a temporary folder as long as this process does.
    """
    try:
        path = _cache_folder() / _NAME
        path.parent.mkdir(parents=True, exist_ok=True)
        build_bookshop(path)
    except (OSError, RuntimeError, sqlite3.Error):  # a closed folder, no home, a full disk
        return _temporary_file()
    is_ours = os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK)
    return path if is_ours else _temporary_file()


def build_bookshop(path: Path) -> None:
    """Build the bookshop at a path, which has the whole file or none.

    A file that is there already is kept as it is: another program may have it open.
    """
    if path.exists():
        return
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent, ignore_cleanup_errors=True) as folder:
        made = Path(folder) / path.name
        _write(made)
        _settle(made, path)


def _settle(made: Path, path: Path) -> None:
    """Give a finished file its name, unless another program was faster."""
    try:
        path.hardlink_to(made)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        made.replace(path)


def _cache_folder() -> Path:
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return given / "headgate"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "headgate" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "headgate"
    return Path.home() / ".cache" / "headgate"


@cache
def _temporary_file() -> Path:
    folder = Path(mkdtemp(prefix="headgate-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    build_bookshop(folder / _NAME)
    return folder / _NAME


def _write(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        # Nobody sees the file before it is whole, so it needs no journal.
        database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {TABLES}")
        database.execute("BEGIN")
        for table, rows in _content().items():
            _insert(database, table, rows)
        database.execute("COMMIT")
        database.executescript(f"BEGIN; {INDEXES} {VIEWS} COMMIT; ANALYZE; PRAGMA user_version = {SCHEMA_VERSION};")
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _insert(database: sqlite3.Connection, table: str, rows: Sequence[Any]) -> None:
    columns: tuple[str, ...] = rows[0]._fields
    places = ", ".join("?" * len(columns))
    database.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", rows)  # noqa: S608  (ours)


def _content() -> dict[str, Sequence[Any]]:
    """The rows of each table, in an order in which each comes after those that it points to."""
    rng = Random(_SEED)  # noqa: S311  (nothing secret)
    authors, publishers, genres = make_authors(rng), make_publishers(rng), make_genres()
    books = make_books(rng, authors, publishers)
    customers = make_customers(rng)
    orders = make_orders(rng, customers)
    lines = make_order_lines(rng, orders, books)
    return {
        "authors": authors,
        "publishers": publishers,
        "genres": genres,
        "books": books,
        "book_genres": make_book_genres(rng, books, genres),
        "customers": customers,
        "orders": orders,
        "order_lines": lines,
        "reviews": make_reviews(rng, orders, lines, customers, books),
    }
