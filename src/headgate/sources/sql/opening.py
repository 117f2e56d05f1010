"""From what a user wrote to an engine and a driver, or one line that says what is wrong with it."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from sqlalchemy import Dialect, Engine, create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.sql.connections import DatabaseOptions, Driver, PlainDriver
from headgate.sources.sql.mysql_driver import MysqlDriver
from headgate.sources.sql.sqlite_driver import SqliteDriver

__all__ = ["open_driver"]

_DRIVERS: Final = {
    "sqlite": "sqlite+pysqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
_PACKAGES: Final = {"psycopg": "psycopg[binary]", "pymysql": "pymysql", "MySQLdb": "mysqlclient", "pyodbc": "pyodbc"}
_DRIVER_CLASSES: Final[Mapping[str, type[Driver]]] = {"pysqlite": SqliteDriver, "pymysql": MysqlDriver}
_IN_MEMORY: Final = ("", ":memory:")
_LONGEST_REASON: Final = 300


def open_driver(source: str | Path, options: DatabaseOptions) -> tuple[Driver, Engine]:
    """A driver and an engine that have reached the database once. An AdapterError says why it cannot be reached."""
    url = _url(source)
    dialect = _dialect(url)
    if dialect.name == "sqlite":
        _check_file(url)
    driver = _driver_class(dialect)(url, dialect, options)
    engine = create_engine(url, creator=driver.raw, poolclass=NullPool)
    _check_reachable(engine, url)
    driver.dialect = engine.dialect  # the one that knows the server's version
    return driver, engine


def _url(source: str | Path) -> URL:
    if isinstance(source, Path) or "://" not in source:
        return URL.create("sqlite+pysqlite", database=str(Path(source).expanduser().absolute()))
    try:
        url = make_url(source)
    except (ArgumentError, ValueError):
        raise AdapterError(
            "The URL of the database cannot be read; write it as 'postgresql://user:password@host:5432/name', with"
            " special characters of the password as in '%40' for '@'"
        ) from None
    url = url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
    return _with_file(url) if url.get_backend_name() == "sqlite" else url


def _with_file(url: URL) -> URL:
    """The same with the whole path of its file, however it was written."""
    name = url.database or ""
    if name in _IN_MEMORY or ":memory:" in name or url.query.get("mode") == "memory":
        raise AdapterError("A database in memory is empty; name a file of SQLite")
    path = unquote(name.removeprefix("file:")) if name.startswith("file:") else name
    return url.set(database=str(Path(path).absolute()))


def _dialect(url: URL) -> Dialect:
    try:
        chosen: Any = url.get_dialect()
        if chosen.is_async:
            raise AdapterError(f"'{url.drivername}' is not used here; write '{chosen.name}://' without the driver")
        dialect: Dialect = chosen(dbapi=chosen.import_dbapi())
    except NoSuchModuleError:
        known = "sqlite, postgresql, mysql and mariadb"
        raise AdapterError(f"'{url.drivername}' is no kind of database that is known here; {known} are") from None
    except ImportError as error:
        package = _PACKAGES.get(error.name or "", error.name or url.drivername)
        raise AdapterError(
            f"The driver for '{url.drivername}' is not installed; install it with: pip install '{package}'"
        ) from None
    return dialect


def _check_file(url: URL) -> None:
    """SQLite would say of a file only that it cannot be opened."""
    path = Path(url.database or "")
    if not path.exists():
        raise AdapterError(f"There is no file '{path}'; name a file of SQLite, or a URL such as 'postgresql://…'")
    if not path.is_file():
        raise AdapterError(f"'{path}' is {_kind_of(path)}; name a file of SQLite")


def _kind_of(path: Path) -> str:
    """What a path is that is no file."""
    kinds = {"a folder": path.is_dir, "a named pipe": path.is_fifo, "a socket": path.is_socket}
    return next((kind for kind, is_one in kinds.items() if is_one()), "no file but a device")


def _driver_class(dialect: Dialect) -> type[Driver]:
    """What knows this driver. That of PostgreSQL is imported only here: its package need not be installed."""
    if dialect.driver == "psycopg":
        from headgate.sources.sql.postgresql_driver import PostgresqlDriver  # noqa: PLC0415

        return PostgresqlDriver
    return _DRIVER_CLASSES.get(dialect.driver, PlainDriver)


def _check_reachable(engine: Engine, url: URL) -> None:
    try:
        with engine.connect() as connection:
            if url.get_backend_name() == "sqlite":
                connection.exec_driver_sql("PRAGMA schema_version")
    except DBAPIError as error:
        raise AdapterError(_unreachable(url, error.orig or error)) from None
    except (OSError, RuntimeError) as error:
        raise AdapterError(_unreachable(url, error)) from None


def _unreachable(url: URL, error: BaseException) -> str:
    reason = _without_secrets(" ".join(str(error.args[-1] if error.args else error).split()), url)[:_LONGEST_REASON]
    if url.get_backend_name() == "sqlite":
        return f"'{url.database}' cannot be opened as a database of SQLite: {reason}"
    where = f"{url.get_backend_name()}://{url.host or ''}{f':{url.port}' if url.port else ''}/{url.database or ''}"
    return f"Cannot connect to {where}: {reason}"


def _without_secrets(text: str, url: URL) -> str:
    for secret in filter(None, _secrets(url)):
        text = text.replace(secret, "***")
    return text


def _secrets(url: URL) -> Iterable[str]:
    yield str(url.password or "")
    for name, value in url.query.items():
        if re.search("pass|secret|token|key", name, re.IGNORECASE):
            yield from (value,) if isinstance(value, str) else value
