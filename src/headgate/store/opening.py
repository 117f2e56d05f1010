"""From what a user wrote to a store, or one line that says what is wrong with it."""

import os
import re
from pathlib import Path
from typing import Final

from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.store.drivers.base import Driver
from headgate.store.drivers.sqlite import MemoryDriver, SqliteDriver
from headgate.store.interface import StoreError
from headgate.store.sql import SqlStore

__all__ = ["default_state_url", "open_store", "shown"]

_SUFFIXES: Final = (".db", ".sqlite", ".sqlite3", ".db3")
_SCHEMES: Final = ("memory", "sqlite", "postgresql", "postgres")
_POSTGRESQL: Final = ("postgresql", "postgres", "postgresql+psycopg")
_FORMS: Final = "'memory:', a path that ends with '.db', or 'postgresql://user:password@host:5432/name'"

_PASSWORD: Final = re.compile(r"(://[^:@/?]*):.*@", re.DOTALL)
_SECRET: Final = re.compile(r"([?&][^=&]*(?:pass|secret|token|key)[^=&]*=)[^&]*", re.IGNORECASE)


def default_state_url() -> str:
    """The store of a user who has named none: a file in the folder that the system has for state."""
    path = _default_path()
    if path is None:
        raise StoreError("This user has no home folder to keep a store in; name a store")
    return f"sqlite:///{path}"


def open_store(url: str, *, audit_key: bytes = b"") -> SqlStore:
    """The store that a URL names: ``memory:``, ``sqlite:///path``, a path, or ``postgresql://…``.

    Only the URL is read here; what it names is opened at the first use, or by ``await store.open()``. With a key,
    nobody without it can write rows of the audit that verify.
    """
    return SqlStore(_driver(url), shown(url), audit_key)


def shown(url: str) -> str:
    """The URL without its secrets. Whatever might be a password is left out, even where the URL is written wrongly."""
    return _SECRET.sub(r"\1***", _PASSWORD.sub(r"\1:***@", url))


def _driver(url: str) -> Driver:
    scheme, separator, rest = url.partition(":")
    if not separator or (scheme not in _SCHEMES and Path(url).suffix.lower() in _SUFFIXES and "://" not in url):
        return _plain_path(url)
    if scheme == "memory":
        return _memory(rest)
    if scheme == "sqlite":
        return _file(_sqlite_path(url, rest))
    if scheme in _POSTGRESQL:
        return _postgresql(url)
    if not scheme:
        raise StoreError(f"'{shown(url)}' names no store; write 'memory:' for one that ends with the process")
    known = did_you_mean(nearest(scheme, _SCHEMES)) or f"; write {_FORMS}"
    raise StoreError(f"'{scheme}:' is no kind of store{known}")


def _memory(rest: str) -> Driver:
    if rest.strip("/"):
        raise StoreError(f"'memory:{rest}' names no store; a store in memory has no name: write 'memory:'")
    return MemoryDriver()


def _sqlite_path(url: str, rest: str) -> str:
    path = rest.removeprefix("///")
    if path == rest or not path:
        raise StoreError(f"'{url}' names no file; write 'sqlite:///' and a path, as in 'sqlite:////srv/state.db'")
    if path == ":memory:":
        raise StoreError(f"'{url}' is written differently here; write 'memory:'")
    if "?" in path:
        raise StoreError(f"'{url}' has settings after '?', and there are none for a file; write the path alone")
    return path


def _plain_path(name: str) -> Driver:
    if Path(name).suffix.lower() not in _SUFFIXES:
        raise StoreError(f"'{name}' names no store; write {_FORMS}")
    return _file(name)


def _file(name: str) -> Driver:
    try:
        path = Path(name).expanduser().absolute()
    except RuntimeError:
        raise StoreError(f"'{name}' names no file: there is no such user; write the whole path") from None
    # Only the folder that nobody has named is made: one that is written wrongly had better be missed.
    return SqliteDriver(path, makes_folder=path == _default_path())


def _postgresql(url: str) -> Driver:
    from headgate.store.drivers.postgresql import PostgresqlDriver  # noqa: PLC0415  # slow to import

    return PostgresqlDriver(url.replace("postgresql+psycopg:", "postgresql:", 1), f"The store '{shown(url)}'")


def _default_path() -> Path | None:
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        folder = given if given.is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return folder / "headgate" / "state.db"
