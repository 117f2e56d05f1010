"""Opening a database: what may be written, and what is said if it cannot be reached."""

import math
import os
import socket
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.sql.database import Database, DatabaseOptions
from headgate.sources.sql.failures import ReadOnly
from headgate.sources.sql.mysql_driver import session_settings
from headgate.sources.sql.sqlite_driver import SqliteDriver
from tests.databases import Server

pytestmark = pytest.mark.anyio


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a file.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    return path


def renamed(file: Path, name: bytes) -> Path:
    return file.rename(file.parent / os.fsdecode(name))


def problem(url: str | Path) -> str:
    with pytest.raises(AdapterError) as caught:
        Database.open(url)
    message = str(caught.value)
    assert "\n" not in message
    return message


async def test_a_file_of_sqlite_is_named_in_many_ways(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    uri = f"sqlite:///file:{str(file).replace(' ', '%20')}?uri=true"
    for name in (file, str(file), file.name, f"sqlite:///{file}", f"sqlite:///{file.name}", uri):
        database = Database.open(name)
        assert await database.fetch("SELECT name FROM sqlite_master", likely_fast=True) == [("t",)]
        await database.close()


async def test_a_file_is_found_again_from_another_folder(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(file.parent)
    database = Database.open(f"sqlite:///{file.name}")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert await database.fetch("SELECT name FROM sqlite_master") == [("t",)]
    await database.close()


async def test_a_url_may_say_that_its_file_is_only_read(file: Path) -> None:
    database = Database.open(f"sqlite:///file:{file}?mode=ro&uri=true")
    with pytest.raises(ReadOnly):
        await database.transaction(lambda one: one.execute("DELETE FROM t"))
    await database.close()


async def test_the_engine_is_for_reflection_and_tables(file: Path) -> None:
    database = Database.open(file)
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE made (a)"))
        connection.execute(text("SELECT headgate_fold('x')"))
    assert len(await database.fetch("SELECT 1 FROM sqlite_master")) == 2
    assert database.dialect.name == "sqlite"
    await database.close()


async def test_the_journal_of_a_file_stays_as_it_is(file: Path) -> None:
    database = Database.open(file)
    assert await database.fetch("PRAGMA journal_mode") == [("delete",)]
    await database.close()


@pytest.mark.parametrize("name", ["mysql", "mariadb"])
async def test_mariadb_goes_by_both_names(mariadb: Server, name: str) -> None:
    with mariadb.fresh() as made:
        database = Database.open(made.url.replace("mariadb+pymysql", name))
        assert await database.fetch("SELECT 1") == [(1,)]
        assert database.dialect.driver == "pymysql"
        await database.close()


@pytest.mark.parametrize("name", ["postgres", "postgresql"])
async def test_postgresql_goes_by_both_names(postgresql: Server, name: str) -> None:
    with postgresql.fresh() as made:
        database = Database.open(made.url.replace("postgresql+psycopg", name))
        assert await database.fetch("SELECT 1") == [(1,)]
        assert database.dialect.driver == "psycopg"
        await database.close()


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    for name in (
        tmp_path / "none.db",
        f"sqlite:///{tmp_path / 'none.db'}",
        f"sqlite:///file:{tmp_path}/none.db?uri=true",
    ):
        assert problem(name).startswith(f"There is no file '{tmp_path / 'none.db'}'")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_and_another_kind_of_file_are_no_databases(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, but a text that is long enough to be looked into" * 9)
    assert problem(tmp_path) == f"'{tmp_path}' is a folder; name a file of SQLite"
    assert "cannot be opened as a database of SQLite: file is not a database" in problem(tmp_path / "text.db")


@pytest.mark.skipif(sys.platform == "win32", reason="there are none")
def test_what_is_neither_file_nor_folder_is_called_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has to be short
    os.mkfifo("pipe.db")
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind("socket.db")
        assert problem("pipe.db") == f"'{tmp_path}/pipe.db' is a named pipe; name a file of SQLite"
        assert problem("socket.db") == f"'{tmp_path}/socket.db' is a socket; name a file of SQLite"
    assert problem("/dev/null") == "'/dev/null' is no file but a device; name a file of SQLite"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are always texts")
async def test_a_file_whose_name_is_no_utf_8_is_opened(file: Path) -> None:
    odd = renamed(file, b"shop \xff.db")
    for name in (odd, str(odd), f"sqlite:///{odd}"):
        database = Database.open(name)
        assert await database.fetch("SELECT name FROM sqlite_master", likely_fast=True) == [("t",)]
        assert await database.fetch("SELECT name FROM sqlite_master") == [("t",)]
        await database.close()


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf])
def test_a_statement_may_take_a_number_of_seconds(seconds: float) -> None:
    with pytest.raises(ValueError, match="statement_timeout must be more than 0 seconds, or None for no limit"):
        DatabaseOptions(statement_timeout=seconds)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true"])
def test_a_database_in_memory_is_refused(url: str) -> None:
    assert problem(url) == "A database in memory is empty; name a file of SQLite"


def test_an_unknown_kind_of_database_is_told() -> None:
    assert problem("mangodb://host/x").startswith("'mangodb' is no kind of database that is known here")


def test_a_driver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymysql", None)
    assert problem("mysql://host/x").endswith("install it with: pip install 'pymysql'")


def test_a_driver_of_another_kind_is_refused() -> None:
    expected = "'postgresql+asyncpg' is not used here; write 'postgresql://' without the driver"
    assert problem("postgresql+asyncpg://host/x") == expected


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cr3t@127.0.0.1:1/x",
        "mysql://me:s3cr3t@127.0.0.1:1/x",
        "postgresql://me@127.0.0.1:1/x?password=s3cr3t",
    ],
)
def test_a_server_that_is_not_there_is_named_without_the_password(url: str) -> None:
    message = problem(url)
    assert "Cannot connect to" in message
    assert "127.0.0.1:1/x: " in message
    assert "s3cr3t" not in message


def test_a_url_that_cannot_be_read_is_not_repeated() -> None:
    message = problem("postgresql://me:s3/cr3t@host:port/x")
    assert "cannot be read" in message
    assert "cr3t" not in message


def test_a_wrong_password_and_a_missing_database_are_told(postgresql: Server, mariadb: Server) -> None:
    with postgresql.fresh() as made:
        assert "does not exist" in problem(
            made.url + "x" if "?" not in made.url else made.url.replace("/test_", "/not_")
        )
    with mariadb.fresh() as made:
        message = problem(made.url.replace("root@", "nobody:s3cr3t@"))
    assert "Access denied for user 'nobody'" in message
    assert "s3cr3t" not in message


def test_what_a_driver_lacks_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raw(self: SqliteDriver) -> None:
        raise RuntimeError("another package is needed")

    monkeypatch.setattr(SqliteDriver, "raw", raw)
    assert problem(file).endswith(": another package is needed")


def test_mysql_has_other_names_for_its_limits() -> None:
    (statement,) = session_settings(DatabaseOptions(statement_timeout=2.5), is_mariadb=False)
    assert "max_execution_time = 2500" in statement
    assert "max_statement_time" not in statement


@pytest.mark.parametrize("wrong", [{"pool_size": 0}, {"statement_timeout": 0.0}], ids=["no room", "no time"])
def test_options_that_make_no_sense_cannot_be_built(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        DatabaseOptions(**wrong)  # type: ignore[arg-type]
