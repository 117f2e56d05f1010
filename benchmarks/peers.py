"""The drivers that databases are read with, used by hand: the statement, its rows as JSON, and nothing else."""

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import orjson
import psycopg

from benchmarks.timing import AsyncCall

__all__ = ["Peers", "Statement", "postgresql_peers", "sqlite_peers"]

_JSON: Final = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z
_PREPARE_AFTER: Final = 2
_CACHED: Final = 512

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL in the driver's own form, with its parameters."""

    sql: str
    parameters: Parameters


class Peers(Protocol):
    """The ways to use a driver by hand."""

    def __call__(self, statements: Sequence[Statement]) -> Mapping[str, AsyncCall]:
        """Each way's name, and the call that runs the statements and gives their rows as JSON."""


def _json(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> bytes:
    return orjson.dumps([dict(zip(names, row, strict=True)) for row in rows], default=str, option=_JSON)


@asynccontextmanager
async def sqlite_peers(file: Path) -> AsyncIterator[Peers]:
    """SQLite's driver."""
    uri = f"{file.as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None, cached_statements=_CACHED)) as connection:

        def peers(statements: Sequence[Statement]) -> Mapping[str, AsyncCall]:
            async def ask() -> list[bytes]:
                answers = []
                for statement in statements:
                    cursor = connection.execute(statement.sql, statement.parameters)
                    rows = cursor.fetchall()
                    answers.append(_json(rows, [column[0] for column in cursor.description]))
                return answers

            return {"sqlite3": ask}

        yield peers


@asynccontextmanager
async def postgresql_peers(url: str) -> AsyncIterator[Peers]:
    """psycopg, blocking and not. Statements are prepared after as many runs as headgate's are."""
    with closing(psycopg.connect(url, autocommit=True, prepare_threshold=_PREPARE_AFTER)) as blocking:
        connecting = psycopg.AsyncConnection.connect(url, autocommit=True, prepare_threshold=_PREPARE_AFTER)
        async with await connecting as waiting:

            def peers(statements: Sequence[Statement]) -> Mapping[str, AsyncCall]:
                async def ask() -> list[bytes]:
                    answers = []
                    for statement in statements:
                        cursor = blocking.execute(statement.sql, statement.parameters)
                        answers.append(_json(cursor.fetchall(), _names(cursor)))
                    return answers

                async def ask_waiting() -> list[bytes]:
                    answers = []
                    for statement in statements:
                        cursor = await waiting.execute(statement.sql, statement.parameters)
                        answers.append(_json(await cursor.fetchall(), _names(cursor)))
                    return answers

                return {"psycopg": ask, "psycopg, async": ask_waiting}

            yield peers


def _names(cursor: Any) -> list[str]:
    return [column[0] for column in cursor.description]
